"""GRAPHS: molecules from their coordinates, against the nearest training molecule."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from isthmus.datasets import load_mutag
from isthmus.features import KernelPCA
from isthmus.kernels import MarginalizedGraph, split_graphs
from isthmus.plotting import curves
from isthmus.preimage import CandidatePreimage, GraphPreimage
from isthmus_experiments import Outcome, Picture, Row, experiment

N_COMPONENTS, STOP = 20, 0.3
NEAREST, DRAWN, OURS = "nearest molecule", "cross-entropy alone", "with local search"
SOLVERS = {
    NEAREST: lambda: CandidatePreimage(),
    # Without the nearest molecule to fall back on, which would make "never worse" true by itself.
    DRAWN: lambda: GraphPreimage(refine=False, fallback=False),
    OURS: lambda: GraphPreimage(fallback=False),
}


@experiment(
    "GRAPHS",
    document="[000] 3.4.5, algorithm A3.6 and figure 3.6",
    title="MUTAG molecules rebuilt from their coordinates",
    published=(
        "The algorithm and a drawing of one molecule of a mutagenicity data set; no experiment. So "
        "there is no figure to compare with: molecules left out are rebuilt from their "
        "kernel principal components and compared with the nearest training molecule."
    ),
    readings={
        "": (
            "the search meets a point of few coordinates, and for most molecules a training "
            "molecule is nearer than what it finds; hence the fallback that GraphPreimage has by "
            "default"
        ),
    },
    in_short=(
        "a training molecule is mostly nearer than what the search finds; nothing is published"
    ),
    quick={"n_train": 60, "n_test": 2, "max_nodes": 12},
    full={"n_train": 150, "n_test": 38, "max_nodes": 28},
    needs_data=True,
)
def reconstruction(settings, seed, progress):
    data = load_mutag()
    molecules = split_graphs(data.node_graph, data.node_label, data.edges, data.edge_label)
    order = np.random.default_rng(seed).permutation(len(molecules))
    train = [molecules[i] for i in order[: settings["n_train"]]]
    rest = [molecules[i] for i in order[settings["n_train"] :]]
    test = [g for g in rest if g.n_nodes <= settings["max_nodes"]][: settings["n_test"]]
    features = KernelPCA(N_COMPONENTS, kernel=MarginalizedGraph(STOP)).fit(train)
    points = features.transform(test)

    rows, distances = [], {}
    for i, (name, make) in enumerate(SOLVERS.items()):
        progress(i / len(SOLVERS), name)
        solver = make().fit(train, features)
        found = []
        for j, point in enumerate(points):
            progress((i + j / len(points)) / len(SOLVERS), name)
            found.append(solver.solve(point[None])[0])
        distances[name] = np.sqrt(solver.objective(points, found))
        edits = np.array([edit_bound(a, b) for a, b in zip(found, test, strict=True)])
        rows += _rows(name, distances, edits, sum(g.n_nodes + len(g.edges) for g in test))
    return Outcome(
        rows,
        [
            Picture(
                "distances",
                "Distance of each molecule's answer from its point, in order; zero is exact.",
                lambda: curves(
                    {"": {n: (np.arange(1, len(d) + 1), np.sort(d)) for n, d in distances.items()}},
                    xlabel="molecules, nearest first",
                    ylabel="distance in coordinates",
                    marker=".",
                ),
            )
        ],
        [
            f"{len(train)} training and {len(test)} test molecules, {N_COMPONENTS} components that "
            f"hold {features.explained_variance_ratio_.sum():.1%} of the variance, stop {STOP}.",
            "Edits are an upper bound, from the best assignment of nodes by label and "
            "neighbourhood, then exchanges of two nodes: labels changed, nodes and edges added or "
            "left out. They are zero for the same molecule only.",
            "Searches without their fallback to the nearest molecule, which GraphPreimage has by "
            "default: with it no answer is worse than the nearest molecule, by construction.",
            "A point that is met is not a molecule that is found: where few coordinates are kept, "
            "many molecules share them to several digits.",
        ],
    )


def _rows(name, distances, edits, size):
    mine, nearest = distances[name], distances[NEAREST]
    share = float(np.median(mine / np.maximum(nearest, 1e-12)))
    return [
        Row(
            f"{name}: exact molecules",
            None,
            f"{np.sum(edits == 0)} of {len(edits)}; {edits.sum()} edits of {size} nodes and edges",
            "what the other rows are measured by" if name == NEAREST else "no published value",
        ),
        Row(
            f"{name}: distance, median over that of the nearest molecule",
            None,
            share,
            "by definition"
            if name == NEAREST
            else f"below 1 for {np.mean(mine < nearest):.0%} of the molecules",
            None if name == NEAREST else bool(share < 1),
        ),
    ]


def edit_bound(a, b):
    """An upper bound of the edits between two labelled graphs, 0 where they are the same."""
    if same_graph(a, b):
        return 0
    n = max(a.n_nodes, b.n_nodes)
    A, B = _padded(a, n), _padded(b, n)
    # Nodes alike in their label and in what the neighbours, and theirs, are labelled.
    price = sum(
        (_colours(a, depth, n)[:, None] != _colours(b, depth, n)).astype(float)
        for depth in range(4)
    )
    place = linear_sum_assignment(price)[1]
    return _fewest(A, B, place)


def same_graph(a, b):
    """Whether one graph is a renumbering of the other."""
    n = a.n_nodes
    mine, theirs = _colours(a, n, n), _colours(b, n, b.n_nodes)
    if sorted(mine) != sorted(theirs):
        return False
    A, B = _padded(a, n)[1], _padded(b, n)[1]
    partner = []

    def place(i):
        if i == n:
            return True
        for j in np.flatnonzero(theirs == mine[i]).tolist():
            if j not in partner and (A[i, :i] == B[j, partner]).all():
                partner.append(j)
                if place(i + 1):
                    return True
                partner.pop()
        return False

    return place(0)


def _padded(graph, n):
    labels = np.full(n, -1)
    labels[: graph.n_nodes] = graph.labels
    table = np.full((n, n), -1)
    for (i, j), name in zip(graph.edges, graph.edge_labels, strict=True):
        table[i, j] = table[j, i] = name
    return labels, table


def _colours(graph, depth, n):
    colours = [hash(label) for label in graph.labels]
    for _ in range(depth):
        around = [[] for _ in colours]
        for i, j, e in zip(*graph.arcs, strict=True):
            around[i].append((graph.edge_labels[e], colours[j]))
        colours = [hash((c, tuple(sorted(r)))) for c, r in zip(colours, around, strict=True)]
    return np.array([*colours, *[-1] * (n - len(colours))])


def _fewest(A, B, place):
    """Exchange two nodes of the assignment while that saves edits."""

    def edits(place):
        labels, table = B[0][place], B[1][np.ix_(place, place)]
        return int(np.sum(A[0] != labels) + np.sum(np.triu(A[1] != table)))

    best = edits(place)
    improved = best > 0
    while improved:
        improved = False
        for i in range(len(place)):
            for j in range(i):
                other = place.copy()
                other[[i, j]] = place[[j, i]]
                if (value := edits(other)) < best:
                    place, best, improved = other, value, True
    return best
