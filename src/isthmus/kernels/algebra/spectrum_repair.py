"""Kernels from similarities with negative eigenvalues."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from isthmus._checks import check_choice
from isthmus._parameters import Constraint, boolean, choice
from isthmus.kernels.algebra.around import KernelAround
from isthmus.kernels.algebra.delta import Delta
from isthmus.kernels.base import Kernel
from isthmus.typing import Array, Objects

METHODS = ("clip", "flip", "shift", "square")
# Eigenvalues below this share of the largest are rounding errors, and have no inverse.
NO_SIGNAL = 1e-12


def repair_spectrum(G: Array, method: str = "clip") -> tuple[Array, Array]:
    r"""Make a symmetric matrix positive semi-definite; return it and the weights for new rows.

    With :math:`G=U\Lambda U^\top`:

    ======  ==============================  ==========================================
    method  matrix                          weights W
    ======  ==============================  ==========================================
    clip    :math:`U\max(\Lambda,0)U^\top`  :math:`U_+\Lambda_+^{-1}U_+^\top`
    flip    :math:`U|\Lambda|U^\top`        :math:`U|\Lambda|^{-1}U^\top`
    shift   :math:`G+|\lambda_{\min}|I`     the number :math:`|\lambda_{\min}|`
    square  :math:`GG^\top`                 :math:`I`
    ======  ==============================  ==========================================

    With rows :math:`g_x` of similarities to the training objects, the kernel of two new objects is
    :math:`g_xWg_z^\top`. On the training objects this is the repaired matrix; between a new and a
    training object it is :math:`g_xP` with :math:`P=WG`, the projection (clip) or reflection
    (flip). Clipping gives the nearest positive semi-definite matrix. A shift has no such
    extension.

    Returns
    -------
    matrix : ndarray of shape (n, n)
    weights : ndarray of shape (n, n), or of shape () for a shift

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import repair_spectrum
    >>> repair_spectrum(np.array([[0.0, 2.0], [2.0, 0.0]]), "clip")[0]
    array([[1., 1.],
           [1., 1.]])
    """
    if method not in METHODS:
        raise ValueError(
            "The 'method' parameter of repair_spectrum must be one of "
            f"{', '.join(map(repr, METHODS))}. Got {method!r} instead."
        )
    if method == "square":
        return G @ G.T, np.eye(len(G))
    eigenvalues, U = linalg.eigh(G)
    if method == "shift":
        shift = max(0.0, -float(eigenvalues[0]))
        return G + shift * np.eye(len(G)), np.array(shift)
    sizes = np.abs(eigenvalues)
    keep = sizes > NO_SIGNAL * sizes.max(initial=0.0)
    if method == "clip":
        keep &= eigenvalues > 0
    U, sizes = U[:, keep], sizes[keep]
    return (U * sizes) @ U.T, (U / sizes) @ U.T


@dataclass
class SpectrumRepair(KernelAround):
    r"""A kernel made from a similarity that is not one: negative eigenvalues are removed.

    Similarities based on alignments (:class:`DTWKernel`, local alignment scores) have Gram matrices
    with negative eigenvalues. The spectrum is repaired on the training objects; new objects are
    mapped accordingly, see :func:`repair_spectrum`, so that training and new objects live in one
    feature space.

    Parameters
    ----------
    base : kernel
        The similarity, symmetric.
    method : {"clip", "flip", "shift", "square"}, default="clip"
        Set negative eigenvalues to zero, make them positive, add a constant to all, or square the
        matrix. A shift adds :math:`|\lambda_{\min}|` if two objects are equal, and does not give
        a kernel on new objects.
    center : bool, default=False
        Centre the similarity with the means of the training objects first, as is needed for
        distances (:class:`DistanceKernel` with ``form="squared"``).

    Notes
    -----
    The eigendecomposition of the training matrix is O(n³), once: estimators of this library keep
    the repaired kernel as ``kernel_``. A new object is compared with all training objects.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import DTWKernel, SpectrumRepair
    >>> X = np.random.default_rng(0).normal(size=(30, 8))
    >>> bool(np.linalg.eigvalsh(DTWKernel(0.1)(X)).min() < -0.01)
    True
    >>> bool(np.linalg.eigvalsh(SpectrumRepair(DTWKernel(0.1))(X)).min() > -1e-12)
    True
    """

    __module__ = "isthmus.kernels"

    base: Kernel
    method: str = field(default="clip", kw_only=True)
    center: bool = field(default=False, kw_only=True)
    inherits = frozenset({"sequences", "series", "graphs"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "method": choice(*METHODS),
        "center": boolean,
    }

    def check(self, X: Objects) -> Objects:
        if self.base.pairwise:
            raise TypeError(
                "SpectrumRepair needs similarities between any two objects: give the matrix of all "
                "of them to Precomputed(matrix), and indices as objects."
            )
        return super().check(X)

    def resolve(self, X: Objects) -> "Kernel":
        check_choice(self.method, "method", self, METHODS)
        base = self.base.resolve(X)
        G = base.gram(X, X)
        G = (G + G.T) / 2
        means = G.mean(axis=0) if self.center else np.zeros(len(G))
        if self.center:
            G = G - means - means[:, None] + means.mean()
        return RepairedKernel(
            base, self.method, self.center, X, means, repair_spectrum(G, self.method)[1]
        )

    def gram(self, X: Objects, Z: Objects) -> Array:
        return self.resolve(Z).gram(X, Z)

    def diag(self, X: Objects) -> Array:
        """``k(x, x)`` with these objects as the training objects."""
        X = self.check(X)
        return self.resolve(X).diag(X)


@dataclass(eq=False, repr=False)
class RepairedKernel(KernelAround):
    """A :class:`SpectrumRepair` that has seen its training objects."""

    base: Kernel
    method: str
    center: bool
    objects: Objects
    means: Array
    weights: Array
    inherits = frozenset({"sequences", "series", "graphs"})

    def __repr__(self) -> str:
        return f"SpectrumRepair(base={self.base!r}, method={self.method!r}, center={self.center})"

    def _rows(self, X: Objects, Z: Objects) -> Array:
        """Similarities, centred as the training matrix was; ``Z`` are the training objects."""
        G = self.base.gram(X, Z)
        if self.center:
            G = G - G.mean(axis=1)[:, None] - self.means + self.means.mean()
        return G

    def gram(self, X: Objects, Z: Objects) -> Array:
        if self.method == "shift":
            return self._shift(X, Z)
        left = self._rows(X, self.objects)
        right = left if Z is X else self._rows(Z, self.objects)
        return left @ self.weights @ right.T

    def _shift(self, X: Objects, Z: Objects) -> Array:
        K = self.base.gram(X, Z)
        if self.center:
            K = K - self._means_of(X)[:, None] - self._means_of(Z) + self.means.mean()
        return K + self.weights * Delta().gram([_key(x) for x in X], [_key(z) for z in Z])

    def _means_of(self, X: Objects) -> Array:
        if X is self.objects:
            return self.means
        return np.asarray(self.base.gram(X, self.objects).mean(axis=1))

    def diag(self, X: Objects) -> Array:
        X = self.check(X)
        if self.method == "shift":
            own = np.array(self.base.diag(X))
            if self.center:
                own = own - 2 * self._means_of(X) + self.means.mean()
            return own + self.weights
        rows = self._rows(X, self.objects)
        return np.einsum("ij,ij->i", rows @ self.weights, rows)


def _key(item: Any) -> Hashable:
    """Objects of equal content have equal keys."""
    if isinstance(item, (np.ndarray, list)):
        array = np.asarray(item)
        return (array.shape, array.tobytes()) if array.dtype != object else tuple(item)
    return item if isinstance(item, Hashable) else id(item)
