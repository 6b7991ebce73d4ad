r"""Basis pursuit with noise by Newton's method or few exact Lasso problems, not by a whole path.

The residual of :math:`\min_x\frac12\|b-Ax\|^2+\lambda\|x\|_1` grows with :math:`\lambda`, and the
problem asks for the :math:`\lambda` at which it is :math:`\epsilon`. While the support S and its
signs s stay, :math:`x_S=(A_S^\top A_S)^{-1}(A_S^\top b-\lambda s)` and

.. math:: \|b-Ax\|^2=\|b-P_Sb\|^2+\lambda^2\,s^\top(A_S^\top A_S)^{-1}s ,

so that a support gives the next :math:`\lambda` exactly. A path makes a step for every entry that
joins or leaves, each with a product by the whole matrix. Newton's method lets all join or leave at
once that x and its correlations speak for; it needs some ten to twenty products, but may turn in
circles. Then Lasso problems are solved to their ends between two changes of :math:`\lambda`.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from isthmus._progress import ProgressLine
from isthmus.linalg import product
from isthmus.sparse.l1.feature_sign import sign_search
from isthmus.typing import Array, IntArray

_MAX_PROBLEMS = 60
_SAME = 1e-13  # relative change of lambda at which the support has settled
_FALL = 0.65  # of lambda between two steps: with less, too much joins at once
_LITTLE = 1e-3  # noise, as a share of b, at which supports are read
_EXPLAINED, _NOTHING = 1e-12, 1e-10  # residual of a support that holds all, and entries of zeros
_CIRCLES = 20  # Newton steps near the root that show that they lead nowhere


class _Piece(NamedTuple):
    """Least squares on a support, how it moves as lambda grows, and the lambda wanted."""

    least: Array
    slope: Array
    wanted: float


class _Columns:
    """Columns of ``A`` that were in use, as rows, and their Gram matrix."""

    def __init__(self, A: Array):
        self.A = A
        self.place = np.full(A.shape[1], -1)
        self.rows: Array = np.empty((0, len(A)))
        self.gram: Array = np.empty((0, 0))

    def places(self, support: IntArray) -> IntArray:
        """Where the columns of a support are, after those missing were added."""
        new = support[self.place[support] < 0]
        if len(new):
            old, more = len(self.rows), np.ascontiguousarray(self.A[:, new].T)
            self.place[new] = np.arange(old, old + len(new))
            self.rows = np.concatenate([self.rows, more])
            larger = np.empty((len(self.rows), len(self.rows)))
            larger[:old, :old] = self.gram
            larger[old:] = product(more, self.rows.T)
            larger[:old, old:] = larger[old:, :old].T
            self.gram = larger
        return np.asarray(self.place[support])


def noise_root(
    A: Array, b: Array, noise: float, *, verbose: int = 0
) -> tuple[Array, Array, int, bool]:
    r"""Solve for :math:`\|b-Ax\|=\epsilon>0`.

    Returns the solution, a dual vector, the number of steps or Lasso problems and whether the
    root was found.

    >>> import numpy as np
    >>> A = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
    >>> x, y, n_steps, reached = noise_root(A, np.array([1.0, 1.0]), 0.1)
    >>> reached, bool(abs(np.linalg.norm(A @ x - 1.0) - 0.1) < 1e-12)
    (True, True)
    """
    with ProgressLine("basis pursuit", verbose=verbose) as line:
        found = newton_root(A, b, noise, line)
        return found if found[3] else lasso_root(A, b, noise, line)


def newton_root(
    A: Array, b: Array, noise: float, line: ProgressLine
) -> tuple[Array, Array, int, bool]:
    """The root by Newton's method on the optimality conditions, with a falling lambda."""
    m, n = A.shape
    columns = _Columns(A)
    norms = np.einsum("ij,ij->j", A, A)
    products = product(A.T, b)
    largest = float(np.abs(products).max())
    lam = _FALL * largest
    before: tuple[IntArray, Array] = (np.empty(0, dtype=int), np.empty(0))
    x, residual, pull = np.zeros(n), b, products
    n_steps = near = 0
    while near < _CIRCLES:
        n_steps += 1
        # What is in stays while it keeps its sign; what is out joins where it pulls too hard.
        pull = pull + norms * x
        support = np.flatnonzero(np.abs(pull) > lam)
        signs = np.sign(pull[support])
        if not 0 < len(support) <= m:
            break
        places = columns.places(support)
        piece = _piece(columns, places, products[support], signs, b, noise)
        if piece is None:
            break
        settled = np.array_equal(support, before[0]) and np.array_equal(signs, before[1])
        if settled and abs(piece.wanted - lam) <= _SAME * largest:
            return x, residual / lam, n_steps, True
        lam, before = max(piece.wanted, _FALL * lam), (support, signs)
        near += lam == piece.wanted
        values = piece.least - lam * piece.slope
        x = np.zeros(n)
        x[support] = values
        residual = b - product(columns.rows[places].T, values)
        pull = product(A.T, residual)
        line.update(step=n_steps, support=len(support), residual=float(np.linalg.norm(residual)))
    return x, residual / lam, n_steps, False


