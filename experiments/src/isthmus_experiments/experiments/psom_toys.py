"""PSOM-toys: noise, unequal noise, gaps and scattered samples on one axis of eight nodes."""

import numpy as np

from isthmus.manifold import SmoothPSOM
from isthmus.manifold.psom.roughness import roughness_matrix
from isthmus.plotting import PALETTE, new_figure, style
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

NODES = np.arange(1.0, 9.0)
BOX = (1.0, 8.0)
GAPS = [2, 5]  # the third and the sixth


@experiment(
    "PSOM-toys",
    document="[004] 3.3, figures 3.5 to 3.8",
    title="Eight nodes on a line: smoothed, filled in, and fitted to samples between them",
    published=(
        "Toy curves through eight nodes at 1 to 8. Smoothing takes the wiggles of noisy nodes; a "
        "node of its own smoothness moves alone; the third and sixth node, taken as unknown, are "
        "filled in smoothly; six samples between the nodes are met by the smoothest curve. "
        "Pictures only; the values of the nodes are not printed."
    ),
    covers=[
        Covers("004 figure 3.5", way="claim"),
        Covers("004 figure 3.6", way="claim"),
        Covers("004 figure 3.7", way="claim"),
        Covers("004 figure 3.8", way="claim"),
    ],
    quick={"smoothness": (0.0, 0.1, 1.0, 10.0)},
    full={"smoothness": (0.0, 0.01, 0.1, 1.0, 10.0, 100.0)},
)
def toys(settings, seed, progress):
    rng = np.random.default_rng(seed)
    images = (np.sin(NODES) + 0.3 * rng.normal(size=8))[:, None]
    maps = {"smoothed": {}, "one node smoothed": {}, "two nodes unknown": {}, "six samples": {}}
    rough, misfit = [], []
    for lam in settings["smoothness"]:
        model = _axis(lam).fit_nodes(images)
        maps["smoothed"][f"smoothness {lam:g}"] = model
        rough.append(_roughness(model))
        misfit.append(float(np.sum((model.weights_ - images) ** 2)))
    alone = np.where(np.arange(8) == 3, 1.0, 0.0)
    outlier = images + 0.8 * alone[:, None]
    through = _axis(0.0).fit_nodes(images)
    for lam in (0.0, 0.1, 10.0):
        maps["one node smoothed"][f"the fourth, by {lam:g}"] = _axis(lam).fit_nodes(
            outlier, variances=alone
        )
    gaps = images.copy()
    gaps[GAPS] = np.nan
    filled = _axis(0.0).fit_nodes(gaps)
    maps["two nodes unknown"] = {"all known": through, "third and sixth unknown": filled}
    places = np.sort(rng.uniform(*BOX, size=6))[:, None]
    values = np.sin(places) + 0.3 * rng.normal(size=(6, 1))
    exact = _axis(0.0).fit(values, latent=places)
    maps["six samples"] = {
        "smoothest through them": exact,
        "smoothness 1": _axis(1.0).fit(values, latent=places),
    }
    moved = np.abs(maps["one node smoothed"]["the fourth, by 10"].weights_ - outlier)[:, 0]
    met = float(np.abs(exact.inverse_transform(places) - values).max())
    rows = [
        Row(
            "roughness over the smoothness",
            "falls",
            ", ".join(f"{r:.3g}" for r in rough),
            "falls at every step" if np.all(np.diff(rough) < 0) else "does not fall",
            bool(np.all(np.diff(rough) < 0)),
        ),
        Row(
            "squared distance from the noisy nodes",
            "grows",
            ", ".join(f"{m:.3g}" for m in misfit),
            "grows at every step" if np.all(np.diff(misfit) > 0) else "does not grow",
            bool(np.all(np.diff(misfit) > 0)),
        ),
        Row(
            "one node with a smoothness of its own: how far it and the others move",
            "it alone moves",
            f"{moved[3]:.2g}; the others {np.delete(moved, 3).max():.1e}",
            "it alone moves" if np.delete(moved, 3).max() < 1e-9 < moved[3] else "others move",
            bool(np.delete(moved, 3).max() < 1e-9 < moved[3]),
        ),
        Row(
            "third and sixth node unknown: roughness against the curve through all",
            "smoother",
            f"{_roughness(filled):.3g} against {_roughness(through):.3g}",
            "smoother" if _roughness(filled) < _roughness(through) else "not smoother",
            bool(_roughness(filled) < _roughness(through)),
        ),
        Row(
            "six samples between the nodes: largest distance of the smoothest curve",
            "goes through them",
            f"{met:.1e}",
            "goes through them" if met < 1e-9 else "misses them",
            bool(met < 1e-9),
        ),
    ]
    data = {
        "smoothed": (NODES, images),
        "one node smoothed": (NODES, outlier),
        "two nodes unknown": (np.delete(NODES, GAPS), np.delete(images, GAPS, axis=0)),
        "six samples": (places[:, 0], values),
    }
    return Outcome(
        rows,
        [
            Picture(
                "curves",
                "Dots are what each map was given: noisy nodes, nodes with two gaps, samples "
                "between the nodes.",
                lambda: _figure(maps, data),
            )
        ],
        [
            "The nodes are a sine with noise, since the document does not print its own; where one "
            "node is smoothed alone, it was first moved by 0.8."
        ],
    )


def _axis(smoothness):
    return SmoothPSOM((8,), smoothness=smoothness, basis="lagrange", bounds=BOX)


def _roughness(model):
    w = model.weights_[:, 0]
    return float(w @ roughness_matrix(model.grid_) @ w)


def _figure(maps, data):
    x = np.linspace(*BOX, 400)
    with style():
        figure = new_figure(10.0, 6.4)
        axes = figure.subplots(2, 2, sharex=True)
        for ax, (title, models) in zip(axes.flat, maps.items(), strict=True):
            for k, (name, model) in enumerate(models.items()):
                y = model.inverse_transform(x[:, None])[:, 0]
                ax.plot(x, y, label=name, color=PALETTE[k % len(PALETTE)])
            ax.plot(data[title][0], data[title][1], "o", color="0.25", markersize=6)
            ax.set(title=title)
            ax.legend(fontsize=8)
    return figure
