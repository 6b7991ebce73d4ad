"""Compiled loops of time warping and of weighted averages under it."""

import numpy as np

from isthmus._compiled import njit


@njit(nogil=True)
def warp(x, z, D):
    """Sum of squared differences along the best alignment of two series; ``D`` is filled."""
    n, m, d = x.shape[0], z.shape[0], x.shape[1]
    D[0, : m + 1] = np.inf
    D[: n + 1, 0] = np.inf
    D[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            here = 0.0
            for c in range(d):
                here += (x[i, c] - z[j, c]) ** 2
            D[i + 1, j + 1] = here + min(D[i, j], D[i, j + 1], D[i + 1, j])
    return D[n, m]


@njit(nogil=True)
def warp_matrix(x, x_starts, z, z_starts, out):
    """Fill ``out`` with the distances of all pairs."""
    n_max = z_max = 0
    for i in range(out.shape[0]):
        n_max = max(n_max, x_starts[i + 1] - x_starts[i])
    for j in range(out.shape[1]):
        z_max = max(z_max, z_starts[j + 1] - z_starts[j])
    D = np.empty((n_max + 1, z_max + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            a, b = x[x_starts[i] : x_starts[i + 1]], z[z_starts[j] : z_starts[j + 1]]
            out[i, j] = warp(a, b, D)


@njit(nogil=True)
def add_aligned(center, z, weight, D, sums, masses):
    """Add the elements of ``z`` to those of the centre that they meet."""
    warp(center, z, D)
    i, j = center.shape[0], z.shape[0]
    while i > 0 and j > 0:
        sums[i - 1] += weight * z[j - 1]
        masses[i - 1] += weight
        back = min(D[i - 1, j - 1], D[i - 1, j], D[i, j - 1])
        if D[i - 1, j - 1] == back:
            i -= 1
            j -= 1
        elif D[i - 1, j] == back:
            i -= 1
        else:
            j -= 1
