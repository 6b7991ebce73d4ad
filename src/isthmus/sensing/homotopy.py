r"""Basis pursuit by following the Lasso path: exact, and short where the solution is sparse.

The solution of :math:`\min_x\frac12\|b-Ax\|^2+\lambda\|x\|_1` is piecewise linear in
:math:`\lambda`. Starting where it is zero, entries join and leave one at a time, until the
residual is as small as asked for [Osborne2000]_, [DonohoTsaig2008]_.
"""

import numpy as np

from isthmus._progress import ProgressLine
from isthmus.typing import Array, IntArray

# Relative to the square of a column's norm: what remains of a column that others make up.
_DEPENDENT = 1e-12
# Largest error of a correlation on the support before the inverse is made anew.
_DRIFT = 1e-9
# Relative difference of step lengths that counts as none.
_TIE = 1e-8


class _Support:
    """The entries in use, with the inverse of their Gram matrix kept up to date."""

    def __init__(self, A: Array):
        m, n = A.shape
        self.A, self.size = A, 0
        self._indices: IntArray = np.zeros(0, dtype=np.intp)
        self._arrays: tuple[Array, ...] = ()
        self.capacity = min(m, n)
        # Grown by doubling: a sparse solution needs little of it.
        self._reserve(min(self.capacity, 64))

    def _reserve(self, capacity: int) -> None:
        k, m = self.size, len(self.A)
        old = self._arrays
        shapes = ((capacity, m), (capacity, capacity), (capacity,), (capacity,))
        self._arrays = tuple(np.zeros(shape) for shape in shapes)
        indices: IntArray = np.zeros(capacity, dtype=np.intp)
        for new, before in zip(self._arrays, old, strict=False):  # none at first
            new[tuple(slice(side) for side in before.shape)] = before
        indices[:k] = self._indices[:k]
        self._indices = indices

    @property
    def columns(self) -> Array:
        return self._arrays[0][: self.size]

    @property
    def inverse(self) -> Array:
        return self._arrays[1][: self.size, : self.size]

    @property
    def signs(self) -> Array:
        return self._arrays[2][: self.size]

    @property
    def x(self) -> Array:
        return self._arrays[3][: self.size]

    @property
    def indices(self) -> IntArray:
        return self._indices[: self.size]

    def join(self, j: int, sign: float) -> bool:
        """Add column ``j``; False if the others make it up already."""
        k = self.size
        if k == self.capacity:
            return False
        if k == len(self._indices):
            self._reserve(min(self.capacity, 2 * k))
        a = self.A[:, j]
        u = self.inverse @ (self.columns @ a)
        square = float(a @ a)
        rest = square - float((self.columns @ a) @ u)
        if rest <= _DEPENDENT * square:
            return False
        rows, inverse, signs, x = self._arrays
        inverse[:k, :k] += np.outer(u, u / rest)
        inverse[k, :k] = inverse[:k, k] = -u / rest
        inverse[k, k] = 1 / rest
        rows[k], signs[k], x[k], self._indices[k] = a, sign, 0.0, j
        self.size += 1
        return True

    def leave(self, i: int) -> int:
        """Take the entry at place ``i`` out; return its index."""
        rows, inverse, signs, x = self._arrays
        gone, last = int(self._indices[i]), self.size - 1
        if i != last:
            for array in (rows, signs, x, self._indices):
                array[i] = array[last]
            both = slice(self.size)
            inverse[[i, last], both] = inverse[[last, i], both]
            inverse[both, [i, last]] = inverse[both, [last, i]]
        self.size = last
        k = last
        inverse[:k, :k] -= np.outer(inverse[:k, k], inverse[k, :k] / inverse[k, k])
        return gone

    def renew(self) -> None:
        """Compute the inverse from scratch."""
        self.inverse[:] = np.linalg.pinv(self.columns @ self.columns.T, hermitian=True)


