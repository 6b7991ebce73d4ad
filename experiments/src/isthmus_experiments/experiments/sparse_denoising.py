"""SC-denoise and SC-inpaint: pictures by sparse codes of their patches."""

import numpy as np
from scipy.interpolate import griddata

from isthmus.plotting import image_grid
from isthmus.sparse import denoise_image, inpaint_image
from isthmus_experiments import Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._photograph import photograph, psnr

SIGMA = 20.0
GAIN = 5.5
MISSING = 0.5


@experiment(
    "SC-denoise",
    document="[002] 2.5, fig. 14",
    title="Noise taken off a photograph by sparse codes of its patches",
    published=(
        "Noise of standard deviation 20: 22.51 dB before, 28.79 dB after. (The picture shown there "
        "is of another method, fields of experts. A reference run of ours on another photograph: "
        "27.8 dB by waves, 28.1 dB by K-SVD.)"
    ),
    quick={"size": 96},
    full={"size": 256},
)
def denoising(settings, seed, progress):
    truth, words = photograph(settings["size"], seed)
    noisy = truth + SIGMA * np.random.default_rng(seed).normal(size=truth.shape)
    pictures = {"noisy": noisy}
    for i, dictionary in enumerate(("dct", "ksvd")):
        progress(0.5 * i, dictionary)
        name = {"dct": "waves", "ksvd": "K-SVD"}[dictionary]
        pictures[name] = denoise_image(noisy, sigma=SIGMA, dictionary=dictionary, random_state=seed)
    db = {name: psnr(image, truth) for name, image in pictures.items()}
    clipped = psnr(np.clip(noisy, 0, 255), truth)
    gain = db["K-SVD"] - db["noisy"]
    return Outcome(
        [
            Row(
                "noisy picture, dB",
                22.51,
                f"{db['noisy']:.2f}; clipped to [0, 255] {clipped:.2f}",
                "between 22.11, which noise of 20 must give, and what clipping makes of it",
                22.0 < db["noisy"] < clipped < 23.0,
            ),
            Row(
                "gain by K-SVD, dB",
                f"{28.79 - 22.51:.2f} (fields of experts)",
                f"{gain:.2f}",
                f"at least {GAIN}, the gate set for a photograph"
                if gain >= GAIN
                else f"below the gate of {GAIN}, set for a whole photograph: this one is busier",
                gain >= GAIN,
            ),
            Row(
                "K-SVD against waves, dB",
                "28.1 : 27.8 (reference run)",
                f"{db['K-SVD']:.2f} : {db['waves']:.2f}",
                "learned atoms are better"
                if db["K-SVD"] > db["waves"]
                else "learned atoms are no better",
                db["K-SVD"] > db["waves"],
            ),
        ],
        [
            Picture(
                "pictures",
                "The noisy picture, what was made of it, and the truth.",
                lambda: _shown({**pictures, "truth": truth}, db),
            )
        ],
        [f"Picture: the middle of {words}, {settings['size']} pixels high and wide."],
    )


@experiment(
    "SC-inpaint",
    document="[002] 2.5",
    title="Half of the pixels of a photograph filled in",
    published=(
        "Inpainting is shown and not measured. A reference run on another photograph, 128 pixels "
        "high and wide: nearest pixel 18.8 dB, linear interpolation 20.6 dB, waves with 8 atoms "
        "23.0 dB; a learned dictionary should add to this."
    ),
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
                lambda: _shown(
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


def _shown(pictures, db):
    titles = [f"{name} {db[name]:.1f} dB" if name in db else name for name in pictures]
    return image_grid([[image / 255 for image in pictures.values()]], titles=titles, size=2.2)
