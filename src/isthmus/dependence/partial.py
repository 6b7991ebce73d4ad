"""Dependence of two sides given a third: partial distance covariance, and a test."""

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from isthmus._checks import check_choice, check_float, check_int
from isthmus._door import with_door
from isthmus.dependence.distances import partial_correlation
from isthmus.dependence.null import permutation_pvalue
from isthmus.dependence.sides import as_table
from isthmus.dependence.testing import DependenceTest
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.linalg.ridge import RidgePath
from isthmus.linalg.threads import threads_for
from isthmus.typing import Array, Objects

# Widths in median distances, and penalties in units of the kernel's mean eigenvalue.
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
PENALTIES = np.logspace(-4, 3, 15)
# The least spread of residuals at any z, in units of its mean.
LEAST_SPREAD = 0.25


@with_door
def partial_distance_covariance(
    X: Objects, Y: Objects, Z: Objects, *, exponent: float = 1
) -> float:
    r"""Distance covariance of ``X`` and ``Y`` after what both share with ``Z`` is removed.

    .. math:: (A-\tfrac{A\cdot C}{C\cdot C}C)\cdot(B-\tfrac{B\cdot C}{C\cdot C}C)

    of the U-centred distance matrices :math:`A,B,C` of the three, with
    :math:`A\cdot B=\frac1{n(n-3)}\sum_{i\ne j}A_{ij}B_{ij}` [SzekelyRizzo2014]_. It is of the kind
    of a squared covariance and may be negative.

    Parameters
    ----------
    X, Y, Z : array-like with n rows
    exponent : float in (0, 2], default=1

    See Also
    --------
    partial_distance_correlation : the same without units.
    partial_independence_test : whether it is larger than what is due to ``Z``.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.dependence import distance_covariance, partial_distance_covariance
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(2, 50))
    >>> constant = np.zeros(50)  # nothing to remove
    >>> plain = distance_covariance(x, y, unbiased=True, squared=True)
    >>> bool(np.isclose(partial_distance_covariance(x, y, constant), plain))
    True
    """
    owner = "partial_distance_covariance"
    A, B, C = (u_centred(table, exponent) for table in _tables(X, Y, Z, exponent, owner))
    n = len(A)
    products = np.array([[np.vdot(a, b) for b in (A, B, C)] for a in (A, B, C)]) / (n * (n - 3))
    if products[2, 2] <= 1e-24 * max(np.vdot(A, A), np.vdot(B, B)):
        return float(products[0, 1])
    return float(products[0, 1] - products[0, 2] * products[1, 2] / products[2, 2])


@with_door
def partial_independence_test(
    X: Objects,
    Y: Objects,
    Z: Objects,
    *,
    method: str = "residuals",
    n_permutations: int = 199,
    exponent: float = 1,
    random_state: Any = None,
) -> DependenceTest:
    r"""Test whether ``X`` and ``Y`` depend on each other beyond what both owe to ``Z``.

    Both sides are regressed on ``Z`` (kernel ridge, width and penalty by leave-one-out), and so is
    the size of their residuals; the statistic is the bias-corrected squared distance correlation of
    the residuals in units of their spread at each z. Its distribution is that on data that are
    independent given ``Z`` but as dependent on it as these,

    .. math:: x^*=\hat f(z)+\hat s(z)\,e^x_\pi,\qquad y^*=\hat g(z)+\hat t(z)\,e^y_{\pi'} ,

    with two independent permutations of the residuals, and regressed again.

    Parameters
    ----------
    X, Y, Z : array-like with n rows
    method : {"residuals", "bootstrap", "permutation"}, default="residuals"
        ``"bootstrap"`` takes :func:`partial_distance_correlation` as statistic on the same data: it
        keeps its level too, and sees little where x and y owe most of their distances to z.
        ``"permutation"`` is the published test, which permutes the rows of one side
        [SzekelyRizzo2014]_; for comparison. Its statistic does not vanish under independence given
        z, and it does not keep its level.
    n_permutations : int, default=199
    exponent : float in (0, 2], default=1
    random_state : int, RandomState or None

    Returns
    -------
    DependenceTest

    Notes
    -----
    The level holds where residuals, in units of their spread, have the same distribution at every
    z, and where the regressions find the conditional means and spreads; few rows of rough functions
    break it. Residuals that share a spread depend on each other even where x and y do not depend
    given z, hence the units: without them 0.17 was seen at the level 0.05.
    ``python -m benchmarks.partial_tests`` prints levels and powers.
    O(n³ + n²B).

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.dependence import partial_independence_test
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=80)
    >>> x, y = z + 0.5 * rng.normal(size=(2, 80))
    >>> partial_independence_test(x, y, z, n_permutations=99, random_state=0).pvalue > 0.05
    True
    >>> partial_independence_test(x, y + x, z, n_permutations=99, random_state=0).pvalue
    0.01
    """
    owner = "partial_independence_test"
    check_choice(method, "method", owner, ("residuals", "bootstrap", "permutation"))
    check_int(n_permutations, "n_permutations", owner, low=1)
    rng = check_random_state(random_state)
    x, y, z = _tables(X, Y, Z, exponent, owner)
    C = u_centred(z, exponent)
    n = len(C)
    if method == "permutation":
        A, B = u_centred(x, exponent), u_centred(y, exponent)
        orders = [np.arange(n), *(rng.permutation(n) for _ in range(n_permutations))]
        values = [_partial(A[np.ix_(order, order)], B, C) for order in orders]
    else:
        with threads_for(4 / 3 * n**3):  # of its spectra; what follows are many small products
            values = _redrawn(x, y, z, C, method, n_permutations, exponent, rng)
    T = np.array(values)
    measure = "dcor of residuals" if method == "residuals" else "partial dcor"
    return DependenceTest(float(T[0]), permutation_pvalue(T), T[1:], measure, method)


