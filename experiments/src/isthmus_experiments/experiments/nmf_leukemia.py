"""NMF-leukemia: three kinds of leukaemia as the components of sparse factorisation."""

import numpy as np

from isthmus.datasets import load_leukemia
from isthmus.plotting import heat_map
from isthmus.sparse import NonnegativeFactorization, ParkSparsity
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._matching import agreement

EXPECTED = 36
METHODS = {"SNMF/R": ParkSparsity(0.01), "plain": None}


@experiment(
    "NMF-leukemia",
    document="[002] 2.3, figure 11",
    title="Leukaemia: 19, 8 and 11 samples by sparse factorisation",
    published=(
        "5000 genes of 38 samples, three components, SNMF/R with beta = 0.01: the largest "
        "coefficient of a sample tells whether it is ALL-B (19), ALL-T (8) or AML (11). A picture; "
        f"the expected accuracy, {EXPECTED} of 38, is ours."
    ),
    covers=[
        Covers("002 figure 11", way="claim"),
    ],
    quick={"n_starts": 1, "tol": 1e-3},
    full={"n_starts": 20, "tol": 1e-4},
    needs_data=True,
)
def leukemia(settings, seed, progress):
    data = load_leukemia()
    X, labels = np.asarray(data.X, dtype=float).T, np.asarray(data.label)
    rows, shown = [], {}
    for i, (name, sparsity) in enumerate(METHODS.items()):
        progress(i / len(METHODS), name)
        fits = []
        for start in range(settings["n_starts"]):
            model = NonnegativeFactorization(
                3,
                sparsity=sparsity,
                init="random" if start else "svd",
                tol=settings["tol"],
                max_iter=3000,
                random_state=seed + start,
            )
            codes = model.fit_transform(X)
            parts = codes * np.linalg.norm(model.components_, axis=1)
            fits.append((model.objective_, codes, parts))
        fits.sort(key=lambda fit: fit[0])
        shown[name] = fits[0][2]
        rows.append(_row(name, fits, labels))
    order = np.argsort(labels, kind="stable")
    best = shown["SNMF/R"]
    return Outcome(
        rows,
        [
            Picture(
                "similarity",
                "Cosines of the codes of all pairs of samples, ordered by their true group: three "
                "blocks of 19, 8 and 11.",
                lambda: heat_map(_cosines(best[order]), label="cosine", size=0.2),
            )
        ],
        [
            "Coefficients can be compared between components only where these are of one size, "
            "which the penalty does not see to: the contribution is the coefficient times the norm "
            "of its component.",
            "Descent starts at the scale of components where the penalties are least. From another "
            "scale the weight eta, the square of the largest entry, puts two of three components "
            "to zero in the first step.",
        ],
    )


def _row(name, fits, labels):
    by_code, by_part = (
        [agreement(fit[which].argmax(axis=1), labels) for fit in fits] for which in (1, 2)
    )
    alive = int(np.sum(fits[0][1].any(axis=0)))
    sizes = sorted(np.bincount(fits[0][1].argmax(axis=1), minlength=3).tolist(), reverse=True)
    good = by_code[0] >= EXPECTED
    return Row(
        f"{name}: samples in the right group of 38, lowest objective of {len(fits)} starts",
        f"all in the picture, sizes 19, 11, 8; at least {EXPECTED} expected",
        f"by coefficient {by_code[0]} (over starts {min(by_code)} to {max(by_code)}), by "
        f"contribution {by_part[0]} ({min(by_part)} to {max(by_part)}), sizes "
        f"{', '.join(map(str, sizes))}; {alive} components in use",
        "at least as many as expected"
        if good
        else f"fewer than expected, with {alive} of 3 components left",
        good,
    )


def _cosines(codes):
    unit = codes / np.linalg.norm(codes, axis=1, keepdims=True)
    return unit @ unit.T
