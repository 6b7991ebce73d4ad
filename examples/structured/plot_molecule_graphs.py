"""
Molecules from numbers, numbers from molecules
==============================================

Graphs fit either end of the map. First a property of small molecules is learned from their graphs;
then graphs are built to order: so many atoms of oxygen at the end, so many of nitrogen at the
sides. Some orders never occurred in training, so no stored molecule can be the answer.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.kernels import LabelledGraph, MarginalizedGraph
from isthmus.plotting import style
from isthmus.preimage import GraphPreimage
from isthmus.structured import DependencyEstimator


def molecule(n_oxygen, n_branches):
    """A chain of six carbons with oxygens at its end and nitrogens hanging off the others."""
    labels = ["C"] * 6 + ["O"] * n_oxygen + ["N"] * n_branches
    edges = [(i, i + 1) for i in range(5)]
    edges += [(5 if i == 0 else 5 + i, 6 + i) for i in range(n_oxygen)]
    edges += [(1 + i, 6 + n_oxygen + i) for i in range(n_branches)]
    return LabelledGraph(labels, edges)


wishes = np.array([(o, b) for o in range(5) for b in range(5)], dtype=float)
graphs = [molecule(int(o), int(b)) for o, b in wishes]
unseen = np.isin(np.arange(25), [6, 8, 12, 16, 18])
known = [g for g, hidden in zip(graphs, unseen, strict=True) if not hidden]
hidden = [g for g, hidden in zip(graphs, unseen, strict=True) if hidden]

# %%
# Graph to vector: the two numbers of molecules that were left out.

reader = DependencyEstimator(x_features=MarginalizedGraph(0.2)).fit(known, wishes[~unseen])
read = reader.predict(hidden)
for wish, found in zip(wishes[unseen], read, strict=True):
    print(f"{wish.astype(int)} read as {found.round(2)}")

# %%
# Vector to graph: the wishes that were left out. The answer is built, not looked up.

builder = DependencyEstimator(y_features=MarginalizedGraph(0.2), preimage=GraphPreimage())
builder.fit(wishes[~unseen], known)
built = builder.predict(wishes[unseen])

# %%
# Above: what was asked for. Below: what was built.


def places(graph, steps=200):
    """Coordinates of nodes: edges pull to length one, all pairs push apart."""
    rng = np.random.default_rng(1)
    n = graph.n_nodes
    P = np.c_[np.arange(n), rng.normal(size=n)].astype(float)
    joined = np.zeros((n, n))
    joined[tuple(graph.edges.T)] = joined[tuple(graph.edges[:, ::-1].T)] = 1
    for _ in range(steps):
        gap = P[:, None] - P
        far = np.sqrt((gap**2).sum(axis=2)) + np.eye(n)
        force = 0.35 / far**2 - joined * (far - 1)
        P += 0.2 * (gap / far[..., None] * np.clip(force, -1, 1)[..., None]).sum(axis=1)
    P -= P.mean(axis=0)
    return P @ np.linalg.svd(P, full_matrices=False)[2].T  # the long way across


COLOURS = {"C": "#1c2330", "O": "#D55E00", "N": "#56B4E9"}
with style():
    figure, axes = plt.subplots(2, len(hidden), figsize=(11, 4.2), layout="constrained")
    rows = (("asked for", hidden), ("built", built))
    for across, (title, row) in zip(axes, rows, strict=True):
        for ax, graph, wish in zip(across, row, wishes[unseen], strict=True):
            P = places(graph)
            for i, j in graph.edges:
                ax.plot(*P[[i, j]].T, color="#5b6575", linewidth=2, zorder=1)
            colours = [COLOURS[label] for label in graph.labels]
            ax.scatter(*P.T, s=110, color=colours, zorder=2, clip_on=False)
            ax.set_aspect("equal", adjustable="datalim")
            ax.margins(0.1, 0.3)
            ax.set_axis_off()
            if title == "asked for":
                ax.set_title(f"{int(wish[0])} oxygen, {int(wish[1])} nitrogen", fontsize=10)
        across[0].text(-0.1, 0.5, title, transform=across[0].transAxes, rotation=90, va="center")
