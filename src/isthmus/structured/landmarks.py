r"""Ridge regression of many rows on kernel values with few of them.

With landmarks :math:`x_1,\dots,x_m`, :math:`K_{mm}=U\Lambda U^\top` and features
:math:`\varphi(x)=\Lambda^{-1/2}U^\top k_m(x)` (Nyström), ridge regression on the centred features
needs the sums :math:`\Phi^\top\Phi` and :math:`\Phi^\top G` alone; in the axes of the former each
penalty is a division. No n × n matrix is formed, and sparse inputs stay sparse.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg, sparse

from isthmus.blocks.slices import block_slices
from isthmus.kernels.objects import n_objects, take
from isthmus.structured.inputs_kernel import gram_matrix
from isthmus.typing import Array, IntArray

POWERS = np.arange(-7, 1.01, 0.5)


class LandmarkRidge:
    """A smoother on landmarks; ``choose`` takes the penalty of least left-out error.

    ``sums_to_one``: a constant is fitted. With as many landmarks as rows it is kernel ridge
    regression.
    """

    sums_to_one = True
    provides = frozenset({"vectors", "predict", "several_outputs", "weights"})

    def __init__(self, kernel: Any, n_landmarks: int, random_state: int = 0):
        self.kernel_, self.n_landmarks = kernel, n_landmarks
        self.random_state = random_state

    def fit(self, X: Any, G: Any) -> "LandmarkRidge":
        """Collect the sums; return self. The penalty is the middle one until chosen."""
        n = n_objects(X)
        rng = np.random.default_rng(self.random_state)
        chosen = np.sort(rng.permutation(n)[: self.n_landmarks])
        self.landmarks_, self.X_ = take(X, chosen), X
        eigenvalues, U = linalg.eigh(gram_matrix(self.kernel_, self.landmarks_, self.landmarks_))
        kept = eigenvalues > 1e-10 * max(float(eigenvalues[-1]), np.finfo(float).tiny)
        self._axes = U[:, kept] / np.sqrt(eigenvalues[kept])

        m = self._axes.shape[1]
        G = sparse.csr_array(G) if sparse.issparse(G) else np.asarray(G, dtype=np.float64)
        total, square, across = np.zeros(m), np.zeros((m, m)), np.zeros((m, G.shape[1]))
        for rows in self._blocks(X):
            P = self._features(take(X, rows))
            total += P.sum(axis=0)
            square += P.T @ P
            across += np.asarray(_dense(G[rows].T @ P)).T
        self._n, self._center = n, total / n
        self._g_mean = np.asarray(_dense(G.sum(axis=0))).ravel() / n
        self._mu, V = linalg.eigh(square - np.outer(total, total) / n)
        np.maximum(self._mu, 0, out=self._mu)
        self._axes = self._axes @ V
        self._center = self._center @ V
        self._across = V.T @ (across - np.outer(total, self._g_mean))
        unit = float(self._mu.sum()) / n
        self.alphas_ = [unit * 10.0**p for p in POWERS]
        self.alpha_ = self.alphas_[len(POWERS) // 2]
        return self

    def choose(self, rows: IntArray, G: Any, error: Callable[[Array], float]) -> "LandmarkRidge":
        """Take the penalty with the least error of the left-out predictions of some rows."""
        errors = [error(self.left_out(rows, G, alpha)) for alpha in self.alphas_]
        self.alpha_ = self.alphas_[int(np.argmin(errors))]
        self.loo_error_ = float(np.min(errors))
        return self

    def left_out(self, rows: IntArray, G: Any, alpha: float) -> Array:
        """Predicted columns of some training rows, each left out by itself."""
        P = self._psi(take(self.X_, rows))
        own = np.asarray(_dense(G[rows]), dtype=np.float64)
        leverage = 1 / self._n + P**2 @ (1 / (self._mu + alpha))
        fitted = self._g_mean + (P / (self._mu + alpha)) @ self._across
        leverage = np.minimum(leverage, 1 - 1e-10)[:, None]
        return (fitted - leverage * own) / (1 - leverage)

    def choose_by_weights(self, rows: IntArray, error: Callable[[Array], float]) -> "LandmarkRidge":
        """The same where the error is one of left-out weights over all training rows."""
        P, errors = self._psi(take(self.X_, rows)), []
        every = np.concatenate([self._psi(take(self.X_, part)) for part in self._blocks(self.X_)])
        for alpha in self.alphas_:
            W = 1 / self._n + (P / (self._mu + alpha)) @ every.T
            places = np.arange(len(rows)), rows
            W /= (1 - np.minimum(W[places], 1 - 1e-10))[:, None]
            W[places] = 0.0
            errors.append(error(W))
        self.alpha_ = self.alphas_[int(np.argmin(errors))]
        self.loo_error_ = float(np.min(errors))
        return self

    def predict(self, X: Any) -> Array:
        """The columns at new inputs."""
        C = self._across / (self._mu + self.alpha_)[:, None]
        blocks = [self._psi(take(X, rows)) @ C for rows in self._blocks(X)]
        return np.concatenate(blocks) + self._g_mean

    def smooth(self, X: Any, G: Any) -> Array:
        """The same for other columns."""
        found = self.weights(X) @ G
        return np.asarray(_dense(found))

    def weights(self, X: Any) -> Array:
        """Weights (n, n_train) of the training outputs."""
        P = self._psi(X) / (self._mu + self.alpha_)
        blocks = [P @ self._psi(take(self.X_, rows)).T for rows in self._blocks(self.X_)]
        return np.concatenate(blocks, axis=1) + 1 / self._n

    def _features(self, X: Any) -> Array:
        return gram_matrix(self.kernel_, X, self.landmarks_) @ self._axes

    def _psi(self, X: Any) -> Array:
        return self._features(X) - self._center

    def _blocks(self, X: Any) -> Any:
        return block_slices(n_objects(X), 2 * n_objects(self.landmarks_))


def _dense(A: Any) -> Any:
    return A.toarray() if sparse.issparse(A) else A
