"""One length scale for each column of the inputs."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from isthmus._parameters import Constraint, choice, numbers
from isthmus.kernels.base import A_PART, Kernel
from isthmus.typing import Array


@dataclass
class ARD(Kernel):
    r"""Any kernel of vectors on columns with length scales of their own, :math:`k(x/\ell,z/\ell)`.

    With learned length scales this is automatic relevance determination: a column that carries no
    information about the targets gets a long one, and :math:`1/\ell_c` is the relevance of column
    :math:`c`. ``ARD(Gaussian(0.5))`` is
    :math:`\exp(-\frac12\sum_c(x_c-z_c)^2/\ell_c^2)`, ``ARD(Linear())`` is
    :math:`\sum_cx_cz_c/\ell_c^2`.

    Parameters
    ----------
    base : Kernel
        A kernel that compares vectors. When the length scales are learned, its own width stays
        fixed and its other parameters are learned too.
    length_scales : sequence of float or "std", default="std"
        One per column. ``"std"`` takes the standard deviations of the columns at fit time (1 for
        a constant column), so that the kernel does not depend on their units.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import ARD, Gaussian
    >>> k = ARD(Gaussian(0.5), length_scales=(1.0, 100.0))
    >>> k(np.array([[0.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])).round(4)
    array([[0.6065, 1.    ]])
    """

    __module__ = "isthmus.kernels"

    base: Kernel
    length_scales: Any = field(default="std", kw_only=True)
    inherits = frozenset({"gradient", "explicit"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "base": A_PART,
        "length_scales": choice("std") | numbers(1),
    }

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return (self.base,)

    @property
    def stationary(self) -> bool:  # type: ignore[override]
        return self.base.stationary

    def resolve(self, X: Array) -> "ARD":
        if not self.base.vectors:
            raise TypeError(
                f"ARD needs a kernel that compares vectors. Got {self.base!r:.60} instead."
            )
        if isinstance(self.length_scales, str):
            if self.length_scales != "std":
                raise ValueError(self._refusal())
            spread = np.std(X, axis=0, dtype=np.float64)
            spread[spread == 0] = 1.0
            scales = tuple(float(s) for s in spread)
        else:
            try:
                scales = tuple(float(s) for s in self.length_scales)
            except (TypeError, ValueError):
                raise ValueError(self._refusal()) from None
            if not all(np.isfinite(s) and s > 0 for s in scales):
                raise ValueError(self._refusal())
        if len(scales) != X.shape[1]:
            raise ValueError(
                f"ARD needs one length scale for each of {X.shape[1]} columns. Got {len(scales)}."
            )
        fixed = replace(self, length_scales=scales)
        return replace(fixed, base=self.base.resolve(fixed.stretch(X)))

    def _refusal(self) -> str:
        return (
            "The 'length_scales' parameter of ARD must be a sequence of positive floats, one for "
            f"each column, or 'std'. Got {self.length_scales!r} instead."
        )

    def stretch(self, X: Array) -> Array:
        """Rows in units of the length scales."""
        return X / np.asarray(self.length_scales, dtype=X.dtype)

    def _both(self, X: Array, Z: Array) -> tuple[Array, Array]:
        U = self.stretch(X)
        return U, U if Z is X else self.stretch(Z)

    def gram(self, X: Array, Z: Array) -> Array:
        return self.base.gram(*self._both(X, Z))

    def diag(self, X: Array) -> Array:
        X = self.check(X)
        kernel = self.resolve(X)
        return kernel.base.diag(kernel.stretch(X))

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        return self.stretch(self.base.weighted_gradient(*self._both(X, Z), W, K))

    def diag_gradient(self, X: Array) -> Array:
        return self.stretch(self.base.diag_gradient(self.stretch(X)))

    def explicit_features(self, X: Array) -> Array | None:
        return self.base.explicit_features(self.stretch(X))

    # The width of the base is one of the length scales already.

    @property
    def _n_widths(self) -> int:
        return int(self.base.width_power != 0)

    def log_parameters(self) -> Array:
        own = np.log(np.asarray(self.length_scales, dtype=np.float64))
        return np.concatenate([own, self.base.log_parameters()[self._n_widths :]])

    def with_log_parameters(self, theta: Array) -> "ARD":
        d = len(self.length_scales)
        width = self.base.log_parameters()[: self._n_widths]
        return replace(
            self,
            base=self.base.with_log_parameters(np.concatenate([width, theta[d:]])),
            length_scales=tuple(float(s) for s in np.exp(theta[:d])),
        )

    def parameter_gradient(self, X: Any, Z: Any, W: Array, K: Array | None = None) -> Array:
        U, V = self._both(X, Z)
        K = self.base.gram(U, V) if K is None else K
        by_scale = -self.base.stretch_gradient(U, V, W, K)
        if len(self.base.log_parameters()) == self._n_widths:
            return by_scale
        rest = self.base.parameter_gradient(U, V, W, K)[self._n_widths :]
        return np.concatenate([by_scale, rest])

    def diag_parameter_gradient(self, X: Any, w: Array) -> Array:
        U = self.stretch(X)
        by_scale = -(w @ (U * self.base.diag_gradient(U)))
        rest = self.base.diag_parameter_gradient(U, w)[self._n_widths :]
        return np.concatenate([by_scale, rest])
