"""NMF-sparse-faces: parts of a given sparseness become local."""

import numpy as np

from isthmus.datasets import load_olivetti
from isthmus.plotting import image_grid
from isthmus.sparse import NonnegativeFactorization, hoyer_sparseness
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

TARGETS = (0.5, 0.6, 0.75)


@experiment(
    "NMF-sparse-faces",
    document="[002] 2.3, figure 13",
    title="Faces of 40 people: parts become local as they become sparse",
    published=(
        "Factorisation with sparseness 0.5, 0.6 and 0.75 of the parts of ORL faces: the parts "
        "become local. Pictures only."
    ),
    covers=[
        Covers("002 figure 13", way="claim"),
    ],
    quick={"step": 4, "n_components": 16, "max_iter": 60, "tol": 0.05},
    full={"step": 1, "n_components": 25, "max_iter": 300, "tol": 0.01},
    needs_data=True,
)
def sparse_faces(settings, seed, progress):
    step = settings["step"]
    images = load_olivetti().images.astype(float)[:, ::step, ::step]
    X = images.reshape(len(images), -1)
    found, area, errors = {}, {}, {}
    options = {"max_iter": settings["max_iter"], "random_state": seed}
    for i, target in enumerate((None, *TARGETS)):
        name = "plain" if target is None else f"sparseness {target}"
        progress(i / 4, name)
        model = NonnegativeFactorization(
            settings["n_components"],
            sparsity=target,
            tol=settings["tol"],
            **options,
        ).fit(X)
        found[name] = model.components_
        # The number of pixels that carry as much as the squares do: 1 for one pixel.
        shares = model.components_**2
        area[name] = float(np.mean(shares.sum(axis=1) ** 2 / (shares**2).sum(axis=1))) / X.shape[1]
        errors[name] = model.reconstruction_err_
    reached = [abs(hoyer_sparseness(found[f"sparseness {t}"]) - t).max() for t in TARGETS]
    areas = [area[f"sparseness {t}"] for t in TARGETS]
    falls = bool(np.all(np.diff(areas) < 0))
    rows = [
        Row(
            "largest distance of a part's sparseness from its target",
            "0.5, 0.6, 0.75",
            float(max(reached)),
            "met, as it must be: every step of the method projects on it"
            if max(reached) < 1e-6
            else "not met",
            None if max(reached) < 1e-6 else False,
        ),
        Row(
            "share of the picture that a part covers",
            "falls from 0.5 to 0.75",
            ", ".join(f"{name} {a:.3f}" for name, a in area.items()),
            "falls with sparseness" if falls else "does not fall at every step",
            falls,
        ),
        Row(
            "error, Frobenius norm",
            None,
            ", ".join(f"{name} {e:.1f}" for name, e in errors.items()),
            "what locality costs",
        ),
    ]
    side = images.shape[1]
    return Outcome(
        rows,
        [
            Picture(
                "parts",
                "Eight parts at each sparseness.",
                lambda: image_grid(
                    [[p.reshape(side, -1) / p.max() for p in A[:8]] for A in found.values()],
                    row_titles=list(found),
                ),
            )
        ],
        [
            "The area is the inverse participation ratio of the squares. Faces are the Olivetti "
            f"pictures, every {step}. pixel."
            if step > 1
            else "The area is the inverse "
            "participation ratio of the squares. Faces are the Olivetti pictures in full.",
        ],
    )
