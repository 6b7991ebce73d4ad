"""Kernels of graphs and sequences, and the evaluation of candidates for their pre-images."""

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.datasets import DataNotAvailable, load_mutag
from isthmus.kernels import MarginalizedGraph, MarginalizedSequence, Normalized, split_graphs
from isthmus.preimage.discrete.sequence_search import SequenceCodes, SequenceProducts, batch_of


def _molecules(n):
    try:
        data = load_mutag()
    except DataNotAvailable as missing:
        raise Unavailable(str(missing)) from missing
    graphs = split_graphs(data.node_graph, data.node_label, data.edges, data.edge_label)
    order = np.random.default_rng(0).permutation(len(graphs))[:n]
    return [graphs[i] for i in order], data.graph_label[order]


@benchmark(
    "graph-gram",
    work="Gram matrix of MUTAG molecules: walks that read the same labels, tolerance 1e-6",
    peer="grakel RandomWalkLabeled, fast (conjugate gradients, tolerance 1e-6, node labels only)",
    cases=(47, 94, 188),
    quick=(10, 20, 40),
    unit="graphs",
    goal="5 times as fast",
)
def graph_gram(n):
    graphs, classes = _molecules(n)
    kernel = Normalized(MarginalizedGraph(0.1, tol=1e-6))

    def peer():
        try:
            from grakel import Graph, RandomWalkLabeled
        except ImportError as missing:
            raise Unavailable("grakel is not installed") from missing
        theirs = [
            Graph(
                {edge: 1 for a, b in g.edges.tolist() for edge in ((a, b), (b, a))},
                node_labels=dict(enumerate(g.labels)),
            )
            for g in graphs
        ]
        # The largest weight of a step at which the series converges on these molecules.
        return RandomWalkLabeled(lamda=0.1, normalize=True).fit_transform(theirs)

    def quality(K):
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        scores = cross_val_score(SVC(kernel="precomputed", C=100), K, classes, cv=folds)
        return {"svm accuracy": float(scores.mean())}

    return Contest(lambda: kernel(graphs), peer, quality)


@benchmark(
    "sequence-gram",
    work="Marginalised kernel of 30 sequences over 4 symbols",
    peer="the same recursion in NumPy, a row of the table at once",
    cases=(100, 200, 400),
    quick=(25, 50, 100),
    unit="length",
)
def sequence_gram(length):
    X = np.random.default_rng(0).integers(4, size=(30, length))
    stop = 0.1
    kernel = MarginalizedSequence(stop)

    def pair(a, b):
        D, total = np.zeros(len(b) + 1), 0.0
        for symbol in a[::-1]:
            D[:-1] = (b == symbol) * (stop**2 + (1 - stop) ** 2 * D[1:])
            total += D.sum()
        return total / (len(a) * len(b))

    def peer():
        K = np.empty((len(X), len(X)))
        for i in range(len(X)):
            for j in range(i + 1):
                K[i, j] = K[j, i] = pair(X[i], X[j])
        return K

    return Contest(lambda: kernel(X), peer, None, lambda A, B: np.abs(A - B).max() / B.max())


@benchmark(
    "sequence-candidates",
    work="Coordinates of 1000 candidate sequences of length 25 by a tree of training substrings",
    peer="the same coordinates from our rows of the Gram matrix",
    cases=(125, 250, 500),
    quick=(30, 60, 120),
    unit="training sequences",
)
def sequence_candidates(n):
    rng = np.random.default_rng(0)
    train = ["".join(rng.choice(list("abcde"), 25)) for _ in range(n)]
    columns = rng.normal(size=(n, 10))
    codes = SequenceCodes("abcde", train[0])
    products = SequenceProducts(MarginalizedSequence(0.1), train, columns, codes)
    candidates = rng.integers(5, size=(1000, 25))
    words = [codes.decode(row) for row in candidates]
    return Contest(
        lambda: products(batch_of(candidates))[0],
        lambda: products.kernel(words, train) @ columns,
        None,
        lambda A, B: np.abs(A - B).max() / np.abs(B).max(),
    )
