"""The compiled loop of the pose kernel with a Gaussian base."""

import numpy as np

from isthmus._compiled import njit


@njit
def gaussian_pose_functions(p, J, places, lam, gamma, B, values, slopes):
    """Fill values (m, r) and slopes (m, r, q) of sums of Gaussians of joint positions.

    Places ``p`` (m, k, 3) and their Jacobians ``J`` (m, k, 3, q) are compared with ``places``
    (k, n, 3), joint by joint with weights ``lam``; ``B`` (n, r) holds the coefficients.
    """
    m, n_places = p.shape[:2]
    n, r = B.shape
    q = J.shape[3]
    by_place = np.empty((r, 3))
    values[:] = 0.0
    slopes[:] = 0.0
    for i in range(m):
        for a in range(n_places):
            by_place[:] = 0.0
            for j in range(n):
                dx = p[i, a, 0] - places[a, j, 0]
                dy = p[i, a, 1] - places[a, j, 1]
                dz = p[i, a, 2] - places[a, j, 2]
                weight = lam[a] * np.exp(-gamma * (dx * dx + dy * dy + dz * dz))
                fall = -2 * gamma * weight
                for s in range(r):
                    values[i, s] += weight * B[j, s]
                    by_place[s, 0] += fall * B[j, s] * dx
                    by_place[s, 1] += fall * B[j, s] * dy
                    by_place[s, 2] += fall * B[j, s] * dz
            for s in range(r):
                for c in range(3):
                    for t in range(q):
                        slopes[i, s, t] += by_place[s, c] * J[i, a, c, t]