def homotopy(
    A: Array, b: Array, noise: float = 0.0, *, max_iter: int | None = None, verbose: int = 0
) -> tuple[Array, Array, int, bool]:
    r"""Follow the path to :math:`\|b-Ax\|=\epsilon`, or to its end for ``noise=0``.

    Returns the solution, a dual vector, the number of steps and whether the end was reached, which
    fails only where ties make the path turn in circles.

    >>> import numpy as np
    >>> A = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
    >>> x, y, n_steps, reached = homotopy(A, np.array([1.0, 1.0]))
    >>> np.round(x, 12), reached
    (array([0. , 0. , 0.5]), True)
    """
    m, n = A.shape
    c = A.T @ b  # correlation of the columns with the residual
    start = lam = float(np.abs(c).max())
    r2 = float(b @ b)
    support = _Support(A)
    limit = 10 * m + 100 if max_iter is None else max_iter
    free = np.ones(n, dtype=bool)
    joining, barred, standing = int(np.abs(c).argmax()), -1, 0
    v = np.zeros(m)
    reached = False
    n_iter = 0
    with ProgressLine("basis pursuit", verbose=verbose) as line:
        while n_iter < limit:
            n_iter += 1
            if joining >= 0:
                free[joining] = False
                support.join(joining, float(np.sign(c[joining])))
            d = support.inverse @ support.signs
            v = d @ support.columns
            slope = v @ A  # the correlations fall by it
            if np.abs(slope[support.indices] - support.signs).max(initial=0.0) > _DRIFT:
                support.renew()
                c = (b - support.x @ support.columns) @ A
                d = support.inverse @ support.signs
                v = d @ support.columns
                slope = v @ A
            sd = float(support.signs @ d)

            gamma, event = _last_step(lam, r2, sd, noise), "end"
            step = _joining_steps(c, slope, lam)
            step[~free] = np.inf
            if barred >= 0:
                # What has just left may come back with the other sign only.
                falls = slope[barred] * c[barred] > 0
                other = (lam + abs(c[barred])) / (1 + abs(slope[barred]))
                step[barred] = other if falls else np.inf
            j = int(step.argmin())
            # On the last stretch without noise, where the slopes are an admissible dual vector,
            # all of them would join at the end itself: there rounding must not decide.
            last = noise == 0 and np.abs(slope).max() <= 1 + _TIE
            if step[j] < (gamma * (1 - _TIE) if last else gamma):
                gamma, event = float(step[j]), "join"
            # An entry moving towards zero leaves there; one that starts off with the wrong sign
            # (after a tie) leaves at once.
            towards = d * support.signs < 0
            ratio = np.full(len(d), np.inf)
            ratio[towards] = np.maximum(-support.x[towards] / d[towards], 0)
            i = int(ratio.argmin())
            if ratio[i] < (gamma * (1 - _TIE) if last else gamma):
                gamma, event = float(ratio[i]), "leave"

            support.x[:] += gamma * d
            c -= gamma * slope
            r2 += gamma * (gamma - 2 * lam) * sd
            lam -= gamma
            line.update(step=n_iter, support=support.size, share=lam / start)
            joining = barred = -1
            if event == "end":
                reached = True
                break
            standing = standing + 1 if gamma <= 1e-14 * start else 0
            if standing > 2 * support.size + 50:
                break
            if event == "leave":
                barred = support.leave(i)
                # What was made up by others may not be any longer.
                free[:] = True
                free[support.indices] = False
            else:
                joining = j
    if noise == 0:
        for _ in range(2):  # refine: the path has collected rounding errors
            left = b - support.x @ support.columns
            support.x[:] += support.inverse @ (support.columns @ left)
    x = np.zeros(n)
    x[support.indices] = support.x
    y = v if noise == 0 or lam <= 0 else (b - A @ x) / lam
    return x, y, n_iter, reached


def _last_step(lam: float, r2: float, sd: float, noise: float) -> float:
    """Step to the residual asked for, at most to the end of the path."""
    # ‖r - γv‖² = r2 - 2γλ s'd + γ² s'd
    discriminant = (lam * sd) ** 2 - sd * (r2 - noise**2)
    if noise == 0 or discriminant < 0:
        return lam
    root = (lam * sd - np.sqrt(discriminant)) / sd
    return float(min(max(root, 0.0), lam))


def _joining_steps(c: Array, slope: Array, lam: float) -> Array:
    """Steps after which each correlation is as large as those of the support."""
    up, down = 1 - slope, 1 + slope
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(up > 0, np.maximum(lam - c, 0) / up, np.inf)
        second = np.where(down > 0, np.maximum(lam + c, 0) / down, np.inf)
    return np.minimum(first, second)
