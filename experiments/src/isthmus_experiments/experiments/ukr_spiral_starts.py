"""UKR-spiral-starts: spectral embeddings of the noisy spiral as starts."""

import warnings

import numpy as np
from scipy.stats import spearmanr
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap, LocallyLinearEmbedding

from isthmus.datasets import make_noisy_spiral
from isthmus.plotting import curves
from isthmus_experiments import Covers, Outcome, Picture, Row, draws, experiment
from isthmus_experiments.experiments._ukr import SPIRAL, mean_sd, scaled_start

NEIGHBOURS = tuple(range(5, 14))
COMPARED = tuple(range(6, 12))
PCA_START = "principal component"
UNROLLED = 0.99  # rank correlation with the true order


@experiment(
    "UKR-spiral-starts",
    document="[004] 4.6.1 and 5.1.4, figures 4.3 and 5.6",
    title="Noisy spiral: which neighbourhood unrolls it, and who knows",
    published=(
        "300 points with Gaussian noise of 0.05: locally linear embeddings of nine neighbourhoods "
        "and the principal component, each scaled for the least cross-validated error with the "
        "Gaussian kernel; 10 neighbours win with 0.0043, and the visually best have the smallest "
        "errors. An ad-hoc neighbourhood would probably have failed. Under uniform noise of 0.1 "
        "Isomap is more robust than locally linear embeddings over 6 to 11 neighbours. Pictures."
    ),
    covers=[Covers("004 figure 4.3", way="claim"), Covers("004 figure 5.6", way="claim")],
    in_short="published is one set, outside the middle half of ours",
    quick={"n_sets": 1, "n_scales": 8, **SPIRAL},
    full={"n_sets": 20, "n_scales": 24, **SPIRAL},
)
def spiral_starts(settings, seed, progress):
    spread = {"spacing": settings["spacing"]}
    options = {"n_scales": settings["n_scales"], "validation": "loo", "density_kernel": "gaussian"}

    def draw(j):
        Y, t = make_noisy_spiral(300, noise=0.05, law="gaussian", **spread, random_state=seed + j)
        starts = {str(k): _embed("lle", Y, k) for k in NEIGHBOURS}
        starts[PCA_START] = PCA(1).fit_transform(Y)
        errors = {name: scaled_start(Y, Z, **options)[0] for name, Z in starts.items()}
        orders = {name: _order(Z, t) for name, Z in starts.items()}
        Y, t = make_noisy_spiral(300, **spread, random_state=seed + j)
        robust = {
            name: [_order(_embed(name, Y, k), t) for k in COMPARED] for name in ("isomap", "lle")
        }
        return {"errors": errors, "orders": orders, "robust": robust}

    sets = draws(draw, settings["n_sets"], progress)
    names = [*map(str, NEIGHBOURS), PCA_START]
    errors = np.array([[one["errors"][name] for name in names] for one in sets])
    orders = np.array([[one["orders"][name] for name in names] for one in sets])
    rows = [
        Row(f"{name if name == PCA_START else name + ' neighbours'}: cross-validated error",
            None, mean_sd(errors[:, i], 4),
            f"rank correlation with the true order {np.median(orders[:, i]):.3f} in the median")
        for i, name in enumerate(names)
    ]  # fmt: skip
    rows += _choice_rows(names, errors, orders)
    rows += _robustness_rows(sets)
    return Outcome(
        rows,
        [
            Picture(
                "errors",
                "Cross-validated error of the scaled embeddings by number of neighbours.",
                lambda: curves(
                    {"": {"error": (NEIGHBOURS, errors[:, :-1].mean(axis=0))}},
                    xlabel="neighbours", ylabel="cross-validated error", marker="o",
                ),
            )
        ],
        [
            f"{len(sets)} data sets where the document has one; an embedding counts as unrolled "
            f"if its rank correlation with t is above {UNROLLED}.",
        ],
    )  # fmt: skip


def _embed(name, Y, k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # graphs in parts are part of what is compared
        if name == "isomap":
            return Isomap(n_neighbors=k, n_components=1).fit_transform(Y)
        return LocallyLinearEmbedding(
            n_neighbors=k, n_components=1, eigen_solver="dense"
        ).fit_transform(Y)


def _order(Z, t):
    return abs(float(spearmanr(Z[:, 0], t).statistic))


def _choice_rows(names, errors, orders):
    best, straight = errors.argmin(axis=1), orders.argmax(axis=1)
    rows = np.arange(len(errors))
    low, middle, high = np.quantile(errors.min(axis=1), (0.25, 0.5, 0.75))
    among = np.mean([orders[i, best[i]] >= np.sort(orders[i])[-2] - 1e-3 for i in rows])
    yield Row(
        "least cross-validated error of a start, median of the sets",
        0.0043,
        f"{middle:.4f} ({low:.4f} to {high:.4f} in the middle half of the sets)",
        f"won by {_most_common(names, best)} most often; published is one set, which lies "
        + ("within" if low <= 0.0043 <= high else "outside")
        + " the middle half of ours",
        bool(low <= 0.0043 <= high or abs(middle / 0.0043 - 1) <= 0.2),
    )
    yield Row(
        "the least error is that of the straightest embedding or the next one to it",
        "the visually best have the smallest errors",
        f"in {among:.0%} of the sets (straightest: {_most_common(names, straight)})",
        "in most" if among > 0.5 else "in a minority",
        bool(among > 0.5),
    )
    failed = float(np.mean(orders[:, :-1] < UNROLLED))
    yield Row(
        "neighbourhoods that do not unroll the spiral",
        "most: an ad-hoc choice would probably fail",
        f"{failed:.0%} of all",
        "more than half" if failed > 0.5 else "half or less",
        bool(failed > 0.5),
    )


def _robustness_rows(sets):
    robust = {
        name: np.array([one["robust"][name] for one in sets]) > UNROLLED
        for name in ("isomap", "lle")
    }
    shares = {name: float(found.mean()) for name, found in robust.items()}
    yield Row(
        "uniform noise, 6 to 11 neighbours: share of embeddings that unroll it, Isomap and LLE",
        "Isomap is more robust",
        f"{shares['isomap']:.0%} and {shares['lle']:.0%}",
        "Isomap more often" if shares["isomap"] > shares["lle"] else "not more often",
        bool(shares["isomap"] > shares["lle"]),
    )
    for name, found in robust.items():
        yield Row(
            f"uniform noise, {name}: share by neighbours {', '.join(map(str, COMPARED))}",
            None,
            ", ".join(f"{v:.0%}" for v in found.mean(axis=0)),
            "for information",
        )


def _most_common(names, indices):
    name = names[int(np.bincount(indices, minlength=len(names)).argmax())]
    return name if name == PCA_START else f"{name} neighbours"
