"""The compiled loop of the pose kernel with a Gaussian base."""

import numpy as np

from isthmus._compiled import njit


@njit
def gaussian_pose_functions(p, J, joints, places, lam, gamma, B, values, slopes):
    """Fill values (m, r) and slopes (m, r, q) of sums of Gaussians of joint positions.

    Of positions ``p`` (m, q, 3) and their Jacobians ``J`` (m, q, 3, q) those of k ``joints`` are
    compared with ``places`` (k, n, 3), with weights ``lam``; ``B`` (n, r) holds the coefficients.
    """
    m, n_places = len(p), len(joints)
    n, r = B.shape
    q = J.shape[3]
    by_place = np.empty((r, 3))
    values[:] = 0.0
    slopes[:] = 0.0
    for i in range(m):
        for a in range(n_places):
            by_place[:] = 0.0
            at = joints[a]
            x, y, z = p[i, at, 0], p[i, at, 1], p[i, at, 2]
            for j in range(n):
                dx = x - places[a, j, 0]
                dy = y - places[a, j, 1]
                dz = z - places[a, j, 2]
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
                        slopes[i, s, t] += by_place[s, c] * J[i, at, c, t]
