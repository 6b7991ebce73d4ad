r"""Points of feature space that are given by coordinates in a kernel feature map.

A point is :math:`\Psi=\bar\varphi+\sum_i\beta_iv_i`, with the axes :math:`v_i` and the origin
:math:`\bar\varphi` of any map that provides ``"expansion"`` (see :mod:`isthmus.typing`).
"""

from typing import Any

import numpy as np

from isthmus.kernels.expansion import Expansion
from isthmus.typing import Array, Objects


def squared_norms(feature_map: Any, coordinates: Array) -> Array:
    r"""Squared lengths :math:`\|\Psi\|^2` of the points with these coordinates, (n,).

    Coordinates are :math:`\langle v_i,\varphi(x)-\bar\varphi\rangle`, so the offsets of the axes
    are their inner products with the origin, up to the sign.
    """
    origin = float(feature_map.origin_.squared_norms()[0])
    return origin - 2 * coordinates @ feature_map.axes_.offset + _in_axes(feature_map, coordinates)


def squared_distances(feature_map: Any, X: Objects, coordinates: Array) -> Array:
    r"""Squared distances :math:`\|\varphi(x_i)-\Psi_i\|^2` of images from points, (n,)."""
    X = feature_map.axes_.kernel.check(X)
    values = axes_and_origin(feature_map)(X)  # the kernel once for both
    along = np.einsum("ij,ij->i", values[:, :-1], coordinates)
    spread = _from_origin(feature_map, X, values[:, -1])
    return spread - 2 * along + _in_axes(feature_map, coordinates)


def residual_norms(feature_map: Any, X: Objects, coordinates: Array) -> Array:
    """Squared lengths of the parts of the images of ``X`` that lie outside the axes, (n,).

    ``coordinates`` are those of ``X``.
    """
    X = feature_map.axes_.kernel.check(X)
    along = np.einsum("ij,ij->i", coordinates, coordinates)
    spread = _from_origin(feature_map, X, feature_map.origin_(X)[:, 0])
    return spread - 2 * along + _in_axes(feature_map, coordinates)


def axes_and_origin(feature_map: Any) -> Expansion:
    """The axes of a kernel feature map, and last its origin, as one expansion."""
    axes, origin = feature_map.axes_, feature_map.origin_
    weights = np.column_stack([axes.weights, origin.weights])
    offset = np.concatenate([axes.offset, origin.offset])
    return Expansion(axes.kernel, axes.objects, weights, offset)


def _from_origin(feature_map: Any, X: Objects, inner: Array) -> Array:
    """Squared distances of images from the origin, given their inner products with it."""
    own = np.asarray(feature_map.axes_.kernel.diag(X))
    return own - 2 * inner + float(feature_map.origin_.squared_norms()[0])


def _in_axes(feature_map: Any, coordinates: Array) -> Array:
    """Squared lengths of combinations of the axes, which are orthonormal if no Gram is given."""
    gram = feature_map.axes_gram_
    image = coordinates if gram is None else coordinates @ gram
    return np.einsum("ij,ij->i", coordinates, image)
