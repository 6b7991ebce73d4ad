"""PSOM-missing: nodes of the arm's map that are lost, and how they are filled in."""

from itertools import product

import numpy as np

from isthmus.manifold import SmoothPSOM
from isthmus.plotting import error_bars
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._psom_arm import (
    BOX,
    arm_map,
    distances,
    joint_grid,
    postures,
    told,
    wrist,
)

N_NODES, N_TESTS = 8, 1000
METHODS = ("optimised", "average of 8 neighbours", "average of 80 neighbours", "average of all")
PUBLISHED = {
    40: ("0.64 ± 0.45", "7.53 ± 15.38", "7.53 ± 15.38", "15.65 ± 30.53"),
    100: ("1.03 ± 1.18", "25.86 ± 40.21", "25.86 ± 40.21", "56.29 ± 85.41"),
    400: ("2.12 ± 2.21", "62.90 ± 60.67", "62.90 ± 60.67", "140.32 ± 136.02"),
}
# The document says neighbours; with 80 of them, one step along every joint, its values are met.
OTHER_READING = "average of 8 neighbours"
TOLERANCE, GAIN = 0.25, 10
N_ENOUGH = 10  # draws of lost nodes, to know how far they range


@experiment(
    "PSOM-missing",
    document="[004] 3.3.3 and 3.4, table 3.2",
    title="Missing nodes of the PA-10's map",
    published=(
        "40, 100 or 400 of 4096 nodes lost at random, Chebyshev nodes. Filled in so that the "
        "map is as smooth as possible: 0.64, 1.03 and 2.12 mm; by the average of known neighbours: "
        "7.53, 25.86 and 62.90 mm; by the average of all: 15.65, 56.29 and 140.32 mm."
    ),
    covers=[
        Covers("004 table 3.2"),
    ],
    readings={
        "": "which 40 nodes are lost decides, and the document has one draw",
    },
    in_short="which forty nodes are lost decides, and the document has one draw",
    quick={"n_draws": 2},
    full={"n_draws": 20},
)
def missing(settings, seed, progress):
    rng = np.random.default_rng(seed)
    truth = wrist(joint_grid(N_NODES, "chebyshev"))
    rows, panels = [], {}
    for i, n_lost in enumerate(PUBLISHED):
        progress(i / 3, f"{n_lost} nodes lost")
        errors = np.array(
            [
                _errors(truth, rng.permutation(len(truth))[:n_lost], rng)
                for _ in range(settings["n_draws"])
            ]
        )  # draw, method, posture
        means = errors.mean(axis=(0, 2))
        for k, method in enumerate(METHODS):
            rows += _cells(n_lost, method, PUBLISHED[n_lost][k], errors[:, k])
        gain = means[2:].min() / means[0]
        rows.append(
            Row(
                f"{n_lost} lost: better than the better published average by",
                f"{_number(PUBLISHED[n_lost][1]) / _number(PUBLISHED[n_lost][0]):.0f} times",
                f"{gain:.0f} times",
                f"more than {GAIN} times" if gain > GAIN else f"less than {GAIN} times",
                bool(gain > GAIN),
            )
        )
        panels[f"mm, {n_lost} nodes lost"] = dict(zip(METHODS, means.tolist(), strict=True))
    return Outcome(
        rows,
        [
            Picture(
                "errors",
                "Mean error of the wrist in millimetres after lost nodes were filled in.",
                lambda: error_bars(panels),
            )
        ],
        [
            "Which nodes were lost is drawn anew; the document has one draw for each number. A row "
            "agrees if the published value lies between the least and the largest of our draws, or "
            "within a quarter of their mean.",
            "The document does not say which neighbours its local average takes: both readings, "
            "the 8 next to a node along the axes and all 80 around it, stand beside its value. The "
            "second agrees with it and is the one compared with; the first is half as far off.",
        ],
    )


def _errors(truth, lost, rng):
    joints = postures(N_TESTS, rng)
    gaps = truth.copy()
    gaps[lost] = np.nan
    smooth = SmoothPSOM((N_NODES,) * 4, smoothness=0.0, bounds=BOX).fit_nodes(gaps)
    fills = [_neighbours(gaps, 1), _neighbours(gaps, 4), _average(gaps)]
    maps = [smooth, *(arm_map(N_NODES, "chebyshev", nodes=nodes) for nodes in fills)]
    return [distances(m.inverse_transform(joints), joints) for m in maps]


def _average(gaps):
    return np.where(np.isnan(gaps), np.nanmean(gaps, axis=0), gaps)


def _neighbours(gaps, reach):
    """Lost nodes as the mean of known ones at most ``reach`` steps off, one an axis."""
    table = gaps.reshape((N_NODES,) * 4 + (3,))
    known = ~np.isnan(table)
    padded = np.pad(np.where(known, table, 0.0), [(1, 1)] * 4 + [(0, 0)])
    counted = np.pad(known.astype(float), [(1, 1)] * 4 + [(0, 0)])
    total, count = np.zeros_like(table), np.zeros_like(table)
    for step in product((-1, 0, 1), repeat=4):
        if 0 < np.abs(step).sum() <= reach:
            window = tuple(slice(1 + s, 1 + s + N_NODES) for s in step)
            total += padded[window]
            count += counted[window]
    filled = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
    return _average(np.where(known, table, filled).reshape(gaps.shape))


def _number(text):
    """The mean of a published cell."""
    return float(text.split()[0])


def _cells(n_lost, method, published, errors):
    """Mean and standard deviation of one published draw of lost nodes beside those of ours."""
    mean, spread = map(float, published.split(" ± "))
    if method == OTHER_READING:
        yield Row(f"{n_lost} lost, {method}", f"{published} mm", told(errors),
                  "for comparison: the other reading of neighbours")  # fmt: skip
        return
    quantity = f"{n_lost} lost, {method}"
    drawn = (errors.mean(axis=1), errors.std(axis=1))
    names = (quantity, f"{quantity}: standard deviation over the postures")
    for name, value, ours in zip(names, (mean, spread), drawn, strict=True):
        off = ours.mean() / value - 1
        within = bool(ours.min() <= value <= ours.max())
        judged = len(ours) >= N_ENOUGH or name == f"{n_lost} lost, {METHODS[0]}"
        yield Row(
            name,
            f"{value} mm",
            f"{ours.mean():.2f} mm ({ours.min():.2f} to {ours.max():.2f} over {len(ours)} draws)",
            f"{off:+.0%} of the published value, which is of one draw"
            + (" and within ours" if within else " and outside ours"),
            bool(abs(off) <= TOLERANCE or within) if judged else None,
        )
