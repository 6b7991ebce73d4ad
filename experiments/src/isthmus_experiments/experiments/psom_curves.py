"""PSOM-curves: a bump through few nodes, regular or Chebyshev, full or in local pieces."""

import numpy as np

from isthmus.manifold import PSOM, grid_points
from isthmus.plotting import PALETTE, new_figure, style
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

WORDS = {"lagrange": "regular", "chebyshev": "Chebyshev"}
COUNTS = (7, 12)
LOCAL = 3


@experiment(
    "PSOM-curves",
    document="[004] 3.1, figures 3.2 and 3.3",
    title="A bump through 7 and 12 nodes",
    published=(
        "exp(-8 x²) on [-1, 1] through 7 and 12 nodes: regular nodes overshoot near the ends, "
        "Chebyshev nodes do not. Local pieces of 3 nodes do not ring and are not continuous. "
        "Pictures only."
    ),
    covers=[
        Covers("004 figure 3.2", way="claim"),
        Covers("004 figure 3.3", way="claim"),
    ],
    quick={"n_points": 801},
    full={"n_points": 8001},
)
def bumps(settings, seed, progress):
    x = np.linspace(-1, 1, settings["n_points"])
    found, nodes = {}, {}
    for basis in WORDS:
        for n in COUNTS:
            for local in (None, LOCAL):
                at = grid_points((n,), basis=basis)
                model = PSOM(_bump(at), grid=(n,), basis=basis, local=local).fit()
                found[basis, n, local] = model.inverse_transform(x[:, None])[:, 0]
                nodes[basis, n] = at[:, 0]
    ends = np.abs(x) > 0.75
    rows = []
    for n in COUNTS:
        wrong = {b: np.abs(found[b, n, None] - _bump(x))[ends].max() for b in WORDS}
        rows.append(
            Row(
                f"{n} nodes: largest error near the ends, regular and Chebyshev",
                "regular nodes overshoot",
                f"{wrong['lagrange']:.3f} and {wrong['chebyshev']:.3f}",
                "regular nodes overshoot more"
                if wrong["lagrange"] > 2 * wrong["chebyshev"]
                else "no clear difference",
                bool(wrong["lagrange"] > 2 * wrong["chebyshev"]),
            )
        )
    for basis, word in WORDS.items():
        local = found[basis, 12, LOCAL]
        step = np.abs(np.diff(local)).max()
        smooth = np.abs(np.diff(found[basis, 12, None])).max()
        below = float(-local.min())
        rows.append(
            Row(
                f"12 {word} nodes in pieces of 3: largest step between neighbouring points",
                "jumps where a piece gives way to the next",
                f"{step:.4f}, against {smooth:.4f} of the full map; undershoot {below:.3f}",
                "jumps" if step > 1.5 * smooth else "no jump to be seen",
                bool(step > 1.5 * smooth),
            )
        )
    return Outcome(
        rows,
        [
            Picture(
                "full",
                "A bump (grey) through 7 and 12 nodes (dots) by one polynomial: regular nodes "
                "overshoot near the ends.",
                lambda: _figure(x, found, nodes, None),
            ),
            Picture(
                "local",
                "The same nodes, three at a time: no overshoot, but the pieces do not meet.",
                lambda: _figure(x, found, nodes, LOCAL),
            ),
        ],
        ["A jump falls between two points, so its size is told by the largest step."],
    )


def _bump(x):
    return np.exp(-8 * np.asarray(x) ** 2)


def _figure(x, found, nodes, local):
    with style():
        figure = new_figure(9.0, 3.6)
        axes = figure.subplots(1, len(COUNTS), sharey=True)
        for ax, n in zip(axes, COUNTS, strict=True):
            ax.plot(x, _bump(x), color="0.75", linewidth=5, label="the bump")
            for colour, (basis, word) in zip(PALETTE, WORDS.items(), strict=False):
                y = found[basis, n, local].copy()
                at = nodes[basis, n]
                if local is not None:  # a line between two pieces would hide that they do not meet
                    for middle in (at[1:] + at[:-1]) / 2:
                        y[np.searchsorted(x, middle)] = np.nan
                ax.plot(x, y, color=colour, label=f"{word} nodes")
                ax.plot(at, _bump(at), "o", color=colour, markersize=5)
            ax.set(title=f"{n} nodes", xlabel="x", xticks=[-1, 0, 1], ylim=(-0.35, 1.15))
        axes[0].legend(fontsize=9, loc="lower center")
    return figure
