"""The kernel that compares for equality."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.kernels.base import Kernel
from isthmus.typing import Array, Objects


@dataclass
class Delta(Kernel):
    r"""Equality :math:`k(x,z)=1` if :math:`x=z`, else 0, of labels or any hashable objects.

    As output kernel it encodes the zero-one loss: :math:`\|\varphi(y)-\varphi(y')\|^2`
    is 2 if the labels differ and 0 if they agree.

    >>> from isthmus.kernels import Delta
    >>> Delta()(["a", "b"], ["b", "b", "c"])
    array([[0., 0., 0.],
           [1., 1., 0.]])
    """

    __module__ = "isthmus.kernels"

    vectors = False

    def gram(self, X: Objects, Z: Objects) -> Array:
        codes: dict[Hashable, int] = {}
        z = np.array([codes.setdefault(key, len(codes)) for key in map(_key, Z)])
        x = np.array([codes.get(key, -1) for key in map(_key, X)])
        return (x[:, None] == z).astype(np.float64)

    def diag(self, X: Objects) -> Array:
        return np.ones(len(self.check(X)))


def _key(item: Any) -> Hashable:
    # Rows of an array and lists are compared by their entries.
    if isinstance(item, np.ndarray):
        return tuple(item.tolist())
    return tuple(item) if isinstance(item, list) else item
