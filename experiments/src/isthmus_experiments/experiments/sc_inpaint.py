"""SC-inpaint: missing pixels filled in by sparse codes of patches."""

import numpy as np
from scipy.interpolate import griddata

from isthmus.sparse import inpaint_image
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._photograph import photograph, picture_row, psnr

MISSING = 0.5


@experiment(
    "SC-inpaint",
    document="[002] 2.5, figure 14",
    title="Half of the pixels of a photograph filled in",
    published=(
        "Inpainting is shown and not measured. A reference run on another photograph, 128 pixels "
        "high and wide: nearest pixel 18.8 dB, linear interpolation 20.6 dB, waves with 8 atoms "
        "23.0 dB; a learned dictionary should add to this."
    ),
    covers=[
        Covers(
            "002 figure 14",
            1,
            way="other data",
            why="the photograph is of another method's paper; another stands in",
        ),
    ],
    quick={"size": 64},
    full={"size": 128},
)
def inpainting(settings, seed, progress):
    truth, words = photograph(settings["size"], seed)
    missing = np.random.default_rng(seed).random(truth.shape) < MISSING
    holes = np.where(missing, np.nan, truth)
    places, values = np.argwhere(~missing), truth[~missing]
    everywhere = tuple(np.indices(truth.shape))
    nearest = griddata(places, values, everywhere, "nearest")
    linear = griddata(places, values, everywhere, "linear")
    pictures = {
        "nearest pixel": nearest,
        "linear interpolation": np.where(np.isnan(linear), nearest, linear),
    }
    for i, (name, dictionary) in enumerate({"waves": "dct", "K-SVD": "ksvd"}.items()):
        progress(0.1 + 0.3 * i, name)
        pictures[name] = inpaint_image(holes, dictionary=dictionary, random_state=seed)
    db = {name: psnr(image, truth) for name, image in pictures.items()}
    return Outcome(
        [
            _margin("waves", "nearest pixel", db, 3.0, 23.0 - 18.8),
            _margin("waves", "linear interpolation", db, 1.5, 23.0 - 20.6),
            _margin("K-SVD", "waves", db, 0.0, None),
        ],
        [
            Picture(
                "pictures",
                "Half of the pixels are missing; what each method filled in, and the truth.",
                lambda: picture_row(
                    {"given": np.where(missing, 0.0, truth), **pictures, "truth": truth}, db
                ),
            )
        ],
        [
            f"Picture: the middle of {words}, {settings['size']} pixels high and wide. Smooth "
            "pictures leave less to gain: linear interpolation is right there."
        ],
    )


def _margin(method, rival, db, asked, reference):
    margin = db[method] - db[rival]
    holds = margin >= asked
    return Row(
        f"{method} over {rival}, dB",
        "should add" if reference is None else f"{reference:.1f} (reference run)",
        f"{margin:.2f} ({db[method]:.2f} : {db[rival]:.2f})",
        f"at least {asked:g}" if holds else f"less than {asked:g}",
        holds,
    )
