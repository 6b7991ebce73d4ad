"""Facts of feature maps whose points are expansions over objects."""

import numpy as np

from isthmus.kernels.expansion import Expansion
from isthmus.kernels.objects import n_objects, take
from isthmus.kernels.points import residual_norms, squared_distances, squared_norms
from isthmus.testing.inputs import generator
from isthmus.testing.report import Facts
from isthmus.typing import Array, KernelFeatureMap, Objects, provides

TOL = 1e-5
# What a kernel declares and a map with that kernel passes on.
OF_KERNELS = frozenset(
    {"gradient", "radial", "stationary", "distances", "inner_product", "linear", "explicit"}
)


def check_axes(facts: Facts, fitted: KernelFeatureMap, X: Objects, C: Array) -> None:
    """Axes, origin and ``expand`` of a map that provides ``"expansion"`` say the same.

    ``C`` are the coordinates of ``X``.
    """
    facts.needs_methods(fitted, "expand")
    _check_kinds(facts, fitted, C.shape[1])
    axes, origin = fitted.axes_, fitted.origin_
    facts.agree("axes_ gives the coordinates", axes(axes.kernel.check(X)), C, tol=TOL)
    own = np.asarray(axes.kernel.gram(axes.objects, axes.objects))
    A, w = axes.weights, origin.weights[:, 0]
    gram = np.eye(len(axes)) if fitted.axes_gram_ is None else fitted.axes_gram_
    facts.agree(
        "axes_gram_ has the inner products of the axes (None: they are orthonormal)",
        gram,
        A.T @ own @ A,
        tol=TOL,
    )
    size = np.sqrt(np.diag(A.T @ own @ A).max() * max(float(w @ own @ w), np.diag(own).max()))
    facts.holds(
        "the offset of an axis is minus its inner product with the origin",
        np.abs(axes.offset + A.T @ own @ w).max() <= TOL * size,
        "Coordinates must be those of the difference from the origin.",
    )
    weights = np.asarray(fitted.expand(C))
    facts.holds(
        "expand gives a weight for each object of the expansion",
        weights.shape == (len(C), n_objects(axes.objects)),
        f"Found shape {weights.shape}.",
    )
    far = weights - (C @ A.T + w)
    lengths = np.einsum("ij,jk,ik->i", far, own, far)
    facts.holds(
        "expand gives the point that lies at the coordinates from the origin",
        lengths.max() <= TOL**2 * len(own) * np.diag(own).max(),
        f"Found a point at the squared distance {lengths.max():.3g}.",
    )
    _check_points(facts, fitted, X, C, own)


def _check_kinds(facts: Facts, fitted: KernelFeatureMap, n_components: int) -> None:
    with facts.works("a fitted map has axes_, origin_ and axes_gram_"):
        axes, origin, _ = fitted.axes_, fitted.origin_, fitted.axes_gram_
    if not isinstance(axes, Expansion) or not isinstance(origin, Expansion):
        raise TypeError(
            f"{facts.part} provides 'expansion': its axes_ and origin_ must be Expansion. "
            f"Got {axes!r:.60} and {origin!r:.60} instead."
        )
    facts.holds("there is an axis for each coordinate", len(axes) == n_components, f"{axes!r}.")
    facts.holds("the origin is one point", len(origin) == 1, f"{origin!r}.")
    facts.holds(
        "axes and origin are expansions over the same objects",
        origin.objects is axes.objects or n_objects(origin.objects) == n_objects(axes.objects),
    )
    promised = provides(fitted) & OF_KERNELS
    lacking = sorted(promised - axes.kernel.provides)
    facts.holds(
        "the kernel of the axes provides what the map says of it",
        not lacking,
        f"{axes.kernel!r:.60} does not provide {', '.join(lacking)}.",
    )


def _check_points(facts: Facts, fitted: KernelFeatureMap, X: Objects, C: Array, own: Array) -> None:
    """Lengths and distances in feature space, from the axes and from the weights."""
    axes = fitted.axes_
    checked = axes.kernel.check(X)
    P = C[generator().permutation(len(C))]
    a = np.asarray(fitted.expand(P))
    norms = np.einsum("ij,jk,ik->i", a, own, a)
    diagonal = np.asarray(axes.kernel.diag(checked))
    size = max(float(np.abs(norms).max()), float(np.abs(diagonal).max()))
    K = np.asarray(axes.kernel.gram(checked, axes.objects))
    slow = diagonal - 2 * np.einsum("ij,ij->i", a, K) + norms
    close = np.abs(squared_distances(fitted, checked, P) - slow).max() <= TOL * size
    facts.holds("distances from a point follow from axes and origin", close)
    close = np.abs(squared_norms(fitted, P) - norms).max() <= TOL * size
    facts.holds("lengths of points follow from axes and origin", close)
    outside = residual_norms(fitted, checked, C)
    facts.holds("no image is nearer than nothing to its point", outside.min() >= -TOL * size)
    some = take(checked, np.arange(len(C)))
    close = np.abs(squared_distances(fitted, some, C) - outside).max() <= TOL * size
    facts.holds("an image is as far from its point as it lies outside the axes", close)
