"""Polynomials of a kernel."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from isthmus._checks import check_choice, check_float
from isthmus._parameters import Constraint, numbers
from isthmus.kernels.algebra.around import KernelAround
from isthmus.kernels.algebra.normalized import Normalized
from isthmus.kernels.algebra.polynomials import (
    is_kernel,
    polynomial,
    polynomial_slope,
    schoenberg_coefficients,
    values_at_one,
)
from isthmus.kernels.base import Kernel
from isthmus.kernels.vectors.dot import Linear
from isthmus.typing import Array, Objects

BASES = ("monomial", "gegenbauer")
SCALINGS = ("unit", "raw", "orthonormal")


@dataclass
class Transformed(KernelAround):
    r"""A polynomial of a kernel, :math:`\phi(k(x,z))=\sum_{i\ge1}a_iP_i(k(x,z))`.

    With powers, :math:`P_i(t)=t^i`, and :math:`a_i\ge0` it is a kernel for every base. For a
    Gaussian it is a sum of Gaussians with :math:`\gamma,2\gamma,\dots,d\gamma`. Gegenbauer
    polynomials take values in [-1, 1] and give a kernel only for points on a sphere of few
    dimensions: those of index :math:`\lambda` on the unit sphere of :math:`\mathbb R^r` if
    :math:`\lambda\ge(r-2)/2` [Schoenberg1942]_. The dimension of a Gaussian's features is not
    bounded, and hardly any Gegenbauer polynomial of a Gaussian is a kernel.

    Parameters
    ----------
    base : Kernel
        With unit diagonal for Gegenbauer polynomials: Gaussian, Laplacian, ``Normalized(...)``.
    coefficients : sequence of float, default=(1.0,)
        One per degree 1, 2, …; a constant term would be an intercept, ``+ Constant``.
    basis : {"monomial", "gegenbauer"}, default="monomial"
    lam : float or None, default=None
        Index of the Gegenbauer polynomials. None takes :math:`(r-2)/2`, the smallest valid one, if
        the base is an inner product of vectors; for other bases it must be given.
    scaling : {"unit", "raw", "orthonormal"}, default="unit"
        Gegenbauer polynomials that are one at one, as they are usually written, or of norm one on
        [-1, 1] for their weight :math:`(1-t^2)^{\lambda-1/2}`.
    validity : {"refuse", "clip", "ignore"}, default="refuse"
        What to do if the polynomial of this base is not a kernel, by the exact condition on its
        coefficients: refuse it; keep the positive part of its spectrum on the objects it is
        fitted on, :math:`k_+(x,z)=k(x,X)U_+\Lambda_+^{-1}U_+^\top k(X,z)`; or use it all the
        same, as published.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import Gaussian, Transformed
    >>> X = np.array([[0.0], [1.0]])
    >>> Transformed(Gaussian(1.0), (0.5, 0.5))(X).round(4)
    array([[1.    , 0.2516],
           [0.2516, 1.    ]])
    >>> bool(np.isclose(0.2516, (np.exp(-1) + np.exp(-2)) / 2, atol=1e-4))
    True
    """

    __module__ = "isthmus.kernels"

    base: Kernel
    coefficients: Any = (1.0,)
    basis: str = field(default="monomial", kw_only=True)
    lam: float | None = field(default=None, kw_only=True)
    scaling: str = field(default="unit", kw_only=True)
    validity: str = field(default="refuse", kw_only=True)
    inherits = frozenset({"gradient", "radial", "sequences", "series", "graphs"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "coefficients": numbers(1),
    }

    def resolve(self, X: Objects) -> Kernel:
        check_choice(self.basis, "basis", self, BASES)
        check_choice(self.scaling, "scaling", self, SCALINGS)
        check_choice(self.validity, "validity", self, ("refuse", "clip", "ignore"))
        self._check_coefficients()
        dimension = _sphere_dimension(self.base, X)
        fixed = replace(self, base=self.base.resolve(X), lam=self._index(dimension))
        if self.basis == "gegenbauer":
            _check_unit_diagonal(self, fixed.base, X)
        if self.validity == "ignore" or is_kernel(*fixed.unit_coefficients(), dimension):
            return fixed
        if self.validity == "clip":
            return positive_part_of(replace(fixed, validity="ignore"), X)
        raise ValueError(_refusal(fixed, dimension))

    def _check_coefficients(self) -> None:
        values = np.asarray(self.coefficients, dtype=np.float64)
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
            raise ValueError(
                "The 'coefficients' parameter of Transformed must be a sequence of finite floats, "
                f"one for each degree from 1. Got {self.coefficients!r} instead."
            )

    def _index(self, dimension: float) -> float | None:
        if self.basis == "monomial":
            return None
        if self.lam is not None:
            return check_float(self.lam, "lam", self)
        if np.isinf(dimension):
            raise ValueError(
                "The 'lam' parameter of Transformed must be given for a base whose features have "
                f"no bounded dimension. Got None for {self.base!r}."
            )
        return max((dimension - 2) / 2, 0.0)

    def unit_coefficients(self) -> tuple[tuple[float, ...], float | None]:
        """Coefficients of polynomials that are one at one, and their index."""
        values = tuple(float(a) for a in self.coefficients)
        if self.basis == "monomial":
            return values, None
        lam = float(self.lam)  # type: ignore[arg-type]
        scales = values_at_one(len(values), lam, self.scaling)
        return tuple(a * float(c) for a, c in zip(values, scales, strict=True)), lam

    def _values(self, T: Array, function: Any) -> Array:
        coefficients, lam = self.unit_coefficients()
        if lam is not None:
            # Rounding can give values beyond 1, where these polynomials grow fast.
            T = np.clip(T, -1, 1)
        result = np.empty_like(T)
        # Rows that stay in the cache from one degree to the next.
        step = max(1, 2**15 // max(1, T.shape[-1])) if T.ndim == 2 else len(T)
        for start in range(0, len(T), step):
            rows = slice(start, start + step)
            result[rows] = function(T[rows], coefficients, lam)
        return result

    def gram(self, X: Objects, Z: Objects) -> Array:
        return self._values(self.base.gram(X, Z), polynomial)

    def diag(self, X: Objects) -> Array:
        if self.basis == "gegenbauer" and self.lam is None:
            return self.resolve(X).diag(X)  # the index depends on the dimension of the objects
        return self._values(self.base.diag(X), polynomial)

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        T = self.base.gram(X, Z)
        return self.base.weighted_gradient(X, Z, W * self._values(T, polynomial_slope), T)

    def diag_gradient(self, X: Array) -> Array:
        slope = self._values(self.base.diag(X), polynomial_slope)
        return slope[:, None] * self.base.diag_gradient(X)

    def radial_weights(self, X: Array, Z: Array, K: Array | None = None) -> Array:
        T = self.base.gram(X, Z)
        return self._values(T, polynomial_slope) * self.base.radial_weights(X, Z, T)


@dataclass
class PositivePart(KernelAround):
    r"""The positive part of a similarity on reference objects, extended to all.

    With :math:`k(X,X)=U\Lambda U^\top` and :math:`R=U_+\Lambda_+^{-1/2}` an object has the
    features :math:`R^\top k(X,x)`; on the reference objects the Gram matrix is
    :math:`U_+\Lambda_+U_+^\top`. ``Transformed(..., validity="clip")`` resolves to it.
    """

    base: Kernel
    objects: Objects
    root: Array
    inherits = frozenset({"gradient", "sequences", "series", "graphs"})

    def _features(self, X: Objects) -> Array:
        return self.base.gram(X, self.objects) @ self.root

    def gram(self, X: Objects, Z: Objects) -> Array:
        F = self._features(X)
        return F @ (F if X is Z else self._features(Z)).T

    def diag(self, X: Objects) -> Array:
        F = self._features(self.check(X))
        return np.einsum("ij,ij->i", F, F)

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        weights = (W @ self._features(Z)) @ self.root.T
        return self.base.weighted_gradient(X, self.objects, weights)

    def diag_gradient(self, X: Array) -> Array:
        return 2 * self.base.weighted_gradient(X, self.objects, self._features(X) @ self.root.T)


def positive_part_of(kernel: Kernel, X: Objects) -> PositivePart:
    """Clip the negative eigenvalues that ``kernel`` has on the objects ``X``."""
    if kernel.pairwise:
        raise TypeError(
            "The spectrum of rows of a Gram matrix cannot be clipped for new objects: give the "
            "matrix to Precomputed(matrix), and indices as objects."
        )
    eigenvalues, U = linalg.eigh(kernel.gram(X, X))
    keep = eigenvalues > 1e-10 * eigenvalues[-1]
    return PositivePart(kernel, kernel.reference(X), U[:, keep] / np.sqrt(eigenvalues[keep]))


def _refusal(kernel: Transformed, dimension: float) -> str:
    found = schoenberg_coefficients(*kernel.unit_coefficients(), dimension)
    degree = int(np.argmin(found))
    if np.isinf(dimension):
        where, needed = "features of unbounded dimension", "in powers of the base"
    else:
        where = f"the unit sphere of {dimension:g} dimensions"
        needed = f"in Gegenbauer polynomials of index {max((dimension - 2) / 2, 0):g}"
    return (
        f"This Transformed is not a kernel on {where}: its coefficient {needed} is "
        f"{found[degree]:.3g} at degree {degree}, expected none below 0. Use powers with "
        'coefficients >= 0, a larger lam, validity="clip" to keep the positive part of the '
        'spectrum, or validity="ignore" to use it all the same.'
    )


def _sphere_dimension(base: Kernel, X: Objects) -> float:
    """Dimension of the space on whose unit sphere the features of ``base`` lie."""
    inner = base.base if isinstance(base, Normalized) else base
    return float(np.shape(X)[1]) if isinstance(inner, Linear) else np.inf


def _check_unit_diagonal(owner: Kernel, base: Kernel, X: Objects) -> None:
    diagonal = base.diag(X)
    worst = float(diagonal[np.argmax(np.abs(diagonal - 1))])
    if abs(worst - 1) > 1e-5:
        raise ValueError(
            f"{type(owner).__name__} with Gegenbauer polynomials needs a base with unit diagonal. "
            f"Got k(x, x) = {worst:.6g} from {base!r:.80}: use Normalized(...)."
        )
