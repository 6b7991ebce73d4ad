"""Where factorisations start."""

from typing import Any

import numpy as np
from sklearn.utils.extmath import randomized_svd

from isthmus.sparse.factorization.drivers import Factors
from isthmus.sparse.factorization.penalties import Penalty
from isthmus.typing import Array


def random_start(mean: float, shape: tuple[int, int], k: int, rng: np.random.Generator) -> Factors:
    """|N(0, 1)| entries, scaled so that products are of the size of the data."""
    scale = np.sqrt(max(mean, 0.0) / k)
    return Factors(*(scale * np.abs(rng.normal(size=(size, k))) for size in shape))


def svd_start(X: Any, k: int, mean: float, rng: np.random.Generator, *, fill: bool) -> Factors:
    """The larger signed half of each singular pair (NNDSVD, [Boutsidis2008]_).

    With ``fill``, zeros become the mean of the data (NNDSVDa): descent is then freer, and
    multiplicative updates can move at all.
    """
    U, s, Vt = randomized_svd(X, k, random_state=int(rng.integers(2**31 - 1)))
    W, V = np.empty((X.shape[0], k)), np.empty((X.shape[1], k))
    for j in range(k):
        halves = [(np.maximum(sign * U[:, j], 0), np.maximum(sign * Vt[j], 0)) for sign in (1, -1)]
        sizes = [np.linalg.norm(u) * np.linalg.norm(v) for u, v in halves]
        u, v = halves[int(np.argmax(sizes))]
        W[:, j], V[:, j] = _split_strength(u, v, s[j] * max(sizes))
    if fill:
        W[W == 0] = mean
        V[V == 0] = mean
    return Factors(W, V)


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
