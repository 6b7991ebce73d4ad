"""Shapes of things that fit the slots of the square."""

from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
# What a kernel compares: a 2-D array, a list of strings, of series, of graphs.
Objects: TypeAlias = Any


@runtime_checkable
class FeatureMap(Protocol):
    """φ: objects to coordinates."""

    def fit(self, X: Objects, y: Any = None) -> Any: ...

    def transform(self, X: Objects) -> Array: ...


@runtime_checkable
class KernelFeatureMap(FeatureMap, Protocol):
    """A feature map whose points are expansions over reference objects (rule 4)."""

    kernel_: Any
    objects_: Objects

    def expansion(self, coordinates: Array) -> Array: ...


@runtime_checkable
class Preimage(Protocol):
    """Γ: coordinates to objects."""

    def fit(self, objects: Objects, feature_map: Any, coordinates: Array | None = None) -> Any: ...

    def solve(self, coordinates: Array) -> Objects: ...

    def objective(self, coordinates: Array, objects: Objects) -> Array: ...
