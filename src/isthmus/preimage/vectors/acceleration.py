"""Anderson's acceleration of many fixed-point iterations at once."""

import numpy as np

from isthmus.typing import Array, IntArray

# Share of the trace of the normal equations that is added to their diagonal: changes that point
# the same way are not told apart. Ten times the rounding errors where these are larger.
_RIDGE = 1e-10


class Acceleration:
    r"""The last few changes of steps, and where they point.

    A fixed-point iteration takes z to its image g(z); its step is f(z) = g(z) - z. Near the end g
    is nearly affine. From the last changes of steps, the columns of F, and of images, those of G,
    the point follows at which the steps that were seen would vanish [Anderson1965]_:

    .. math:: z_+=g(z)-G\gamma,\qquad\gamma=\arg\min_\gamma\|f(z)-F\gamma\|^2 .

    >>> import numpy as np
    >>> ahead, z, row = Acceleration(1, 1, np.float64), np.array([[1.0]]), np.array([0])
    >>> for _ in range(2):  # of z ↦ 0.9 z + 1, which plain steps approach slowly
    ...     image = 0.9 * z + 1
    ...     z = ahead.next_points(row, image, image - z)
    >>> bool(abs(z[0, 0] - 10.0) < 1e-6)
    True
    """

    def __init__(self, n: int, d: int, dtype: np.dtype, depth: int = 2):
        self.images = np.zeros((depth, n, d), dtype=dtype)
        self.steps = np.zeros((depth, n, d), dtype=dtype)
        self.last_image = np.zeros((n, d), dtype=dtype)
        self.last_step = np.zeros((n, d), dtype=dtype)
        self.known = np.zeros(n, dtype=bool)
        self.turn = 0

    def forget(self, rows: IntArray) -> None:
        """Begin anew."""
        self.known[rows] = False

    def next_points(self, rows: IntArray, image: Array, step: Array) -> Array:
        """Where ``rows`` should go next; they have made ``step`` to ``image``."""
        new = rows[~self.known[rows]]
        place, self.turn = self.turn, (self.turn + 1) % len(self.steps)
        self.images[place, rows] = image - self.last_image[rows]
        self.steps[place, rows] = step - self.last_step[rows]
        self.images[:, new] = self.steps[:, new] = 0.0
        self.last_image[rows], self.last_step[rows] = image, step
        self.known[rows] = True
        F = self.steps[:, rows]
        normal = np.einsum("pij,qij->ipq", F, F)
        rounding = np.finfo(step.dtype)
        diagonal = np.arange(len(F))
        trace = normal[:, diagonal, diagonal].sum(axis=1, keepdims=True)
        normal[:, diagonal, diagonal] += max(_RIDGE, 10 * rounding.eps) * trace + rounding.tiny
        gamma = np.linalg.solve(normal, np.einsum("pij,ij->ip", F, step)[..., None])
        return np.asarray(image - np.einsum("ip,pij->ij", gamma[..., 0], self.images[:, rows]))
