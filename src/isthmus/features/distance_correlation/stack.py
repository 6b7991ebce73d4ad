"""A regression for the map of new rows that mixes several, each where it is worth something."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.model_selection import KFold, cross_val_predict

from isthmus.features.distance_correlation import mapping as relevance
from isthmus.kernels.vectors.laplacian import Laplacian
from isthmus.kernels.vectors.width import median_distance
from isthmus.regression.ridge.estimator import DEFAULT_ALPHAS, KernelRidgeCV
from isthmus.typing import Array

N_FOLDS = 5
N_TREES = 50
# Weights are means over so many random parts, each a tenth of the rows where that is enough.
N_DRAWS, PARTS, ROWS_PER_MEMBER = 100, 10, 4
# Slopes of so many leading combinations of outputs tell the directions that matter.
MAX_OUTPUTS = 8
# Directions along which slopes are smaller than this share of the largest are dropped.
LEAST_SLOPE = 1e-6


class StackedRegression(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Weighted mean of several regressions, :math:`\hat y(x)=\sum_mw_mf_m(x)`.

    The weights fit left-out predictions of the training rows in least squares, so a regression
    that follows its training outputs too closely gets little. They are means of the best weights
    on many small parts of the rows: where parts agree they are those of all rows, and where
    noise or a few large outputs decide, they stay near equal. By default
    the members are :class:`RelevanceRidge` with Gaussian and with Laplacian kernels,
    :class:`SlopeRidge`, :class:`DirectionRidge` and extremely randomised trees: smooth functions
    of relevant columns, of directions that vary, of few correlated directions, and steps.

    Members choose their kernels and penalties once, on all rows; they are kept in the folds.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(100, 3))
    >>> model = StackedRegression().fit(X[:80], X[:80, 0] * X[:80, 1])
    >>> len(model.weights_), bool(model.score(X[80:], X[80:, 0] * X[80:, 1]) > 0.95)
    (5, True)
    """

    def __init__(self, members: Any = None, *, weights: Any = None):
        self.members = members
        self.weights = weights

    def fit(self, X: Array, T: Array) -> "StackedRegression":
        """Fit the members, and weights unless they are given; return self."""
        T = np.asarray(T)
        members = default_members(len(X)) if self.members is None else self.members
        fitted = [clone(member).fit(X, T) for member in members]
        self._shape = T.shape[1:]
        self.weights_ = np.asarray(
            stack_weights(fitted, X, T) if self.weights is None else self.weights
        )
        self.members_ = fitted
        return self

    def predict(self, X: Array) -> Array:
        """Return the outputs for ``X``."""
        shape = (len(X), *self._shape)
        total = np.zeros(shape)
        for weight, member in zip(self.weights_, self.members_, strict=True):
            if weight > 0:
                total += weight * np.reshape(member.predict(X), shape)
        return total

    def settled(self) -> "StackedRegression":
        """An unfitted copy with the weights, and what members chose, fixed."""
        return StackedRegression(tuple(map(settled, self.members_)), weights=self.weights_)


def default_members(n_rows: int) -> tuple[Any, ...]:
    """Unfitted regressions of different kinds; trees see a part of many rows each."""
    most = {"bootstrap": True, "max_samples": relevance.MAX_ROWS}
    return (
        relevance.RelevanceRidge(),
        relevance.RelevanceRidge(powers=LAPLACIAN_POWERS, kernels=LAPLACIANS),
        SlopeRidge(),
        DirectionRidge(),
        ExtraTreesRegressor(
            N_TREES,
            max_features=1 / 3,
            random_state=0,
            **(most if n_rows > relevance.MAX_ROWS else {}),
        ),
    )


