"""Ridge regression on landmarks whose penalty is chosen by a loss of decoded answers.

The formulas are those of :mod:`isthmus.regression.ridge.landmarks`. No n × n matrix is formed, and
sparse inputs and outputs stay sparse.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from isthmus.kernels.expansion import Expansion
from isthmus.kernels.landmarks import landmark_features
from isthmus.kernels.objects import n_objects, take
from isthmus.linalg.products import product
from isthmus.regression.ridge.landmarks import (
    LandmarkSmoother,
    LandmarkSystem,
    landmark_sums,
    row_slices,
)
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

    def fit(self, X: Any, G: Any, sample_weight: Array | None = None) -> "LandmarkRidge":
        """Collect the sums; return self. The penalty is the middle one until chosen."""
        rng = np.random.default_rng(self.random_state)
        chosen = np.sort(rng.permutation(n_objects(X))[: self.n_landmarks])
        G = sparse.csr_array(G) if sparse.issparse(G) else np.asarray(G, dtype=np.float64)
        features = landmark_features(self.kernel_, X, chosen, center=True, owner=self)
        self._system = LandmarkSystem(
            features, landmark_sums(features, X, G, sample_weight), center=True
        )
        self.X_, self.counts_ = X, sample_weight
        self._function: tuple[float, Array, Array] | None = None  # of the penalty that was chosen
        unit = float(self._system.mu.sum()) / self._system.count
        self.alphas_ = [unit * 10.0**p for p in POWERS]
        self.alpha_ = self.alphas_[len(POWERS) // 2]
        return self

    @property
    def landmarks_(self) -> Any:
        """The objects whose span is used."""
        return self._system.features.objects

    def choose(self, rows: IntArray, G: Any, error: Callable[[Array], float]) -> "LandmarkRidge":
        """Take the penalty with the least error of the left-out predictions of some rows."""
        P, own = self._system.axes(take(self.X_, rows)), _dense(G[rows])
        return self._best(
            lambda alpha: error(self._system.left_out(P, own, alpha, self._once(rows)))
        )

    def left_out(self, rows: IntArray, G: Any, alpha: float) -> Array:
        """Predicted columns of some training rows, each left out by itself."""
        P = self._system.axes(take(self.X_, rows))
        return self._system.left_out(P, _dense(G[rows]), alpha, self._once(rows))

    def _once(self, rows: IntArray) -> Array | None:
        return None if self.counts_ is None else self.counts_[rows]

    def choose_by_weights(self, rows: IntArray, error: Callable[[Array], float]) -> "LandmarkRidge":
        """The same where the error is one of left-out weights over all training rows."""
        system, places = self._system, (np.arange(len(rows)), rows)
        counts = np.ones(n_objects(self.X_)) if self.counts_ is None else self.counts_
        # Kernel values of all rows are dear where rows are words: once for all penalties.
        every = np.concatenate(
            [system.axes(take(self.X_, part)) for part in row_slices(self.X_, system.features)]
        )

        def left_out_error(alpha: float) -> float:
            W = product(every[rows] * system.shrinkage(alpha), every.T)
            W += 1 / system.count
            W *= counts
            leverage = np.minimum(W[places] / np.maximum(counts[rows], 1.0), 1 - 1e-10)
            W[places] -= leverage
            W /= (1 - leverage)[:, None]
            return error(W)

        return self._best(left_out_error)

    def _best(self, error: Callable[[float], float]) -> "LandmarkRidge":
        errors = [error(alpha) for alpha in self.alphas_]
        self.alpha_ = self.alphas_[int(np.argmin(errors))]
        self.loo_error_ = float(np.min(errors))
        return self

    def predict(self, X: Any) -> Array:
        """The columns at new inputs."""
        if self._function is None or self._function[0] != self.alpha_:
            self._function = self.alpha_, *self._system.function(self.alpha_)
        return self._expansion(*self._function[1:])(X)

    def smooth(self, X: Any, G: Any) -> Array:
        """The same for other columns."""
        return self._expansion(*self._smoother(self.alpha_).dual(G))(X)

    def weights(self, X: Any) -> Array:
        """Weights (n, n_train) of the training outputs."""
        return self._smoother(self.alpha_).weights_of(X)

    def _expansion(self, C: Array, offset: Array) -> Expansion:
        return Expansion(self.kernel_, self._system.features.objects, C, offset)

    def _smoother(self, alpha: float) -> LandmarkSmoother:
        return LandmarkSmoother(self._system, alpha, self.X_, self.counts_)


def _dense(A: Any) -> Array:
    return np.asarray(A.toarray() if sparse.issparse(A) else A, dtype=np.float64)
