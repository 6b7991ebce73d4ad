"""What a map looks like in the light of a property that it was not told of."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isthmus.typing import Array


class LandscapeSums(NamedTuple):
    """Responsibilities of each node (K,), and those times the columns of a property (K, p)."""

    density: Array
    moments: Array


def block_landscape(R: Array, targets: Array) -> LandscapeSums:
    """The sums of rows with responsibilities ``R`` (n, K) and targets (n, p)."""
    return LandscapeSums(R.sum(axis=0), R.T @ targets)


def merge_landscapes(a: LandscapeSums, b: LandscapeSums) -> LandscapeSums:
    """The sums of two disjoint sets of rows."""
    return LandscapeSums(a.density + b.density, a.moments + b.moments)


@dataclass(frozen=True, eq=False)
class Landscape:
    r"""A property over the nodes of a generative topographic mapping.

    A node has the mean of the property under its responsibilities,
    :math:`v_k=\sum_iR_{ik}t_i/\sum_iR_{ik}`; for classes, their probabilities. A new row is
    predicted by :math:`\sum_kR_k(y)v_k`. Made by ``GenerativeTopographicMapping.landscape``.

    Attributes
    ----------
    nodes : ndarray of shape (n_nodes, n_components)
    values : ndarray of shape (n_nodes,), (n_nodes, n_outputs) or (n_nodes, n_classes)
        Nodes without rows have the mean of all rows.
    density : ndarray of shape (n_nodes,)
        How many rows each node accounts for; draw empty nodes pale.
    classes : ndarray of shape (n_classes,), or None for numbers
    model : GenerativeTopographicMapping
    """

    __module__ = "isthmus.manifold"

    nodes: Array
    values: Array
    density: Array
    classes: Any
    model: Any

    def predict(self, X: Any) -> Array:
        """The class of largest probability, or the expected value, of each row."""
        expected = self._expected(X)
        if self.classes is None:
            return expected
        found: Array = self.classes[expected.argmax(axis=1)]
        return found

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, (n_samples, n_classes)."""
        if self.classes is None:
            raise AttributeError("This Landscape is one of numbers: it has no probabilities.")
        return self._expected(X)

    def _expected(self, X: Any) -> Array:
        expected: Array = self.model.responsibilities(X) @ self.values
        return expected


def make_landscape(
    sums: LandscapeSums, nodes: Array, *, classes: Any, balanced: bool, flat: bool, model: Any
) -> Landscape:
    """The landscape of sums over all rows."""
    moments = sums.moments
    overall = moments.sum(axis=0) / sums.density.sum()
    if balanced:  # every class as if it had as many rows as the others
        moments = moments / moments.sum(axis=0)
        overall = np.full(len(overall), 1.0 / len(overall))
    weight = moments.sum(axis=1) if classes is not None else sums.density
    served = weight > np.finfo(float).tiny
    values = np.where(served[:, None], moments / np.where(served, weight, 1.0)[:, None], overall)
    return Landscape(nodes, values[:, 0] if flat else values, sums.density, classes, model)
