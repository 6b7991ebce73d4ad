"""UKR-spiral-ends: many rows left out, and what holds the ends of the curve."""

import numpy as np

from isthmus.datasets import distance_to_manifold, make_noisy_spiral
from isthmus.manifold import Starts
from isthmus.plotting import manifold_through
from isthmus_experiments import Covers, Outcome, Picture, Row, draws, experiment
from isthmus_experiments.experiments._ukr import (
    SPIRAL,
    curve_points,
    mean_sd,
    penalty_weight,
    published_fit,
    true_spiral,
)

SHAPE = "spiral"
WEIGHTS = (1e-6, 1e-4, 1e-3)
MOST = 24  # rows left out in the pictures of the ends
END = 0.05  # share of the curve at either end


@experiment(
    "UKR-spiral-ends",
    document="[004] 5.2.3, figures 5.15 to 5.18",
    title="Noisy spiral: K rows left out, and its ends under an even density",
    published=(
        "300 points under uniform noise of 0.1, 500 steps. The curve gets smoother with K without "
        "much bias, but its ends wriggle; a penalty on the variance of the latent density of 1e-4 "
        "or 1e-3 (alike) straightens them and draws outliers of latent space to the centre, 1e-6 "
        "is too weak. Pictures of one set."
    ),
    covers=[Covers(f"004 figure 5.{k}", way="claim") for k in (15, 16, 17, 18)],
    readings={
        "distance of the ends": "medians of 20 sets are judged, where the document shows one",
        "range of latent space": "no row of ours lies far outside, so none is drawn in",
    },
    quick={"rows_left_out": (1, 24), "n_sets": 1, "steps": 100, **SPIRAL},
    full={"rows_left_out": (1, 3, 7, 12, 18, 24), "n_sets": 20, "steps": 500, **SPIRAL},
)
def spiral_ends(settings, seed, progress):
    ks = settings["rows_left_out"]

    def fit(Y, k, weight=None):
        penalty = {"density_variance": penalty_weight(Y, weight)} if weight else None
        return published_fit(
            Y, 1, steps=settings["steps"], init=Starts("isomap", 6), seed=seed, validation=k,
            penalty=penalty,
        )  # fmt: skip

    def draw(j):
        Y, _ = make_noisy_spiral(spacing=settings["spacing"], random_state=seed + j)
        found = {f"{k}, 0": _measures(fit(Y, k)) for k in ks}
        return found | {f"{MOST}, {w:g}": _measures(fit(Y, MOST, w)) for w in WEIGHTS}

    sets = draws(draw, settings["n_sets"], progress)
    found = {key: np.array([one[key] for one in sets]) for key in sets[0]}
    middle = {key: np.median(values, axis=0) for key, values in found.items()}
    rows = [
        Row(f"K = {k}: roughness and inward bias of the middle of the curve", None,
            f"{mean_sd(found[f'{k}, 0'][:, 0], 4)} and {middle[f'{k}, 0'][1]:+.4f}",
            f"distance of its ends {middle[f'{k}, 0'][2]:.4f}")
        for k in ks
    ]  # fmt: skip
    rows += _rows(middle, ks)

    def drawn():
        Y, _ = make_noisy_spiral(spacing=settings["spacing"], random_state=seed)
        models = {f"K = {MOST}": fit(Y, MOST), f"K = {MOST}, penalty 1e-4": fit(Y, MOST, 1e-4)}
        return {name: (Y, curve_points(m, 1500)) for name, m in models.items()}

    return Outcome(
        rows,
        [
            Picture(
                "ends", "Twenty-four rows left out, without and with the penalty.",
                lambda: manifold_through(drawn(), truth=true_spiral()),
            )
        ],
        [
            f"Medians over {len(sets)} data sets where the document shows one. The ends are the "
            f"outer {END:.0%} of the curve on either side; Isomap instead of locally linear "
            "starts."
        ],
    )  # fmt: skip


def _measures(model):
    """Roughness and inward bias of the middle, distance of the ends, and range over spread."""
    signed = distance_to_manifold(curve_points(model, 1000), SHAPE, signed=True)
    n = round(END * len(signed))
    ends = np.concatenate([signed[:n], signed[-n:]])
    Z = model.embedding_[:, 0]
    low, high = np.quantile(Z, [0.05, 0.95])
    return (
        float(signed[n:-n].std()),
        float(-signed[n:-n].mean()),
        float(np.abs(ends).mean()),
        float(np.ptp(Z) / (high - low)),
    )


def _rows(middle, ks):
    first, last = middle[f"{ks[0]}, 0"], middle[f"{ks[-1]}, 0"]
    smooth = bool(last[0] < 0.75 * first[0])
    yield Row(f"roughness at K = {ks[-1]}, share of that at K = {ks[0]}", "smoother",
              float(last[0] / first[0]), "smoother" if smooth else "not so", smooth)  # fmt: skip
    biased = bool(last[1] < 0.05)
    yield Row(f"inward bias at K = {ks[-1]}", "not too much", float(last[1]),
              "below half the noise" if biased else "above half the noise", biased)  # fmt: skip
    free, even = middle[f"{MOST}, 0"], middle[f"{MOST}, 0.0001"]
    better = bool(even[2] < free[2])
    yield Row("distance of the ends, with the penalty 1e-4 and without", "straighter with it",
              f"{even[2]:.4f} and {free[2]:.4f}",
              "nearer with it" if better else "not nearer with it", better)  # fmt: skip
    alike = bool(abs(middle[f"{MOST}, 0.001"][2] / even[2] - 1) < 0.25)
    yield Row("distance of the ends at 1e-3 over that at 1e-4", "visually the same",
              float(middle[f"{MOST}, 0.001"][2] / even[2]),
              "within a quarter" if alike else "not within a quarter", alike)  # fmt: skip
    weak = bool(abs(middle[f"{MOST}, 1e-06"][2] - free[2]) < abs(even[2] - free[2]))
    yield Row("distance of the ends at 1e-6", "as without", float(middle[f"{MOST}, 1e-06"][2]),
              "nearer to that without" if weak else "nearer to that of 1e-4", weak)  # fmt: skip
    compact = bool(even[3] < free[3])
    yield Row("range of latent space over its inner 90 %, with the penalty 1e-4 and without",
              "more compact with it", f"{even[3]:.2f} and {free[3]:.2f}",
              "more compact" if compact else "not more compact", compact)  # fmt: skip