def stack_weights(fitted: list[Any], X: Array, T: Array) -> Array:
    """Mean of the best weights on random parts of the rows, of left-out predictions."""
    if len(X) < 2 * N_FOLDS:  # too few to tell
        return np.full(len(fitted), 1 / len(fitted))
    rng = np.random.default_rng(0)
    if len(X) > relevance.MAX_ROWS:
        rows = rng.choice(len(X), relevance.MAX_ROWS, replace=False)
        X, T = X[rows], T[rows]
    folds = KFold(N_FOLDS, shuffle=True, random_state=0)
    errors = np.stack(
        [
            cross_val_predict(settled(member), X, T, cv=folds).reshape(T.shape) - T
            for member in fitted
        ],
        axis=-1,
    )
    return averaged_weights(errors.reshape(len(X), -1, len(fitted)), rng)


def averaged_weights(errors: Array, rng: np.random.Generator) -> Array:
    """Mean of the best weights on random parts of the rows; errors are (n, outputs, members)."""
    n, _, n_members = errors.shape
    size = min(n, max(n // PARTS, ROWS_PER_MEMBER * n_members))
    parts = (rng.choice(n, size, replace=False) for _ in range(N_DRAWS))
    draws = [convex_weights(errors[part].reshape(-1, n_members)) for part in parts]
    return np.asarray(np.mean(draws, axis=0))


def convex_weights(errors: Array) -> Array:
    r"""Weights :math:`w\ge0`, :math:`\sum_mw_m=1` of least :math:`\|Ew\|^2`; E is (n, members).

    >>> import numpy as np
    >>> convex_weights(np.array([[1.0, -1.0], [1.0, -1.0]])).round(6)
    array([0.5, 0.5])
    """
    # The solution of: least squares for Ew = 0 and 1'w = 1, w >= 0, brought to the sum one.
    E = errors / max(float(np.linalg.norm(errors)), np.finfo(float).tiny)
    w = nnls(np.vstack([E, np.ones(E.shape[1])]), np.r_[np.zeros(len(E)), 1.0])[0]
    return np.asarray(w / w.sum())


def settled(fitted: Any) -> Any:
    """An unfitted copy, with what was chosen by the data fixed where a regression can tell."""
    return fitted.settled() if hasattr(fitted, "settled") else clone(fitted)


@dataclass
class ScaledLaplacian(Laplacian):
    """A Laplacian whose width is a multiple of the median distance."""

    scale: float = 1.0

    def resolve(self, X: Array) -> Laplacian:
        return Laplacian(1.0 / (self.scale * median_distance(X, "cityblock")))


# The width of a Laplacian matters little once the penalty is chosen: few are enough.
LAPLACIANS = (ScaledLaplacian(scale=4.0), ScaledLaplacian(scale=1.0))
LAPLACIAN_POWERS = (0.0, 1.0)


class SlopeRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Kernel ridge in the metric of its own slopes.

    Of a regression :math:`f` the mean outer product of gradients
    :math:`M=\frac1n\sum_i\nabla f(x_i)\nabla f(x_i)^\top` says along which directions it varies.
    Distances are then measured by :math:`(x-z)^\top M^{1/2}(x-z)`, and a new regression is
    fitted; ``n_steps`` times. It finds directions where :class:`RelevanceRidge` finds columns,
    as gradient-based kernel dimension reduction does [Fukumizu2014]_.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 10))
    >>> model = SlopeRidge().fit(X, np.sin(X[:, 0] + X[:, 1]))
    >>> np.abs(model.directions_[:, 0]).argsort()[-2:].tolist() in ([0, 1], [1, 0])
    True
    """

    def __init__(self, n_steps: int = 2, *, choices: Any = None, last: Any = None):
        self.n_steps = n_steps
        self.choices = choices
        self.last = last

    def fit(self, X: Array, T: Array) -> "SlopeRidge":
        """Alternate between regression and metric; return self."""
        few = X, T
        if len(X) > relevance.N_SELECTION:
            rows = np.random.default_rng(0).choice(len(X), relevance.N_SELECTION, replace=False)
            few = X[rows], T[rows]
        W: Array = np.eye(X.shape[1])
        chosen = []
        for step in range(self.n_steps):
            kernel, alpha = (
                (relevance.GAUSSIANS, DEFAULT_ALPHAS)
                if self.choices is None
                else self.choices[step]
            )
            Z = few[0] @ W
            model = KernelRidgeCV(kernel, alpha=alpha).fit(Z, few[1])
            chosen.append((model.kernel_, model.alpha_))
            W = slope_directions(slopes(model, Z, few[1]) @ W.T)
        last = relevance.RelevanceRidge(powers=(0.0,)) if self.last is None else clone(self.last)
        self.model_ = last.fit(X @ W, T)
        self.directions_, self.choices_ = W, chosen
        return self

    def predict(self, X: Array) -> Array:
        """Return the outputs for ``X``."""
        return np.asarray(self.model_.predict(X @ self.directions_))

    def settled(self) -> "SlopeRidge":
        """An unfitted copy with the kernels and penalties of all steps fixed."""
        return SlopeRidge(self.n_steps, choices=self.choices_, last=self.model_.settled())


def slopes(model: Any, Z: Array, T: Array) -> Array:
    r"""Gradients of a fitted Gaussian kernel ridge at its rows, (n · outputs, columns).

    .. math:: \nabla f(z_i)=2\gamma\sum_jc_jk(z_i,z_j)(z_j-z_i)
    """
    dual = np.reshape(model.dual_coef_, (len(Z), -1))
    if dual.shape[1] > MAX_OUTPUTS:
        dual = dual @ np.linalg.svd(T - T.mean(axis=0), full_matrices=False)[2][:MAX_OUTPUTS].T
    K = model.kernel_.gram(Z, Z)
    parts = []
    for c in dual.T:
        weighted = K * c
        parts.append(weighted @ Z - weighted.sum(axis=1)[:, None] * Z)
    return np.concatenate(parts)


def slope_directions(G: Array) -> Array:
    r"""Map to coordinates in which distances are those of :math:`(G^\top G)^{1/2}`, to scale."""
    s2, V = np.linalg.eigh(G.T @ G) if G.shape[1] <= len(G) else _leading(G)
    s = np.sqrt(np.maximum(s2[::-1], 0.0))
    if s[0] == 0:
        return np.eye(G.shape[1])
    keep = s > LEAST_SLOPE * s[0]
    return np.asarray(V[:, ::-1][:, keep] * np.sqrt(s[keep] / s[0]))


def _leading(G: Array) -> tuple[Array, Array]:
    """Eigenvalues of G'G that can differ from zero, increasing, where it is wider than long."""
    _, s, Vt = np.linalg.svd(G, full_matrices=False)
    return s[::-1] ** 2, Vt[::-1].T


class DirectionRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Kernel ridge on a few partial least-squares scores: few rows, many columns alike.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 1)) + 0.3 * rng.normal(size=(100, 50))
    >>> y = np.sin(X.mean(axis=1))
    >>> bool(DirectionRidge().fit(X[:50], y[:50]).score(X[50:], y[50:]) > 0.9)
    True
    """

    def __init__(self, n_components: int = 5, *, last: Any = None):
        self.n_components = n_components
        self.last = last

    def fit(self, X: Array, T: Array) -> "DirectionRidge":
        """Find directions and fit; return self."""
        d = min(self.n_components, X.shape[1], len(X) - 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # fewer directions explain everything
            self.projection_ = PLSRegression(d).fit(X, T)
        Z = self.projection_.transform(X)
        # Directions keep their relative spread; the kernel sets the scale.
        self.spread_ = float(Z.std(axis=0).max()) or 1.0
        last = relevance.RelevanceRidge(powers=(0.0,)) if self.last is None else clone(self.last)
        self.model_ = last.fit(Z / self.spread_, T)
        return self

    def predict(self, X: Array) -> Array:
        """Return the outputs for ``X``."""
        return np.asarray(self.model_.predict(self.projection_.transform(X) / self.spread_))

    def settled(self) -> "DirectionRidge":
        """An unfitted copy with kernel and penalty fixed."""
        return DirectionRidge(self.n_components, last=self.model_.settled())
