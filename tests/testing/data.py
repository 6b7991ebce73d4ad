"""Small collections of every kind of object, read-only where Python allows it."""

import networkx as nx
import numpy as np

from isthmus.kernels import Gaussian, LabelledGraph


def frozen(X):
    X = np.asarray(X, dtype=float)
    X.flags.writeable = False
    return X


RNG = np.random.default_rng(0)
VECTORS = frozen(RNG.uniform(size=(30, 3)))
PLANE = frozen(RNG.uniform(size=(24, 2)))
OUTPUTS = frozen(np.column_stack([np.sin(4 * VECTORS[:, 0]), VECTORS[:, 1] ** 2]))
CLASSES = (VECTORS[:, 0] > 0.5).astype(int)
GRAM = frozen(Gaussian(1.0)(VECTORS))
# The joints of an arm.
ANGLES = frozen(RNG.uniform(-1, 1, size=(12, 7)))

T = np.linspace(0.0, 3.0, 30)
CURVE = frozen(np.column_stack([np.cos(T), np.sin(T), 0.5 * T]))

WORDS = ["".join(RNG.choice(list("abc"), size=n)) for n in RNG.integers(3, 8, size=16)]
SERIES = [np.cumsum(RNG.normal(size=n)) for n in RNG.integers(5, 9, size=12)]
PAIRS = [(RNG.normal(size=2), str(RNG.choice(list("ab")))) for _ in range(12)]


def molecules():
    chain = [(0, 1), (1, 2), (2, 3)]
    names = ("CCO", "CCCO", "COC", "CN", "CCN", "CCC", "OCO", "NCN", "CNC", "CO", "CCNO", "NCO")
    return [LabelledGraph(name, chain[: len(name) - 1]) for name in names]


def networks():
    found = []
    for n in range(2, 12):
        graph = nx.path_graph(2 + n % 4)
        nx.set_node_attributes(graph, {i: "CNO"[(i * n) % 3] for i in graph}, "label")
        nx.set_edge_attributes(graph, "-", "label")
        found.append(graph)
    return found


MOLECULES, NETWORKS = molecules(), networks()


def name(part):
    """The first characters of a part, the same in every process; its data need no name."""
    if not (
        callable(part) or isinstance(part, str) or hasattr(part, "fit") or hasattr(part, "evaluate")
    ):
        return ""
    return " ".join(str(part).split(" at 0x")[0].split())[:70]
