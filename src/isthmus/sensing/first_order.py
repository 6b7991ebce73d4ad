r"""Basis pursuit with products alone, for operators: alternating directions on the dual.

.. math:: \max_y\ b^\top y-\epsilon\|y\|\quad\text{subject to}\quad A^\top y=z,\ \|z\|_\infty\le1,

whose multiplier is the sparse vector :math:`x` [YangZhang2011]_. The step in :math:`y` is
linearised with :math:`\|A\|^2`, which is exact where :math:`AA^\top=cI`, as for rows of a basis.
First-order steps are slow to give digits but quick to tell which entries are zero. As soon as the
support comes to rest, its values are computed by conjugate gradients and proved by a dual vector.
"""

from typing import Any, NamedTuple

import numpy as np

from isthmus._progress import ProgressLine
from isthmus.typing import Array, IntArray

_STEP = 1.6  # over-relaxation of the multiplier; below the golden ratio
_THRESHOLD = 0.05  # share of the largest entry of A'b/‖A‖² by which a step can move an entry
_BALANCE, _RETUNE = 5.0, 1.5  # ratio of errors that is tolerated, and the remedy
_CALM = 0.002  # share of the support that may change in an iteration at rest
_ROUNDS, _CLOSE = 6, 0.05  # of adding entries, as long as little is left unexplained
_STANDS_OUT = 4.5  # deviations of a correlation with noise
_EXACT = 1e-11  # relative residual of the polished values


class FirstOrder(NamedTuple):
    """Solution, dual vector, iterations and whether the tolerance was reached."""

    x: Array
    y: Array
    n_iter: int
    reached: bool


class _Restricted:
    """Columns of ``A`` on a support."""

    def __init__(self, A: Any, support: IntArray):
        self.A, self.support = A, support
        self.full = np.zeros(A.shape[1])

    def times(self, values: Array) -> Array:
        self.full[self.support] = values
        return np.asarray(self.A @ self.full)

    def adjoint(self, y: Array) -> Array:
        return np.asarray((self.A.T @ y)[self.support])


