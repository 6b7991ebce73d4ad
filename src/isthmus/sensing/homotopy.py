r"""Basis pursuit by following the Lasso path: exact, and short where the solution is sparse.

The solution of :math:`\min_x\frac12\|b-Ax\|^2+\lambda\|x\|_1` is piecewise linear in
:math:`\lambda`. Starting where it is zero, entries join and leave one at a time, until the
residual is as small as asked for [Osborne2000]_, [DonohoTsaig2008]_.
"""

import numpy as np

from isthmus._progress import ProgressLine
from isthmus.typing import Array, IntArray

# Share of a column's squared norm that remains where it is a combination of others.
_DEPENDENT = 1e-12
# Largest error of a correlation on the support before the inverse is computed from scratch.
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
        """Add column ``j``; False if it is a combination of the others."""
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


class _Path:
    """A point of the Lasso path, and how it moves on to the next change of the support."""

    def __init__(self, A: Array, b: Array, noise: float):
        self.A, self.b, self.noise = A, b, noise
        self.c = A.T @ b  # correlation of the columns with the residual
        self.lam = float(np.abs(self.c).max())
        self.r2 = float(b @ b)  # squared norm of the residual
        self.support = _Support(A)
        self.v = np.zeros(len(A))
        self._free = np.ones(A.shape[1], dtype=bool)
        self._barred = -1  # what has just left

    def join(self, j: int) -> None:
        """Add entry ``j`` to the support, unless it is a combination of the others."""
        self._free[j] = False
        self.support.join(j, float(np.sign(self.c[j])))

    def leave(self, i: int) -> None:
        """Take the entry at place ``i`` out of the support."""
        self._barred = self.support.leave(i)
        # What was a combination of others may not be one any longer.
        self._free[:] = True
        self._free[self.support.indices] = False

    def direction(self) -> tuple[Array, Array]:
        """How the entries in use change as lambda falls, and by what all correlations fall."""
        support = self.support
        d, slope = self._changes()
        if np.abs(slope[support.indices] - support.signs).max(initial=0.0) > _DRIFT:
            support.renew()
            self.c = (self.b - support.x @ support.columns) @ self.A
            d, slope = self._changes()
        return d, slope

    def _changes(self) -> tuple[Array, Array]:
        d = self.support.inverse @ self.support.signs
        self.v = d @ self.support.columns
        return d, self.v @ self.A

    def next_event(self, d: Array, slope: Array) -> tuple[float, str, int]:
        """The step to the next change, its kind and the entry or place that it concerns."""
        support, lam = self.support, self.lam
        gamma = _last_step(lam, self.r2, float(support.signs @ d), self.noise)
        event, which = "end", -1
        step = _joining_steps(self.c, slope, lam)
        step[~self._free] = np.inf
        if self._barred >= 0:
            # What has just left may come back with the other sign only.
            left, fall = self.c[self._barred], slope[self._barred]
            other = (lam + abs(left)) / (1 + abs(fall))
            step[self._barred] = other if fall * left > 0 else np.inf
        j = int(step.argmin())
        # On the last stretch without noise, where the slopes are an admissible dual vector,
        # all of them would join at the end itself: there rounding must not decide.
        last = self.noise == 0 and np.abs(slope).max() <= 1 + _TIE
        if step[j] < (gamma * (1 - _TIE) if last else gamma):
            gamma, event, which = float(step[j]), "join", j
        # An entry moving towards zero leaves there; one that starts off with the wrong sign
        # (after a tie) leaves at once.
        towards = d * support.signs < 0
        ratio = np.full(len(d), np.inf)
        ratio[towards] = np.maximum(-support.x[towards] / d[towards], 0)
        i = int(ratio.argmin())
        if ratio[i] < (gamma * (1 - _TIE) if last else gamma):
            gamma, event, which = float(ratio[i]), "leave", i
        return gamma, event, which

    def move(self, gamma: float, d: Array, slope: Array) -> None:
        """Lower lambda by ``gamma``."""
        self.support.x[:] += gamma * d
        self.c -= gamma * slope
        self.r2 += gamma * (gamma - 2 * self.lam) * float(self.support.signs @ d)
        self.lam -= gamma
        self._barred = -1

    def solution(self) -> tuple[Array, Array]:
        """The vector at this point, and a dual vector."""
        support = self.support
        if self.noise == 0:
            for _ in range(2):  # refine: the path has collected rounding errors
                left = self.b - support.x @ support.columns
                support.x[:] += support.inverse @ (support.columns @ left)
        x = np.zeros(self.A.shape[1])
        x[support.indices] = support.x
        if self.noise == 0 or self.lam <= 0:
            return x, self.v
        return x, (self.b - self.A @ x) / self.lam


def homotopy(
    A: Array, b: Array, noise: float = 0.0, *, max_iter: int | None = None, verbose: int = 0
) -> tuple[Array, Array, int, bool]:
    r"""Follow the path to :math:`\|b-Ax\|=\epsilon`, or to its end for ``noise=0``.

    Returns the solution, a dual vector, the number of steps and whether the end was reached, which
    fails only where ties make the path turn in circles.

    >>> import numpy as np
    >>> A = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
    >>> x, y, n_iter, reached = homotopy(A, np.array([1.0, 1.0]))
    >>> np.round(x, 12), reached
    (array([0. , 0. , 0.5]), True)
    """
    path = _Path(A, b, noise)
    start = path.lam
    limit = 10 * len(A) + 100 if max_iter is None else max_iter
    event, which, standing, n_iter = "join", int(np.abs(path.c).argmax()), 0, 0
    with ProgressLine("basis pursuit", verbose=verbose) as line:
        while n_iter < limit:
            n_iter += 1
            if event == "join":
                path.join(which)
            d, slope = path.direction()
            gamma, event, which = path.next_event(d, slope)
            path.move(gamma, d, slope)
            line.update(step=n_iter, support=path.support.size, share=path.lam / start)
            standing = standing + 1 if gamma <= 1e-14 * start else 0
            if event == "end" or standing > 2 * path.support.size + 50:
                break
            if event == "leave":
                path.leave(which)
    return *path.solution(), n_iter, event == "end"


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
