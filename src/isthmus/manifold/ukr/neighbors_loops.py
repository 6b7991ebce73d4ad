"""Compiled loop of the neighbour embedding: pull neighbours together, push others apart."""

import numpy as np

from isthmus._compiled import njit

CLIP = 4.0  # no step is longer than this times the rate, as in [McInnes2018]


@njit(nogil=True, inline="always")
def _random(state, n):
    """Next number below ``n`` of a xorshift generator."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64(x % np.uint64(n))


@njit(nogil=True, error_model="numpy")
def descend(Z, head, tail, every, due, n_epochs, n_negative, rate, state):
    """Stochastic descent on the cross entropy of neighbourhoods; ``Z`` is changed in place.

    Edge ``e`` is drawn in every ``every[e]``-th epoch, first when it is ``due`` (which is changed
    too), with ``n_negative`` points that are pushed away; ``state`` holds the seed.
    Neighbourhoods in latent space are Student's: 1 / (1 + distance²).
    """
    n, q = Z.shape
    for epoch in range(n_epochs):
        alpha = rate * (1.0 - epoch / n_epochs)
        for e in range(len(head)):
            if due[e] > epoch:
                continue
            due[e] += every[e]
            i, j = head[e], tail[e]
            squared = 0.0
            for m in range(q):
                squared += (Z[i, m] - Z[j, m]) ** 2
            pull = -2.0 / (1.0 + squared)
            for m in range(q):
                step = alpha * min(max(pull * (Z[i, m] - Z[j, m]), -CLIP), CLIP)
                Z[i, m] += step
                Z[j, m] -= step
            for _ in range(n_negative):
                k = _random(state, n)
                if k == i:
                    continue
                squared = 0.0
                for m in range(q):
                    squared += (Z[i, m] - Z[k, m]) ** 2
                push = 2.0 / ((0.001 + squared) * (1.0 + squared))
                for m in range(q):
                    Z[i, m] += alpha * min(max(push * (Z[i, m] - Z[k, m]), -CLIP), CLIP)
