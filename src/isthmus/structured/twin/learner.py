"""Kernels of both sides learned together, so that they depend most."""

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import check_length
from isthmus._estimator import Estimator
from isthmus._parameters import (
    Constraint,
    boolean,
    choice,
    integer,
    real,
    resolved_by,
    seed,
    several,
)
from isthmus._warnings import warn
from isthmus.blocks.sampling import sample_rows
from isthmus.kernels.algebra.polynomials import values_at_one
from isthmus.kernels.algebra.transformed import SCALINGS, Transformed
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import check_collection, n_objects, take
from isthmus.kernels.resolve import as_kernel
from isthmus.structured.twin.learner_formulas import (
    aligned_pair,
    alignment,
    leading_pair,
    nonnegative_pair,
    term_products,
)
from isthmus.typing import Array

PUBLISHED_INDICES = (0.51, 0.52)


DEGREES = integer(1) | several(integer(1))
A_KERNEL = resolved_by(as_kernel, "a kernel, its name or a callable")


class TwinKernelLearner(Estimator):
    r"""Polynomials of both kernels under which inputs and outputs depend on each other most.

    With :math:`C_{ij}=\mathrm{HSIC}(P_i(K),P_j(G))`,

    .. math:: \max_{a,b\ge0}\ a^\top Cb\quad\text{with}\quad\|a\|=\|b\|=1,\qquad
              \phi=\sum_ia_iP_i,\quad\psi=\sum_jb_jP_j

    [Tonde2016]_. Where :math:`C\ge0`, as it is for powers, the leading singular pair of
    :math:`C` is the answer; elsewhere an alternating method that keeps the signs.

    Parameters
    ----------
    x_degree, y_degree : int or sequence of int, default=11
        Largest degrees. Of a sequence, the one with the largest alignment on left-out folds;
        inside a :class:`TwinGaussianProcess`, the one with the smallest error of prediction.
    basis : {"monomial", "gegenbauer"}, default="monomial"
        Powers always give kernels. Gegenbauer polynomials of a Gaussian do not: see ``validity``.
    x_kernel, y_kernel : kernel or name, default="gaussian"
        Of unit diagonal, such as the Gaussian.
    criterion : {"hsic", "alignment"}, default="hsic"
        The published criterion favours terms of large norm, and so narrow kernels; the alignment
        divides by the norms of both sides.
    solver : {"auto", "svd", "power"}, default="auto"
        Of ``"hsic"``: the singular pair, the non-negative iteration, or the first where
        :math:`C\ge0`. ``"svd"`` alone may give negative coefficients.
    lam : float or pair of float, default=(0.51, 0.52)
        Indices of the Gegenbauer polynomials of inputs and outputs; the default as published.
    scaling : {"unit", "raw", "orthonormal"}, default="unit"
        Of the Gegenbauer polynomials, as in :class:`isthmus.kernels.Transformed`.
    normalize : bool, default=True
        Scale the coefficients so that :math:`\phi(1)=\psi(1)=1`, which leaves the noise of a
        process its meaning. False keeps unit length, as published.
    validity : {"auto", "refuse", "clip", "ignore"}, default="auto"
        What :class:`~isthmus.kernels.Transformed` does where the polynomial does not make a kernel;
        "auto" clips its spectrum and says so.
    max_rows : int, default=2000
        Maximum number of pairs on which coefficients are learned.
    cv : int, default=3
        Folds for the choice of degrees.
    random_state : int, RandomState instance or None, default=0

    Attributes
    ----------
    x_coefficients_, y_coefficients_ : ndarray of shape (degree,)
    x_kernel_, y_kernel_ : kernels
        The learned kernels, with their widths resolved.
    x_degree_, y_degree_ : int
    C_ : ndarray of shape (x_degree, y_degree)
        HSIC of all pairs of terms, V-statistics.
    objective_ : float
        HSIC, or alignment, of the two learned kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.structured import TwinKernelLearner
    >>> x = np.linspace(0, 1, 80)
    >>> learner = TwinKernelLearner(x_degree=3, y_degree=3).fit(x[:, None], np.sin(6 * x))
    >>> learner.x_kernel_  # doctest: +ELLIPSIS
    Transformed(base=Gaussian(gamma=...), coefficients=(...), basis='monomial', ...)
    >>> bool(np.all(learner.x_coefficients_ > 0)), round(float(sum(learner.x_coefficients_)), 6)
    (True, 1.0)
    """

    __module__ = "isthmus.structured"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "x_degree": DEGREES,
        "y_degree": DEGREES,
        "basis": choice("monomial", "gegenbauer"),
        "x_kernel": A_KERNEL,
        "y_kernel": A_KERNEL,
        "criterion": choice("hsic", "alignment"),
        "solver": choice("auto", "svd", "power"),
        "lam": real(0) | several(real(0), length=2),
        "scaling": choice(*SCALINGS),
        "normalize": boolean,
        "validity": choice("auto", "refuse", "clip", "ignore"),
        "max_rows": integer(2),
        "cv": integer(2),
        "random_state": seed,
    }

    def __init__(
        self,
        *,
        x_degree: Any = 11,
        y_degree: Any = 11,
        basis: str = "monomial",
        x_kernel: Any = "gaussian",
        y_kernel: Any = "gaussian",
        criterion: str = "hsic",
        solver: str = "auto",
        lam: Any = PUBLISHED_INDICES,
        scaling: str = "unit",
        normalize: bool = True,
        validity: str = "auto",
        max_rows: int = 2000,
        cv: int = 3,
        random_state: Any = 0,
    ):
        self.x_degree = x_degree
        self.y_degree = y_degree
        self.basis = basis
        self.x_kernel = x_kernel
        self.y_kernel = y_kernel
        self.criterion = criterion
        self.solver = solver
        self.lam = lam
        self.scaling = scaling
        self.normalize = normalize
        self.validity = validity
        self.max_rows = max_rows
        self.cv = cv
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "x_kernel_")

    def fit(self, X: Any, y: Any) -> "TwinKernelLearner":
        """Learn both polynomials from pairs of objects; return self."""
        x_kernel, y_kernel = as_kernel(self.x_kernel), as_kernel(self.y_kernel)
        X, Y = check_pairs(self, X, y, x_kernel, y_kernel)
        x_kernel, y_kernel = x_kernel.resolve(X), y_kernel.resolve(Y)
        x_degrees, y_degrees = degrees_of(self, "x_degree"), degrees_of(self, "y_degree")
        rows = sample_rows(n_objects(X), self.max_rows, check_random_state(self.random_state))
        K = x_kernel(take(X, rows))
        G = y_kernel(take(Y, rows))
        dx, dy = x_degrees[0], y_degrees[0]
        if len(x_degrees) * len(y_degrees) > 1:
            dx, dy = self._choose_degrees(K, G, x_degrees, y_degrees)
        products = self._products(K, G, dx, dy)
        a, b = self._coefficients(products, dx)
        if not (a.any() and b.any()):
            a, b = np.eye(dx)[0], np.eye(dy)[0]  # a constant side: nothing to learn
        C = products[:dx, dx:]
        objective = float(a @ C @ b)
        if self.criterion == "alignment":
            objective = alignment(products, a, b)
        if self.normalize:
            a, b = self._unit_value(a, 0), self._unit_value(b, 1)
        learned_x = self._transformed(x_kernel, a, 0, X)
        learned_y = self._transformed(y_kernel, b, 1, Y)
        self.x_kernel_, self.y_kernel_ = learned_x, learned_y
        self.x_coefficients_, self.y_coefficients_ = a, b
        self.x_degree_, self.y_degree_ = dx, dy
        self.C_, self.objective_ = C, objective
        return self

    def score(self, X: Any, y: Any) -> float:
        """Centred alignment of the two learned kernels on other pairs, in [-1, 1]."""
        check_is_fitted(self)
        X, Y = check_pairs(self, X, y, self.x_kernel_, self.y_kernel_, reset=False)
        one = np.ones(1)
        products = term_products(self.x_kernel_(X), self.y_kernel_(Y), 1, 1, None, None)
        return alignment(products, one, one)

    def _indices(self) -> tuple[float | None, float | None]:
        if self.basis == "monomial":
            return None, None
        pair = (self.lam, self.lam) if isinstance(self.lam, Real) else self.lam
        return float(pair[0]), float(pair[1])

    def _transformed(self, kernel: Kernel, coefficients: Array, side: int, X: Any) -> Kernel:
        learned = Transformed(
            kernel,
            tuple(float(c) for c in coefficients),
            basis=self.basis,
            lam=self._indices()[side],
            scaling=self.scaling,
            validity="refuse" if self.validity == "auto" else self.validity,
        )
        try:
            return learned.resolve(X)
        except ValueError:
            if self.validity != "auto":
                raise
        repaired = replace(learned, validity="clip").resolve(X)
        warn(
            f"The {self.basis} polynomial learned by TwinKernelLearner does not make a kernel of "
            f"{type(kernel).__name__}: only the positive part of its spectrum is kept. Take "
            "basis='monomial', or a larger lam; validity says what else can be done.",
            UserWarning,
        )
        return repaired

    def _products(self, K: Array, G: Array, dx: int, dy: int) -> Array:
        x_lam, y_lam = self._indices()
        products = term_products(K, G, dx, dy, x_lam, y_lam)
        scales = np.concatenate([self._values_at_one(dx, 0), self._values_at_one(dy, 1)])
        return products * np.outer(scales, scales)

    def _values_at_one(self, degree: int, side: int) -> Array:
        return values_at_one(degree, self._indices()[side], self.scaling)

    def _unit_value(self, coefficients: Array, side: int) -> Array:
        return coefficients / (coefficients @ self._values_at_one(len(coefficients), side))

    def _coefficients(self, products: Array, dx: int) -> tuple[Array, Array]:
        C = products[:dx, dx:]
        if self.criterion == "alignment":
            return aligned_pair(C, products[:dx, :dx], products[dx:, dx:])
        nonnegative = C.min() >= -1e-12 * np.abs(C).max()
        if self.solver == "svd" or (self.solver == "auto" and nonnegative):
            a, b = leading_pair(C)
            return (np.abs(a), np.abs(b)) if nonnegative else (a, b)
        return nonnegative_pair(C, np.random.default_rng(0))

    def _choose_degrees(
        self, K: Array, G: Array, x_degrees: list[int], y_degrees: list[int]
    ) -> tuple[int, int]:
        """The pair of degrees with the largest mean alignment on left-out folds."""
        top_x, top_y = max(x_degrees), max(y_degrees)
        folds = KFold(self.cv, shuffle=True, random_state=0)
        scores = np.zeros((len(x_degrees), len(y_degrees)))
        for train, test in folds.split(K):
            known, new = (
                self._products(K[np.ix_(part, part)], G[np.ix_(part, part)], top_x, top_y)
                for part in (train, test)
            )
            for i, dx in enumerate(x_degrees):
                for j, dy in enumerate(y_degrees):
                    # The products of lower degrees are a corner of those of the largest.
                    keep = np.r_[0:dx, top_x : top_x + dy]
                    corner = np.ix_(keep, keep)
                    a, b = self._coefficients(known[corner], dx)
                    scores[i, j] += alignment(new[corner], a, b)
        best_x, best_y = divmod(int(scores.argmax()), len(y_degrees))
        return x_degrees[best_x], y_degrees[best_y]


