"""Pre-images of sequences and graphs, and of weights: objects to learn from, points to answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from isthmus.features import KernelPCA
from isthmus.kernels import LabelledGraph, MarginalizedGraph, MarginalizedSequence, object_array
from isthmus.preimage import GraphPreimage, MinimumRiskPreimage, SequencePreimage
from tests.campaign.bad_inputs import bad_outputs
from tests.campaign.subjects import Subject

WORDS = ["stone", "tones", "notes", "onset", "tens", "nest", "ten", "toe"]
NAMES = ["CCO", "CCCO", "COC", "CN", "CCN", "CCC", "OCO", "NCN"]


def chain(name: str) -> LabelledGraph:
    """A molecule without branches."""
    return LabelledGraph(name, [(i, i + 1) for i in range(len(name) - 1)])


@dataclass
class ObjectSubject(Subject):
    """A pre-image: ``y`` holds the objects that it is fitted on, ``X`` the points it is asked."""

    features: Any = None
    bad: Callable[[Any], dict[str, Any]] | None = None

    def fit(self, model: Any, X: Any, y: Any) -> Any:
        return model.fit(y, self.features)

    refit = fit

    def answer(self, model: Any, X: Any) -> Any:
        return model.solve(X)

    def bad_outputs(self) -> dict[str, Any] | None:
        return None if self.bad is None else self.bad(self.y)

    @property
    def has_units(self) -> bool:
        return False


def bad_collections(objects: Any) -> dict[str, Any]:
    """Collections that are bad, or good but odd, whatever their objects are."""
    odd = list(objects)
    return {
        "None": None,
        "scalar": 3.0,
        "word": "abc",
        "bytes": b"abc",
        "no rows": [],
        "set": set(map(id, odd)),
        "dictionary": {"a": odd},
        "object with None": [*odd[:-1], None],
        "object with dict": [*odd[:-1], {}],
        "NaN": [float("nan")] * len(odd),
        "numbers": np.arange(len(odd)),
        "table": np.ones((len(odd), 2)),
        "one object": odd[:1],
        "equal objects": [odd[0]] * len(odd),
        "reversed": odd[::-1],
        "tuple": tuple(odd),
        "array of objects": object_array(odd),
    }


def bad_words(words: Any) -> dict[str, Any]:
    """Words that are bad, or good but odd."""
    return {
        **bad_collections(words),
        "empty word": ["", *words[1:]],
        "empty words": [""] * len(words),
        "lists": [list(word) for word in words],
        "unknown symbols": ["xyz" * 3] * len(words),
        "one letter": list("abcdefgh"),
        "array of text": np.array(list(words)),
    }


def bad_graphs(graphs: Any) -> dict[str, Any]:
    """Graphs that are bad, or good but odd."""
    path = nx.path_graph(3)
    nx.set_node_attributes(path, "C", "label")
    return {
        **bad_collections(graphs),
        "words in place of graphs": WORDS,
        "no edges": [LabelledGraph("CC", [])] * len(graphs),
        "one node": [LabelledGraph("C", [])] * len(graphs),
        "other labels": [chain("XYZ")] * len(graphs),
        "networkx": [path] * len(graphs),
    }


def bad_labels(labels: np.ndarray) -> dict[str, Any]:
    """Labels that are bad, or good but odd; any number of them may be learned from."""
    return {
        name: value
        for name, value in bad_outputs(labels).items()
        if name not in ("wrong length", "too short")
    }


def object_subjects() -> list[ObjectSubject]:
    """One for each of the three."""
    found = []
    for kernel, objects, preimage, bad in (
        (MarginalizedSequence(0.3), WORDS, SequencePreimage(random_state=0), bad_words),
        (
            MarginalizedGraph(0.3),
            list(map(chain, NAMES)),
            GraphPreimage(random_state=0),
            bad_graphs,
        ),
    ):
        features = KernelPCA(3, kernel=kernel).fit(objects)
        X = 0.9 * features.transform(objects)
        name = " ".join(str(preimage).split())[:100]
        found.append(ObjectSubject(name, preimage, X, object_array(objects), features, bad))
    labels = np.repeat([0, 1], 6)  # of which any number may be given
    weights = np.random.default_rng(0).dirichlet(np.ones(len(labels)), size=len(labels))
    found.append(
        ObjectSubject(
            "MinimumRiskPreimage()", MinimumRiskPreimage(), weights, labels, None, bad_labels
        )
    )
    return found