def exact_root(A: Array, b: Array, line: ProgressLine) -> tuple[Array, Array, int, bool]:
    r"""Solve :math:`Ax=b` from the support at little noise, and say whether it is the solution.

    Near the end of the path the entries that stay have their signs already. Least squares on the
    support explain b where it holds them all; the others come out as zero. If no sign has changed,
    the dual vector of the noisy problem, :math:`\|A^\top y\|_\infty\le1`, is one of this problem
    and proves the solution: :math:`b^\top y=\|x\|_1`.

    >>> import numpy as np
    >>> A = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
    >>> with ProgressLine("basis pursuit", verbose=0) as line:
    ...     x, y, n_steps, reached = exact_root(A, np.array([1.0, 1.0]), line)
    >>> np.round(x, 12), reached
    (array([0. , 0. , 0.5]), True)
    """
    size = float(np.linalg.norm(b))
    noisy, y, n_steps, reached = newton_root(A, b, _LITTLE * size, line)
    support = np.flatnonzero(noisy)
    values = np.empty(0)
    for _ in range(2):  # with all, and with those that are not zero
        if not reached:
            break
        rows = np.ascontiguousarray(A[:, support].T)
        try:
            factor = cho_factor(product(rows, rows.T))
        except np.linalg.LinAlgError:
            return noisy, y, n_steps, False
        values = cho_solve(factor, product(rows, b))
        values += cho_solve(factor, product(rows, b - product(rows.T, values)))
        off = float(np.linalg.norm(b - product(rows.T, values)))
        reached = off <= _EXPLAINED * size
        kept = np.abs(values) > _NOTHING * np.abs(values).max(initial=0.0)
        support, values = support[kept], values[kept]
    x = np.zeros(A.shape[1])
    if reached:
        x[support] = values
    return x, y, n_steps, reached and bool(np.all(values * noisy[support] > 0))


def _piece(
    columns: _Columns, places: IntArray, products: Array, signs: Array, b: Array, noise: float
) -> _Piece | None:
    """None where the columns depend on each other: then there is not one solution but many."""
    try:
        factor = cho_factor(columns.gram[np.ix_(places, places)])
    except np.linalg.LinAlgError:
        return None
    least, slope = cho_solve(factor, np.stack([products, signs], axis=1)).T
    rest = b - product(columns.rows[places].T, least)
    square = (noise**2 - float(rest @ rest)) / float(signs @ slope)
    # Zero for a support that is too small for any lambda.
    return _Piece(least, slope, float(np.sqrt(max(square, 0.0))))


def lasso_root(
    A: Array, b: Array, noise: float, line: ProgressLine
) -> tuple[Array, Array, int, bool]:
    """The root by Lasso problems that are solved to their ends."""
    columns = _Columns(A)
    atoms = np.ascontiguousarray(A.T)
    products = product(atoms, b)
    largest = float(np.abs(products).max())
    low, high = 0.0, largest
    lam = largest * noise / float(np.linalg.norm(b))
    x = np.zeros((1, len(atoms)))
    residual, n_problems = b, 0
    while n_problems < _MAX_PROBLEMS:
        n_problems += 1
        _, finished = sign_search(b[None], atoms, lam, x)
        support = np.flatnonzero(x[0])
        if not finished[0] or not len(support):
            break
        signs = np.sign(x[0, support])
        residual = b - x[0, support] @ atoms[support]
        r = float(np.linalg.norm(residual))
        line.update(problem=n_problems, support=len(support), residual=r)
        low, high = (low, lam) if r > noise else (lam, high)
        piece = _piece(columns, columns.places(support), products[support], signs, b, noise)
        if piece is None:
            break
        # Without one for this support, as if the residual were proportional to lambda.
        wanted = piece.wanted or lam * min(noise / r, 0.3)
        if abs(wanted - lam) <= _SAME * largest:
            return x[0], residual / lam, n_problems, True
        lam = wanted if low < wanted < high else (low + high) / 2
        # Along the same support the next solution is known: begin there.
        ahead = piece.least - lam * piece.slope
        x[0, support] = np.where(ahead * signs > 0, ahead, 0.0)
    return x[0], residual / lam, n_problems, False
