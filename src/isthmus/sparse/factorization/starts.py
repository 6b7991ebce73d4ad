"""Where factorisations start."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.extmath import randomized_svd

from isthmus.sparse.factorization.drivers import Factors, alternate_extrapolated
from isthmus.sparse.factorization.penalties import Penalty
from isthmus.sparse.factorization.quadratic import Quadratic
from isthmus.typing import Array

# Columns of a sketch beyond the number of components.
OVERSAMPLING = 10
# A sketch is descended on first where its products are cheaper by this factor.
SKETCH_GAIN = 4
# How far: what is left is done on the data.
SKETCH_TOL, SKETCH_STEPS = 1e-3, 100


def random_start(mean: float, shape: tuple[int, int], k: int, rng: np.random.Generator) -> Factors:
    """|N(0, 1)| entries, scaled so that products are of the size of the data."""
    scale = np.sqrt(max(mean, 0.0) / k)
    return Factors(*(scale * np.abs(rng.normal(size=(size, k))) for size in shape))


@dataclass(frozen=True)
class LowRank:
    """A table ``left @ right.T`` of few columns, which stands in for one of the same shape."""

    left: Array
    right: Array

    @classmethod
    def of(cls, X: Any, rank: int, rng: np.random.Generator) -> "LowRank":
        """The leading singular triplets of ``X``, by a randomised sketch; largest first."""
        U, s, Vt = randomized_svd(
            X,
            rank,
            n_oversamples=0,
            n_iter=2,
            power_iteration_normalizer="LU",
            random_state=int(rng.integers(2**31 - 1)),
        )
        return cls(np.asarray(U * s, dtype=np.float64), np.asarray(Vt.T, dtype=np.float64))

    @property
    def dtype(self) -> Any:
        return self.left.dtype

    @property
    def T(self) -> "LowRank":
        return LowRank(self.right, self.left)

    def __matmul__(self, V: Array) -> Array:
        return self.left @ (self.right.T @ V)

    def squared_norm(self) -> float:
        return float(np.vdot(self.left.T @ self.left, self.right.T @ self.right))


def svd_start(sketch: LowRank, k: int, mean: float) -> Factors:
    """The larger signed half of each singular pair (NNDSVD, [Boutsidis2008]_), zeros filled.

    A zero of a factor becomes the root of the mean of the data over the number of components:
    descent is then freer, and multiplicative updates can move at all. (The mean itself, as in
    NNDSVDa, is in the units of the data and not of a factor: depending on them, components
    start so far above the data that the first step puts them to zero for good.)
    """
    (n, _), (d, _) = sketch.left.shape, sketch.right.shape
    W, V = np.empty((n, k)), np.empty((d, k))
    for j in range(k):
        u, v = sketch.left[:, j], sketch.right[:, j]
        halves = [(np.maximum(sign * u, 0), np.maximum(sign * v, 0)) for sign in (1, -1)]
        sizes = [float(np.linalg.norm(u) * np.linalg.norm(v)) for u, v in halves]
        W[:, j], V[:, j] = _split_strength(*halves[int(np.argmax(sizes))], max(sizes))
    fill = np.sqrt(max(mean, 0.0) / k)
    return Factors(np.where(W == 0, fill, W), np.where(V == 0, fill, V))


def is_short(sketch: LowRank, n_entries: int) -> bool:
    """Whether products with a sketch are much cheaper than with a table of so many entries."""
    return SKETCH_GAIN * (sketch.left.size + sketch.right.size) <= n_entries


def descend_on_sketch(
    sketch: LowRank, start: Factors, penalties: tuple[Penalty, Penalty]
) -> Factors:
    """Factors of a low-rank approximation of the data, from which few steps on the data remain.

    Its products cost O((n + d) k²) instead of O(n d k) [Zhou2012]_.
    """
    problem = Quadratic(sketch, "hals", penalties, sketch.squared_norm())
    course = alternate_extrapolated(
        problem, start, tol=SKETCH_TOL, max_iter=SKETCH_STEPS, report=lambda *_: None
    )
    return course.factors


def balance(start: Factors, penalties: tuple[Penalty, Penalty]) -> Factors:
    """The same products with the scale of each component where quadratic penalties are least.

    From another scale the first step under a heavy penalty would put whole components to zero,
    where they stay.
    """
    costs = []
    for F, p in zip(start, penalties, strict=True):
        costs.append(p.l2 * np.sum(F * F, axis=0) + p.squared_l1 * np.sum(F, axis=0) ** 2)
    if not all(cost.all() for cost in costs):
        return start
    scale = (costs[1] / costs[0]) ** 0.25
    return Factors(start.W * scale, start.V / scale)


def _split_strength(u: Array, v: Array, strength: float) -> tuple[Array, Array]:
    """Two directions with a common length, whose product has the given strength."""
    lengths = np.linalg.norm(u), np.linalg.norm(v)
    if not all(lengths):
        return np.zeros_like(u), np.zeros_like(v)
    return np.sqrt(strength) * u / lengths[0], np.sqrt(strength) * v / lengths[1]