def first_order(
    A: Any,
    b: Array,
    noise: float = 0.0,
    *,
    norm2: float,
    tol: float = 1e-6,
    max_iter: int = 5000,
    verbose: int = 0,
) -> FirstOrder:
    r"""Solve basis pursuit with products by ``A`` and ``A.T``; ``norm2`` is :math:`\|A\|^2`.

    >>> import numpy as np
    >>> A = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
    >>> result = first_order(A, np.array([1.0, 1.0]), norm2=9.0)
    >>> np.round(result.x, 9), result.reached
    (array([0. , 0. , 0.5]), True)
    """
    m = A.shape[0]
    x = A.T @ b / norm2
    unit = float(np.abs(x).max())
    b, noise, x = b / unit, noise / unit, x / unit
    column = float(np.sqrt(norm2 * m / len(x)))  # typical norm of a column
    mu, size_b = _THRESHOLD, float(np.linalg.norm(b))
    y, z, image = np.zeros(m), np.zeros_like(x), np.zeros_like(x)  # image is A'y
    previous, calm, next_try, next_check = np.zeros(len(x), dtype=bool), 0, 10, 50
    with ProgressLine("basis pursuit", verbose=verbose) as line:
        for n_iter in range(1, max_iter + 1):
            y = y - (A @ (image - z + x / mu) - b / mu) / norm2
            if noise:
                y *= max(0.0, 1 - noise / (mu * norm2 * max(float(np.linalg.norm(y)), 1e-300)))
            image = A.T @ y
            w = image + x / mu
            z = np.clip(w, -1, 1)
            x = x + _STEP * mu * (image - z)

            live = np.abs(w) > 1
            size = int(np.count_nonzero(live))
            changed = np.count_nonzero(live != previous)
            previous = live
            calm = calm + 1 if changed <= _CALM * size else 0
            line.update(step=n_iter, support=size, changed=int(changed))
            if calm >= 3 and n_iter >= next_try and 0 < size <= m:
                next_try = int(1.3 * n_iter) + 1
                support = np.flatnonzero(live)
                if noise:
                    better = _polish_noisy(A, b, noise, support, np.sign(w[live]))
                else:
                    better = _polish(A, b, support, x, y, column=column)
                if better is not None:
                    x, y, image = better
                    z = np.clip(image + x / mu, -1, 1)
                    if _gap(b, noise, x, y, image) <= min(tol, 1e-9):
                        return FirstOrder(x * unit, y, n_iter, True)
            if n_iter >= next_check:
                next_check = n_iter + max(25, n_iter // 10)
                off = max(float(np.linalg.norm(A @ x - b)) - noise, 0.0) / size_b
                if off <= tol and abs(_gap(b, noise, x, y, image)) <= tol:
                    return FirstOrder(x * unit, y, n_iter, True)
                # Primal and dual errors should fall together.
                split = float(np.linalg.norm(image - z) / np.linalg.norm(z))
                if max(off, split) > _BALANCE * min(off, split):
                    mu *= _RETUNE if split > off else 1 / _RETUNE
    return FirstOrder(x * unit, y, max_iter, False)


def _gap(b: Array, noise: float, x: Array, y: Array, image: Array) -> float:
    """Relative duality gap after ``y`` is shrunk until it is admissible."""
    shrink = max(1.0, float(np.abs(image).max()))
    bound = (float(b @ y) - noise * float(np.linalg.norm(y))) / shrink
    size = float(np.abs(x).sum())
    return (size - bound) / max(size, 1e-300)


def _polish(
    A: Any, b: Array, support: IntArray, x: Array, y: Array, *, column: float
) -> tuple[Array, Array, Array] | None:
    """Values that explain ``b`` exactly, and the nearest dual vector that is one on them."""
    values = x[support]
    for _ in range(_ROUNDS):
        values, left = _least_squares(_Restricted(A, support), b, values)
        residual = float(np.linalg.norm(left)) / float(np.linalg.norm(b))
        if residual <= _EXACT or residual > _CLOSE:
            break
        # Small entries come to life late, but stand out against what is left unexplained.
        pull = np.abs(A.T @ left)
        pull[support] = 0
        more = np.flatnonzero(pull > _STANDS_OUT * column * np.linalg.norm(left) / np.sqrt(len(b)))
        if not len(more) or len(support) + len(more) > len(b) // 2:
            break
        order = np.argsort(np.concatenate([support, more]))
        support = np.concatenate([support, more])[order]
        values = np.concatenate([values, np.zeros(len(more))])[order]
    if residual > _EXACT:
        return None
    kept = np.abs(values) > 1e-10 * np.abs(values).max()
    support, values = support[kept], values[kept]
    part = _Restricted(A, support)
    y = y + part.times(_gram_solve(part, np.sign(values) - part.adjoint(y)))
    x = np.zeros(A.shape[1])
    x[support] = values
    return x, y, A.T @ y


def _polish_noisy(
    A: Any, b: Array, noise: float, support: IntArray, signs: Array
) -> tuple[Array, Array, Array] | None:
    r"""The point of the Lasso path on this support and these signs where the residual is right.

    :math:`x=x_{LS}-\lambda G^{-1}s` has :math:`\|b-Ax\|^2=\|r_{LS}\|^2+\lambda^2s^\top G^{-1}s`.
    """
    part = _Restricted(A, support)
    target = part.adjoint(b)
    least: Array = np.zeros(len(support))
    back: Array = np.zeros(len(support))
    for tol in (1e-6, 1e-13):  # most supports that are wrong show it early
        least = _gram_solve(part, target, least, tol)
        back = _gram_solve(part, signs, back, tol)
        left = b - part.times(least)
        room = noise**2 - float(left @ left)
        if room <= 0:
            return None
        lam = float(np.sqrt(room / float(signs @ back)))
        values = least - lam * back
        wrong = values * signs <= 0
        if np.mean(wrong) > (0.01 if tol > 1e-10 else 0):
            return None
    y = (b - part.times(values)) / lam
    x = np.zeros(A.shape[1])
    x[support] = values
    return x, y, A.T @ y


def _least_squares(part: _Restricted, b: Array, x: Array) -> tuple[Array, Array]:
    """Values and what they leave of ``b``, by conjugate gradients.

    Given up when five steps do not halve what is left: then the support is not the right one.
    """
    r = b - part.times(x)
    s = part.adjoint(r)
    p, ss, size = s.copy(), float(s @ s), float(np.linalg.norm(b))
    before = np.inf
    for k in range(200):
        left = float(np.linalg.norm(r))
        if left <= 0.1 * _EXACT * size:
            break
        if k % 5 == 0:
            if left > 0.5 * before:
                break
            before = left
        if not ss:
            break
        q = part.times(p)
        step = ss / float(q @ q)
        x, r = x + step * p, r - step * q
        s = part.adjoint(r)
        new = float(s @ s)
        p, ss = s + (new / ss) * p, new
    return x, r


def _gram_solve(
    part: _Restricted, target: Array, e: Array | None = None, tol: float = 1e-13
) -> Array:
    """Solve ``G e = target`` with the Gram matrix of the columns of ``part``, from ``e`` on."""
    e = np.zeros_like(target) if e is None else e
    r = target - part.adjoint(part.times(e)) if e.any() else target.copy()
    p, rr = r.copy(), float(r @ r)
    stop = tol**2 * float(target @ target)
    for _ in range(200):
        if rr <= stop:
            break
        q = part.adjoint(part.times(p))
        curvature = float(p @ q)
        if curvature <= 0:  # rounding: nothing more to gain
            break
        step = rr / curvature
        e, r = e + step * p, r - step * q
        new = float(r @ r)
        p, rr = r + (new / rr) * p, new
    return e
