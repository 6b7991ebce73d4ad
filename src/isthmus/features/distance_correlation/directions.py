"""Kernel ridge regression along a few directions of the inputs."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin, clone
from sklearn.cross_decomposition import PLSRegression

from isthmus._estimator import Estimator
from isthmus.blocks.sampling import sample_rows
from isthmus.features.distance_correlation import relevance
from isthmus.features.distance_correlation.relevance import SETTLED_REGRESSOR, RelevanceRidge
from isthmus.regression.ridge.estimator import DEFAULT_ALPHAS, KernelRidgeCV
from isthmus.typing import Array

# The slopes of this many leading combinations of outputs tell the directions that matter.
MAX_OUTPUTS = 8
# Directions along which slopes are smaller than this share of the largest are dropped.
SMALLEST_SLOPE = 1e-6


class SlopeRidge(MultiOutputMixin, RegressorMixin, Estimator):
    r"""Kernel ridge in the metric of its own slopes.

    For a regression :math:`f`, the mean outer product of gradients
    :math:`M=\frac1n\sum_i\nabla f(x_i)\nabla f(x_i)^\top` says along which directions it varies.
    Distances are then measured by :math:`(x-z)^\top M^{1/2}(x-z)`, and a new regression is
    fitted; ``max_iter`` times. It finds directions where :class:`RelevanceRidge` finds columns,
    as gradient-based kernel dimension reduction does [Fukumizu2014]_.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 10))
    >>> model = SlopeRidge().fit(X, np.sin(X[:, 0] + X[:, 1]))
    >>> np.abs(model.directions_[:, 0]).argsort()[-2:].tolist() in ([0, 1], [1, 0])
    True
    """

    provides = SETTLED_REGRESSOR

    def __init__(self, max_iter: int = 2, *, choices: Any = None, last: Any = None):
        self.max_iter = max_iter
        self.choices = choices
        self.last = last

    def fit(self, X: Array, T: Array) -> "SlopeRidge":
        """Alternate between regression and metric; return self."""
        part = sample_rows(len(X), relevance.N_SELECTION, sort=False)
        few = X[part], T[part]
        W: Array = np.eye(X.shape[1])
        chosen = []
        for i in range(self.max_iter):
            kernel, alpha = (
                (relevance.GAUSSIANS, DEFAULT_ALPHAS) if self.choices is None else self.choices[i]
            )
            Z = few[0] @ W
            model = KernelRidgeCV(kernel, alpha=alpha).fit(Z, few[1])
            chosen.append((model.kernel_, model.alpha_))
            W = slope_directions(slopes(model, Z, few[1]) @ W.T)
        last = RelevanceRidge(powers=(0.0,)) if self.last is None else clone(self.last)
        self.model_ = last.fit(X @ W, T)
        self.directions_, self.choices_ = W, chosen
        return self

    def predict(self, X: Array) -> Array:
        """Return the outputs for ``X``."""
        return np.asarray(self.model_.predict(X @ self.directions_))

    def settled(self) -> "SlopeRidge":
        """An unfitted copy with the kernels and penalties of all iterations fixed."""
        return SlopeRidge(self.max_iter, choices=self.choices_, last=self.model_.settled())


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
    r"""Map to coordinates in which distances are those of :math:`(G^\top G)^{1/2}`, up to scale."""
    s2, V = np.linalg.eigh(G.T @ G) if G.shape[1] <= len(G) else _leading_eigenpairs(G)
    s = np.sqrt(np.maximum(s2[::-1], 0.0))
    if s[0] == 0:
        return np.eye(G.shape[1])
    keep = s > SMALLEST_SLOPE * s[0]
    return np.asarray(V[:, ::-1][:, keep] * np.sqrt(s[keep] / s[0]))


def _leading_eigenpairs(G: Array) -> tuple[Array, Array]:
    """Eigenvalues of G'G that can differ from zero, increasing, where G is wider than long."""
    _, s, Vt = np.linalg.svd(G, full_matrices=False)
    return s[::-1] ** 2, Vt[::-1].T


class DirectionRidge(MultiOutputMixin, RegressorMixin, Estimator):
    """Kernel ridge on a few partial least-squares scores: for few rows and many similar columns.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 1)) + 0.3 * rng.normal(size=(100, 50))
    >>> y = np.sin(X.mean(axis=1))
    >>> bool(DirectionRidge().fit(X[:50], y[:50]).score(X[50:], y[50:]) > 0.9)
    True
    """

    provides = SETTLED_REGRESSOR

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
        last = RelevanceRidge(powers=(0.0,)) if self.last is None else clone(self.last)
        self.model_ = last.fit(Z / self.spread_, T)
        return self

    def predict(self, X: Array) -> Array:
        """Return the outputs for ``X``."""
        return np.asarray(self.model_.predict(self.projection_.transform(X) / self.spread_))

    def settled(self) -> "DirectionRidge":
        """An unfitted copy with kernel and penalty fixed."""
        return DirectionRidge(self.n_components, last=self.model_.settled())