def check_pairs(
    estimator: Any, X: Any, y: Any, x_kernel: Kernel, y_kernel: Kernel, *, reset: bool = True
) -> tuple[Any, Any]:
    """Inputs and outputs in the form that their kernels compute with, equally many."""
    name = type(estimator).__name__
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    for side, kernel in (("x_kernel", x_kernel), ("y_kernel", y_kernel)):
        if kernel.pairwise:
            raise ValueError(
                f"{name} cannot take rows of a Gram matrix, which do not hold k(x, x) of new "
                f"objects. Give the matrix to {side}=Precomputed(matrix) and indices as objects."
            )
    X = check_collection(estimator, X, x_kernel, reset=reset)
    Y = check_collection(estimator, y, y_kernel, reset=None)
    check_length(estimator, n_objects(X), n_objects(Y), what="outputs as inputs")
    return as_double(X), as_double(Y)


def as_double(X: Any) -> Any:
    """Arrays of single precision in double; anything else as it is."""
    # Inverses of Gram matrices have no digits to spare.
    return X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X


def degrees_of(estimator: Any, name: str) -> list[int]:
    """The degrees that a parameter offers."""
    return _as_degrees(getattr(estimator, name))


def _as_degrees(value: Any) -> list[int]:
    values = [value] if isinstance(value, (Integral, np.integer)) else value
    return [int(v) for v in values]


def leaves_kernels(learner: TwinKernelLearner, degrees: Mapping[str, Any]) -> bool:
    """Whether whatever is learned leaves both kernels as they are: one term each, of value one.

    Where ``degrees`` names a degree, it takes the place of the learner's own.
    """
    if learner.basis != "monomial" or not learner.normalize:
        return False
    names = ("x_degree", "y_degree")
    return all(_as_degrees(degrees.get(name, getattr(learner, name))) == [1] for name in names)


def untransformed(kernel: Kernel) -> Kernel:
    """The base of a learned kernel that is nothing else, and computes faster."""
    if isinstance(kernel, Transformed) and kernel.unit_coefficients() == ((1.0,), None):
        return kernel.base
    return kernel