def _redrawn(
    x: Array,
    y: Array,
    z: Array,
    C: Array,
    method: str,
    n_draws: int,
    exponent: float,
    rng: np.random.RandomState,
) -> list[float]:
    """The statistic of the data, then of draws that are independent given z."""
    sides = ConditionalMean.of(z, x), ConditionalMean.of(z, y)
    values = []
    for draw in range(n_draws + 1):
        pair = [x, y] if not draw else [side.draw(rng) for side in sides]
        if method == "residuals":
            pair = [side.residuals_of(rows) for side, rows in zip(sides, pair, strict=True)]
        A, B = (u_centred(rows, exponent) for rows in pair)
        values.append(_plain(A, B) if method == "residuals" else _partial(A, B, C))
    return values


def u_centred(X: Array, exponent: float) -> Array:
    """U-centred matrix of the distances between rows: rows sum to zero, and so does the diagonal.

    >>> import numpy as np
    >>> A = u_centred(np.arange(5.0)[:, None] ** 2, 1.0)
    >>> bool(np.allclose(A.sum(axis=0), 0)), bool(np.all(np.diag(A) == 0))
    (True, True)
    """
    E = cdist(X, X) ** exponent
    n = len(E)
    sums = E.sum(axis=0)
    A = E - (sums + sums[:, None]) / (n - 2) + sums.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(A, 0.0)
    return np.asarray(A)


class ConditionalMean(NamedTuple):
    """Outputs as values of a regression and residuals in units of their spread at each z.

    ``maker`` makes residuals of any outputs.
    """

    fitted: Array
    residuals: Array
    spread: Array
    maker: Array

    @classmethod
    def of(cls, Z: Array, Y: Array) -> "ConditionalMean":
        """By kernel ridge on ``Z``, of the outputs and of the size of their residuals."""
        maker, residuals = _regressed(Z, Y)
        size = np.abs(residuals)
        spread = size - _regressed(Z, size)[0] @ size
        # The regression may fall to zero or below where few rows are.
        spread = np.maximum(spread, LEAST_SPREAD * size.mean(axis=0))
        typical = np.sqrt(np.mean(spread**2, axis=0))
        spread = np.where(typical > 0, spread / np.where(typical > 0, typical, 1.0), 1.0)
        units = residuals / spread
        return cls(Y - maker @ Y, units - units.mean(axis=0), spread, maker)

    def residuals_of(self, Y: Array) -> Array:
        """What the regression leaves of outputs, in units of the spread."""
        return self.maker @ Y / self.spread

    def draw(self, rng: np.random.RandomState) -> Array:
        """Outputs with the same mean and spread at every z, and residuals in another order."""
        return self.fitted + self.spread * self.residuals[rng.permutation(len(self.residuals))]


def _regressed(Z: Array, Y: Array) -> tuple[Array, Array]:
    """The matrix that makes residuals of ridge on ``Z``, and those of ``Y``.

    Width and penalty have the least left-out error; outputs count in units of their spread. A
    residual of the fit is too small and a left-out one too large: the root of their product is
    neither.
    """
    spread, columns = Y.std(axis=0), Z.std(axis=0)
    T = (Y - Y.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    Z = Z / np.where(columns > 0, columns, 1.0)
    best: Any = None
    for width in WIDTHS:
        K = Gaussian(width_factor=width)(Z) if columns.any() else np.ones((len(Z), len(Z)))
        means = K.mean(axis=0)
        path = RidgePath(K - means - means[:, None] + means.mean(), T, intercept=True)
        unit = max(float(path.eigenvalues.mean()), 1e-12)
        for alpha in PENALTIES * unit:
            error = float(np.mean(path.loo_residuals(alpha) ** 2))
            if best is None or error < best[0]:
                best = error, path, alpha
    _, path, alpha = best
    maker = (path.U * (alpha / (path.eigenvalues + alpha))) @ path.U.T
    maker -= maker.mean(axis=1)[:, None]  # the constant is fitted too
    inside = maker @ Y
    outside = path.loo_residuals(alpha) * np.where(spread > 0, spread, 1.0)
    residuals = np.sign(inside) * np.sqrt(np.abs(inside * outside))
    return maker, residuals - residuals.mean(axis=0)


def _plain(A: Array, B: Array) -> float:
    """Correlation of two U-centred matrices; 0 for one without variation."""
    size = float(np.linalg.norm(A) * np.linalg.norm(B))
    return float(np.vdot(A, B)) / size if size > 0 else 0.0


def _partial(A: Array, B: Array, C: Array) -> float:
    """Partial correlation of three U-centred matrices; 0 for one without variation."""
    flat = [M / norm if (norm := np.linalg.norm(M)) > 0 else M for M in (A, B, C)]
    return partial_correlation(np.array([[np.vdot(a, b) for b in flat] for a in flat]))


def _tables(X: Any, Y: Any, Z: Any, exponent: float, owner: str) -> list[Array]:
    check_float(exponent, "exponent", owner, low=0.0, high=2.0, include_low=False)
    tables = [as_table(side, name=name) for side, name in zip((X, Y, Z), "XYZ", strict=True)]
    lengths = [len(table) for table in tables]
    if len(set(lengths)) > 1 or lengths[0] < 4:
        raise ValueError(
            f"{owner} needs X, Y and Z with the same number of rows, at least 4. Got {lengths}."
        )
    return tables
