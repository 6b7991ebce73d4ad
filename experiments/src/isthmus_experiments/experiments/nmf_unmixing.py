"""NMF-unmixing: spectra of materials from an image that mixes them."""

import numpy as np

from isthmus.datasets import load_unmixing
from isthmus.plotting import curves
from isthmus.sparse import ConvexFactorization, NonnegativeFactorization
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._matching import matched

GOAL = 0.99


@experiment(
    "NMF-unmixing",
    document="[002] 2.3, figure 12",
    title="Nine materials from a mixed hyperspectral image",
    published=(
        "Non-negative factorisation takes a mixed spectral image apart into materials and their "
        "shares. A picture; that spectra are found with cosines above 0.99 where pure pixels "
        "exist is our expectation."
    ),
    covers=[
        Covers(
            "002 figure 12",
            way="other data",
            why="the spectra of the picture are not named; others stand in",
        ),
    ],
    in_short="factors are not unique: other spectra explain the image as well",
    quick={"step": 5, "tol": 1e-2},
    full={"step": 1, "tol": 1e-4},
    needs_data=True,
)
def unmixing(settings, seed, progress):
    data = load_unmixing()
    step = settings["step"]
    shares = data.abundance[::step, ::step].reshape(-1, 9)
    true, X = data.spectra.T, shares @ data.spectra.T
    progress(0.0, "non-negative factorisation")
    tol = settings["tol"]
    models = {
        "non-negative": NonnegativeFactorization(9, tol=tol, max_iter=3000, random_state=seed),
        "archetypes": ConvexFactorization(9, tol=tol**2, random_state=seed),
        "archetypes, hull": ConvexFactorization(
            9, candidates="hull", n_axes=8, tol=tol**2, random_state=seed
        ),
    }
    found, similar, errors = {}, {}, {}
    for i, (name, model) in enumerate(models.items()):
        progress(i / 3, name)
        model.fit(X)
        order, similar[name] = matched(model.components_, true)
        found[name] = model.components_[order]
        errors[name] = model.reconstruction_err_ / np.linalg.norm(X)
    purest = shares.max(axis=0)
    rows = [
        Row(
            f"cosine of found and true spectra, {name}: least, mean",
            f"above {GOAL}",
            f"{cosine.min():.4f}, {cosine.mean():.4f}; relative error {errors[name]:.1e}",
            "all found"
            if cosine.min() > GOAL
            else f"{np.sum(cosine > GOAL)} of 9 found: others explain the image as well",
            bool(cosine.min() > GOAL),
        )
        for name, cosine in similar.items()
    ]
    rows.append(
        Row(
            "largest share of each material in any pixel",
            None,
            ", ".join(f"{p:.2f}" for p in purest),
            "all have pure pixels" if purest.min() > 0.99 else "some have no pure pixel",
        )
    )
    return Outcome(
        rows,
        [
            Picture(
                "spectra",
                "Three of the nine spectra, true and found, scaled to a largest value of 1.",
                lambda: curves(
                    {
                        f"material {j + 1}": {
                            name: (np.arange(true.shape[1]), A[j] / A[j].max())
                            for name, A in {"true": true, **found}.items()
                        }
                        for j in range(3)
                    },
                    xlabel="band",
                    ylabel="reflectance",
                ),
            )
        ],
    )
