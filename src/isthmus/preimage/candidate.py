"""Pre-images among given candidates."""

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from isthmus._parameters import Constraint, choice, having, none
from isthmus.kernels.objects import object_array, take
from isthmus.kernels.points import residual_norms
from isthmus.linalg.nearest import nearest_points
from isthmus.preimage.base import BasePreimage
from isthmus.typing import Array, Objects, provides


class CandidatePreimage(BasePreimage):
    r"""The candidate whose image is nearest: :math:`\arg\min_{y\in C}\|c(y)-\beta\|`.

    The only pre-image that works for every type of object; exact if the candidates are all possible
    objects (labels, a dictionary).

    Parameters
    ----------
    candidates : collection of objects or None, default=None
        None takes the objects it is fitted on.
    criterion : {"coord", "full"}, default="coord"
        Distance of coordinates, or of whole images: the latter includes the part of
        :math:`\varphi(y)` outside the axes, so it prefers candidates that the axes describe well.

    Examples
    --------
    >>> from isthmus.features import KernelPCA
    >>> from isthmus.preimage import CandidatePreimage
    >>> words = ["no", "yes", "no"]
    >>> pca = KernelPCA(kernel="delta").fit(words)
    >>> CandidatePreimage().fit(words, pca).solve(pca.transform(["yes", "no"]))
    array(['yes', 'no'], dtype=object)
    """

    __module__ = "isthmus.preimage"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "candidates": having("__len__", text="a collection of objects") | none,
        "criterion": choice("coord", "full"),
    }

    def __init__(self, candidates: Any = None, *, criterion: str = "coord"):
        self.candidates = candidates
        self.criterion = criterion

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]
        """Whole images are compared by their expansions."""
        return frozenset({"expansion"} if self.criterion == "full" else ())

    def _fit(self, objects: Objects, feature_map: Any, coordinates: Array) -> None:
        given = self.candidates is not None
        candidates = self.candidates if given else objects
        if "vectors" in provides(feature_map) and isinstance(candidates, (list, tuple)):
            candidates = np.asarray(candidates)  # rows of numbers come back as rows
        points = np.asarray(feature_map.transform(candidates)) if given else coordinates
        if self.criterion == "full":
            # ‖φ(y) - Ψ‖² = ‖c(y) - β‖² + (squared length of φ(y) - φ̄ outside the axes):
            # one more coordinate, which is zero for Ψ.
            outside = residual_norms(feature_map, candidates, points)
            points = np.column_stack([points, np.sqrt(np.maximum(outside, 0))])
        self.candidates_, self._points = candidates, points

    def _solve(self, coordinates: Array, start: Objects = None) -> Objects:
        if self.criterion == "full":
            coordinates = np.column_stack([coordinates, np.zeros(len(coordinates))])
        chosen = take(self.candidates_, nearest_points(coordinates, self._points)[1][:, 0])
        if issparse(chosen):  # rows of numbers, as other tables give
            return chosen.toarray()
        is_table = isinstance(chosen, np.ndarray) or hasattr(chosen, "iloc")
        return np.asarray(chosen) if is_table else object_array(chosen)
