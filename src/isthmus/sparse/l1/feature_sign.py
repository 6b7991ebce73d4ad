"""Feature-sign search: exact codes under an L1 penalty, with a certificate."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isthmus._checks import check_choice, check_float
from isthmus._door import with_door
from isthmus._warnings import warn
from isthmus.sparse.pursuit.checks import check_signals
from isthmus.sparse.pursuit.matching import code_in_blocks
from isthmus.typing import Array, BoolArray, IntArray

# Atoms enter whose slope exceeds alpha by at least this share of the largest excess. One at a time
# is the published search; of the shares tried this is the fastest, or within 5 % of it, for all
# penalties but the smallest.
_SHARE = 0.6
# The Gram matrix is not formed for fewer signals than atoms over this number, nor for more atoms
# than these, 128 MB.
_ATOMS_PER_SIGNAL = 20
_GRAM_ATOMS = 4096


class CodeCertificate(NamedTuple):
    r"""How far codes are from the optimum, with one entry per signal.

    ``gap`` bounds the excess of the objective over its minimum. It is the objective minus the dual
    :math:`\frac12\|x\|^2-\frac12\|x-\theta\|^2` at the residual scaled to
    :math:`|\langle d_j,\theta\rangle|\le\alpha`. ``violation`` is the largest distance of
    :math:`\langle d_j,x-cD\rangle` from the subgradients of :math:`\alpha|c_j|`.
    """

    gap: Array
    violation: Array
    n_solved: IntArray


CodeCertificate.__module__ = "isthmus.sparse"


@with_door
def feature_sign_search(
    X: Any,
    D: Any,
    *,
    alpha: float,
    init: Any = None,
    positive: bool = False,
    solver: str = "blocks",
    tol: float = 1e-10,
    max_iter: int = 10_000,
    n_jobs: int | None = None,
    return_certificate: bool = False,
) -> Any:
    r"""Exact codes of signals over a dictionary under an L1 penalty.

    .. math:: \min_c\tfrac12\|x-cD\|^2+\alpha\|c\|_1

    If the signs of the coefficients were known this would be a linear system. The search keeps a
    set of active atoms with signs, solves their system, and moves towards its solution: to the best
    of the points where a coefficient changes its sign, or to the end. Zeros leave the set; atoms
    whose slope exceeds alpha enter it. The objective falls at each step, so the search ends,
    after finitely many, in the global minimum [Lee2007]_.

    Parameters
    ----------
    X : array of shape (n_signals, n_features), or (n_features,) for one signal
    D : array of shape (n_atoms, n_features)
        Dictionary, one atom per row, of any lengths.
    alpha : float
        Penalty. The code is zero from :math:`\max_j|\langle d_j,x\rangle|` on.
    init : array of shape (n_signals, n_atoms) or None, default=None
        Codes to start from, such as those of another penalty; they save time and do not change
        the result where the minimum is unique.
    positive : bool, default=False
        Only coefficients that are not negative.
    solver : {"blocks", "published"}, default="blocks"
        Let several atoms enter at a time, or one as published. The first finds the same codes in
        fewer steps.
    tol : float, default=1e-10
        Slopes beyond alpha that are ignored, relative to the largest product of the signal with
        an atom.
    max_iter : int, default=10000
        Maximum number of linear systems solved for a signal.
    n_jobs : int or None, default=None
        Threads, as in joblib; None takes as many as BLAS has, where the work is long enough. The
        codes do not depend on it, to the last bit.
    return_certificate : bool, default=False

    Returns
    -------
    codes : ndarray of shape (n_signals, n_atoms), or (n_atoms,) for one signal
    certificate : CodeCertificate
        Only with ``return_certificate``.

    See Also
    --------
    feature_sign_path : codes at many penalties.
    orthogonal_matching_pursuit : codes with a given number of non-zeros.
    SparseCoder : the same as a transformer.

    Notes
    -----
    [Lee2007]_ penalises :math:`\|x-cD\|^2` by :math:`\lambda\|c\|_1`: alpha is
    :math:`\lambda/2`. In scikit-learn it is ``Lasso(alpha=alpha / n_features)`` without intercept,
    and ``sparse_encode(alpha=alpha)``. Three things differ from the published search. Atoms enter
    in blocks, and those that would move against their sign are sent back. The Cholesky factor of
    the active Gram matrix is updated and not computed again. And atoms that the active ones span
    are exchanged for one of them, which the published search has no rule for.

    Time is O(n_atoms · non-zeros) for each round of entries.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import feature_sign_search
    >>> D = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> code, proof = feature_sign_search([1.2, 1.6], D, alpha=0.1, return_certificate=True)
    >>> code.round(3), bool(proof.gap < 1e-12)
    (array([0. , 0. , 1.9]), True)
    """
    single = np.ndim(X) == 1
    X, D = check_signals(np.atleast_2d(X) if single else X, D, "feature_sign_search", gaps=False)
    alpha = check_float(alpha, "alpha", "feature_sign_search", include_low=False)
    check_choice(solver, "solver", "feature_sign_search", ("blocks", "published"))
    codes = _start(init, len(X), len(D), positive)
    n_solved, finished = sign_search(
        X,
        D,
        alpha,
        codes,
        positive=positive,
        share=_SHARE if solver == "blocks" else 1.0,
        tol=tol,
        max_iter=max_iter,
        n_jobs=n_jobs,
    )
    if not finished.all():
        warn(
            f"feature_sign_search did not reach the optimum of {np.sum(~finished)} of "
            f"{len(X)} signals. Atoms may be nearly dependent, or max_iter={max_iter} too small.",
            ConvergenceWarning,
        )
    found = codes[0] if single else codes
    if not return_certificate:
        return found
    gap, violation = optimality(X, D, codes, alpha, positive=positive)
    proof = CodeCertificate(gap, violation, n_solved)
    if single:
        proof = CodeCertificate(*(part[0] for part in proof))
    return found, proof


@with_door
def feature_sign_path(
    X: Any,
    D: Any,
    *,
    alphas: Any = 20,
    smallest: float = 0.01,
    positive: bool = False,
    n_jobs: int | None = None,
) -> tuple[Array, Array]:
    r"""Exact codes at a falling sequence of penalties, each started from the one before.

    Parameters
    ----------
    X : array of shape (n_signals, n_features), or (n_features,) for one signal
    D : array of shape (n_atoms, n_features)
    alphas : int or array, default=20
        Penalties, or their number; they are then evenly spaced in their logarithms, from the one
        at which all codes are zero down to ``smallest`` times that.
    smallest : float, default=0.01
    positive : bool, default=False
    n_jobs : int or None, default=None

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        In falling order.
    codes : ndarray of shape (n_alphas, n_signals, n_atoms), or (n_alphas, n_atoms)

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import feature_sign_path
    >>> alphas, codes = feature_sign_path([3.0, 1.0], np.eye(2), alphas=[2.0, 0.5])
    >>> codes
    array([[1. , 0. ],
           [2.5, 0.5]])
    """
    if isinstance(alphas, (int, np.integer)) and not isinstance(alphas, bool):
        if alphas < 1:
            raise ValueError(
                "The 'alphas' parameter of feature_sign_path must be an int in [1, inf) or an "
                f"array. Got {alphas!r} instead."
            )
        smallest = check_float(smallest, "smallest", "feature_sign_path", include_low=False)
        products = np.atleast_2d(np.asarray(X, dtype=float)) @ np.asarray(D, dtype=float).T
        largest = float((products if positive else np.abs(products)).max(initial=0.0)) or 1.0
        alphas = largest * np.geomspace(1.0, smallest, alphas)
    alphas = np.sort(np.asarray(alphas, dtype=float).ravel())[::-1]
    found = []
    code = None
    for alpha in alphas:
        code = feature_sign_search(
            X,
            D,
            alpha=float(alpha),
            init=code,
            positive=positive,
            n_jobs=n_jobs,
        )
        found.append(code)
    return alphas, np.array(found)


def sign_search(
    X: Array,
    D: Array,
    alpha: float,
    codes: Array,
    *,
    positive: bool = False,
    share: float = _SHARE,
    tol: float = 1e-10,
    max_iter: int = 10_000,
    n_jobs: int | None = None,
) -> tuple[IntArray, BoolArray]:
    """Change ``codes`` from starts to optima; return systems solved and which ended. No checks."""
    # Imported here: numba takes a good part of a second.
    from isthmus.linalg.lanes import aligned
    from isthmus.sparse.l1.feature_sign_loops import code_block, room

    n, k = codes.shape
    n_solved = np.zeros(n, dtype=np.int64)
    finished = np.zeros(n, dtype=np.bool_)
    if k > _GRAM_ATOMS or n * _ATOMS_PER_SIGNAL < k:
        for i in range(n):
            n_solved[i], finished[i] = _working_set_search(
                X[i], D, alpha, codes[i], positive, share, tol, max_iter
            )
        return n_solved, finished
    G = np.matmul(D, D.T, out=aligned(k, k))
    capacity = min(D.shape)

    def code(rows: slice) -> None:
        code_block(
            G,
            X[rows] @ D.T,
            alpha,
            tol,
            max_iter,
            positive,
            share,
            codes[rows],
            n_solved[rows],
            finished[rows],
            *room(k, capacity),
        )

    code_in_blocks(code, n, n_jobs)
    return n_solved, finished


def _working_set_search(
    x: Array,
    D: Array,
    alpha: float,
    code: Array,
    positive: bool,
    share: float,
    tol: float,
    max_iter: int,
) -> tuple[int, bool]:
    """The search among few atoms at a time, so that only their Gram matrix is formed.

    After each search the atoms join whose slopes exceed alpha most, at most as many as are already
    in use.
    """
    from isthmus.sparse.l1.feature_sign_loops import code_block, room

    members = np.flatnonzero(code)
    residual = x - code[members] @ D[members]
    limit = alpha + tol * float(np.abs(D @ x).max(initial=0.0))
    gram: Array = np.empty((0, 0))
    total, size = 0, 0
    while True:
        products = D @ residual
        slopes = products if positive else np.abs(products)
        slopes[members[: len(gram)]] = 0.0
        wanted = np.flatnonzero(slopes > limit)
        if not len(wanted) and len(gram):
            return total, True
        most = max(16, int(np.count_nonzero(code)))
        if len(wanted) > most:
            wanted = wanted[np.argpartition(slopes[wanted], -most)[-most:]]
        # Only a start has members without products.
        started = len(members) > len(gram)
        fresh = np.setdiff1d(wanted, members[len(gram) :]) if started else np.sort(wanted)
        members = np.concatenate([members, fresh])
        if not len(members):
            return total, True
        atoms = D[members]
        gram = _extend_gram(gram, atoms)
        if len(atoms) > size:
            size = max(64, 2 * len(atoms))
            memory = room(size, min(size, len(x)))
        sub_codes = code[members][None]
        n_solved, finished = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.bool_)
        code_block(
            gram,
            (atoms @ x)[None],
            alpha,
            tol,
            max_iter,
            positive,
            share,
            sub_codes,
            n_solved,
            finished,
            *memory,
        )
        total += int(n_solved[0])
        code[members] = sub_codes[0]
        residual = x - sub_codes[0] @ atoms
        if not finished[0] or total >= max_iter:
            return total, False


def _extend_gram(gram: Array, atoms: Array) -> Array:
    """Gram matrix of ``atoms``, of whose first ones it is known."""
    old = len(gram)
    products = atoms[old:] @ atoms.T
    larger = np.empty((len(atoms), len(atoms)))
    larger[:old, :old] = gram
    larger[old:] = products
    larger[:old, old:] = products[:, :old].T
    return larger


def optimality(
    X: Array, D: Array, codes: Array, alpha: float, *, positive: bool = False
) -> tuple[Array, Array]:
    """Duality gap and violation of the optimality conditions of each code, see CodeCertificate."""
    residual = X - codes @ D
    products = residual @ D.T
    slopes = products if positive else np.abs(products)
    scale = np.minimum(1.0, alpha / np.maximum(slopes.max(axis=1, initial=0.0), 1e-300))
    # ½|r|² + alpha |c|₁ - ½|x|² + ½|x - sr|² with x = r + cD; differences of like terms.
    fit = np.einsum("ij,ij->i", X, residual)
    squares = np.einsum("ij,ij->i", residual, residual)
    gap = 0.5 * (1 + scale**2) * squares + alpha * np.abs(codes).sum(axis=1) - scale * fit
    inactive = np.maximum(slopes - alpha, 0.0)
    active = np.abs(products - alpha * np.sign(codes))
    violation = np.where(codes == 0, inactive, active).max(axis=1, initial=0.0)
    return np.maximum(gap, 0.0), violation


def _start(init: Any, n: int, k: int, positive: bool) -> Array:
    if init is None:
        return np.zeros((n, k))
    codes = np.array(np.atleast_2d(np.asarray(init)), dtype=np.float64, order="C")
    if codes.shape != (n, k) or not np.isfinite(codes).all():
        raise ValueError(
            f"The 'init' parameter of feature_sign_search must be finite codes of shape {(n, k)}. "
            f"Got shape {codes.shape} instead."
        )
    return np.maximum(codes, 0.0) if positive else codes
