"""Greedy sparse codes: matching pursuit and orthogonal matching pursuit, in batches."""

from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from isthmus._checks import check_choice, check_int
from isthmus._door import with_door
from isthmus._warnings import warn
from isthmus.linalg.threads import rest_in_threads
from isthmus.sparse.pursuit.checks import check_signals, count_limit, residual_goals
from isthmus.typing import Array, BoolArray, IntArray

# Signals are coded in blocks of this many, whatever the number of threads, so that products of
# matrices have the same shapes and all bits of the codes are the same.
_BLOCK = 128


@with_door
def orthogonal_matching_pursuit(
    X: Any,
    D: Any,
    *,
    n_nonzero: int | None = None,
    tol: Any = None,
    rule: str = "correlation",
    sparse_output: bool = False,
    n_jobs: int | None = None,
) -> Any:
    r"""Codes with few non-zeros of signals over a dictionary, by orthogonal matching pursuit.

    Seeks, greedily, the solution of

    .. math:: \min_c\|c\|_0\quad\text{subject to}\quad\|x-cD\|\le\text{tol}

    or of :math:`\min_c\|x-cD\|` with at most ``n_nonzero`` non-zeros: the atom that correlates
    most with the residual joins the support, then all coefficients are fitted again
    [Pati1993]_. Where all atoms differ by :math:`|\langle d_i,d_j\rangle|<1/(2S-1)`, a signal
    made of :math:`S` atoms is found exactly [Tropp2004]_.

    Parameters
    ----------
    X : array of shape (n_signals, n_features)
        Signals. ``nan`` marks entries that were not observed: such a signal is coded by its
        observed entries, with coefficients of the whole atoms, so ``codes @ D`` fills the gaps.
    D : array of shape (n_atoms, n_features)
        Dictionary, one atom per row, of any lengths.
    n_nonzero : int or None, default=None
        Maximum number of non-zeros, no more than there are atoms. None with ``tol`` sets no limit
        but the number of features; None without ``tol`` takes a tenth of the features, at least
        one.
    tol : float, array of shape (n_signals,) or None, default=None
        Stop when the norm (not its square) of the residual is no larger. A warning tells where
        that cannot be reached.
    rule : {"correlation", "residual"}, default="correlation"
        The next atom: the one that correlates most with the residual, or the one after which
        the re-fitted residual is smallest (order-recursive pursuit, orthogonal least squares),
        which costs more and mostly has a smaller error. Signals with gaps allow the first only.
    sparse_output : bool, default=False
        Return a :class:`scipy.sparse.csr_array` instead of a dense array.
    n_jobs : int or None, default=None
        Threads, as in joblib; None takes as many as BLAS has, where the work is long enough. The
        codes do not depend on it, to the last bit.

    Returns
    -------
    codes : array of shape (n_signals, n_atoms)

    See Also
    --------
    KSVD : learns the dictionary.
    sklearn.linear_model.orthogonal_mp_gram : the same codes, one signal at a time. Its ``tol`` is
        the squared norm.

    Notes
    -----
    Batch pursuit [Rubinstein2008]_: with the Gram matrix of the atoms, a step costs the number of
    atoms times the size of the support. Below :math:`10^{-8}` of the signal's energy the residual
    is formed itself, since the error by subtraction has then lost its digits.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import orthogonal_matching_pursuit
    >>> D = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> orthogonal_matching_pursuit([[1.2, 1.6], [3.0, 0.1]], D, n_nonzero=1)
    array([[0., 0., 2.],
           [3., 0., 0.]])
    """
    X, D = check_signals(X, D, "orthogonal_matching_pursuit")
    check_choice(rule, "rule", "orthogonal_matching_pursuit", ("correlation", "residual"))
    limit = count_limit("orthogonal_matching_pursuit", n_nonzero, tol, *D.shape)
    goals = residual_goals("orthogonal_matching_pursuit", tol, len(X))
    atoms, lengths = unit_rows(D)
    gram = atoms @ atoms.T
    warn_of_equal_atoms(gram)
    errors = np.full(len(X), np.inf)
    support, coef = pursue(
        X, atoms, limit, goals, gram=gram, rule=rule, n_jobs=n_jobs, errors=errors
    )
    limited = n_nonzero is not None or tol is None
    warn_of_short_codes(X, atoms, support, coef, goals, errors, limited=limited)
    # Unused places point to atom -1, whose length must not matter.
    coef /= np.where(lengths > 0, lengths, 1.0)[support]
    return as_sparse(support, coef, len(D)) if sparse_output else as_dense(support, coef, len(D))


@with_door
def matching_pursuit(
    X: Any, D: Any, *, max_iter: int | None = None, tol: Any = None, n_jobs: int | None = None
) -> Array:
    r"""Codes by matching pursuit: the best atom takes its share of the residual, repeatedly.

    .. math:: j=\arg\max_j|\langle d_j,r\rangle|,\qquad
              c_j\leftarrow c_j+\langle d_j,r\rangle,\qquad r\leftarrow r-\langle d_j,r\rangle d_j

    for unit atoms. Coefficients are never fitted again, so an atom may be chosen again and the
    residual only shrinks geometrically [MallatZhang1993]_; the orthogonal pursuit needs fewer
    atoms for the same error.

    Parameters
    ----------
    X : array of shape (n_signals, n_features)
    D : array of shape (n_atoms, n_features)
        Dictionary, one atom per row, of any lengths.
    max_iter : int or None, default=None
        Maximum number of steps, each of which takes one atom; None takes the number of features.
    tol : float, array of shape (n_signals,) or None, default=None
        Stop when the norm of the residual is no larger.
    n_jobs : int or None, default=None
        Threads, as in joblib; None takes as many as BLAS has, where the work is long enough.

    Returns
    -------
    codes : ndarray of shape (n_signals, n_atoms)

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import matching_pursuit
    >>> D = np.array([[1.0, 0.0], [0.6, 0.8]])
    >>> matching_pursuit([[1.0, 1.0]], D, max_iter=2).round(3)
    array([[0.16, 1.4 ]])
    """
    # Imported here: numba takes a good part of a second.
    from isthmus.sparse.pursuit.loops import plain_pursuits

    X, D = check_signals(X, D, "matching_pursuit", gaps=False)
    steps = D.shape[1]
    if max_iter is not None:
        steps = check_int(max_iter, "max_iter", "matching_pursuit", low=1)
    goals = residual_goals("matching_pursuit", tol, len(X))
    atoms, lengths = unit_rows(D)
    G = atoms @ atoms.T
    warn_of_equal_atoms(G)
    codes = np.zeros((len(X), len(D)))

    def code(rows: slice) -> None:
        plain_pursuits(X[rows], G, X[rows] @ atoms.T, goals[rows], steps, codes[rows])

    code_in_blocks(code, len(X), n_jobs)
    return codes / np.where(lengths > 0, lengths, 1.0)


def pursue(
    X: Array,
    atoms: Array,
    n_nonzero: int,
    goals: Array,
    *,
    gram: Array | None = None,
    rule: str = "correlation",
    n_jobs: int | None = None,
    errors: Array | None = None,
) -> tuple[IntArray, Array]:
    """Supports and coefficients, both (n_signals, n_nonzero), over atoms of unit length.

    Places that were not needed hold atom -1 with coefficient zero. ``errors`` becomes the squared
    norms of the residuals of signals without gaps. No checks.
    """
    X, atoms = as_contiguous(X), as_contiguous(atoms)
    support = np.empty((len(X), n_nonzero), dtype=np.int32)
    coef = np.empty((len(X), n_nonzero))
    observed = ~np.isnan(X)
    if observed.all():
        G = atoms @ atoms.T if gram is None else gram
        left = np.empty(len(X)) if errors is None else errors
        recursive = rule == "residual"
        code = _orthogonal_coder(X, atoms, G, goals, recursive, support, coef, left)
    elif rule == "correlation":
        code = _masked_coder(X, observed, atoms, goals, support, coef)
    else:
        raise ValueError(
            "Signals with gaps (nan) are coded by rule='correlation' only. Got "
            f"rule={rule!r} instead."
        )
    code_in_blocks(code, len(X), n_jobs)
    return support, coef


def _masked_coder(
    X: Array, observed: BoolArray, atoms: Array, goals: Array, support: IntArray, coef: Array
) -> Callable[[slice], None]:
    """A function that codes some of the rows of ``X`` by what is observed of them."""
    # Imported here: numba takes a good part of a second.
    from isthmus.sparse.pursuit.loops import masked_pursuits

    columns = np.ascontiguousarray(atoms.T)
    (k, p), s = atoms.shape, support.shape[1]
    shapes = (2, k), (s + 1, p), (s + 1, s)

    def code(rows: slice) -> None:
        outputs, memory = (support[rows], coef[rows]), [np.empty(shape) for shape in shapes]
        masked_pursuits(X[rows], observed[rows], columns, goals[rows], *outputs, *memory)

    return code


def _orthogonal_coder(
    X: Array,
    atoms: Array,
    gram: Array,
    goals: Array,
    recursive: bool,
    support: IntArray,
    coef: Array,
    errors: Array,
) -> Callable[[slice], None]:
    """A function that codes some of the rows of ``X``, and writes to the last three."""
    from isthmus.linalg.lanes import LANES, aligned
    from isthmus.sparse.pursuit.orthogonal_loops import WIDTH, orthogonal_pursuits

    k, n_nonzero = len(atoms), support.shape[1]
    whole = k + -k % WIDTH
    G = aligned(whole, whole)
    G[k:] = G[:k, k:] = 0.0
    G[:k, :k] = gram
    lanes = -np.arange(LANES, dtype=np.float64)
    spare: list[tuple[Array, ...]] = []  # memory of blocks that are done

    def room() -> tuple[Array, ...]:
        rows = aligned(_BLOCK, whole), aligned(n_nonzero + 1, whole)
        return *rows, np.empty((3, n_nonzero)), np.empty(X.shape[1])

    def code(rows: slice) -> None:
        some = X[rows]
        try:  # a single step: threads do not share memory
            memory = spare.pop()
        except IndexError:
            memory = room()
        B = memory[0][: len(some)]
        np.matmul(some, atoms.T, out=B[:, :k])
        B[:, k:] = 0.0
        outputs = support[rows], coef[rows], errors[rows]
        orthogonal_pursuits(some, atoms, G, B, goals[rows], recursive, *outputs, *memory[1:], lanes)
        spare.append(memory)

    return code


def warn_of_short_codes(
    X: Array,
    atoms: Array,
    support: IntArray,
    coef: Array,
    goals: Array,
    errors: Array,
    *,
    limited: bool,
) -> None:
    """Warn where a code ended above its goal although it was allowed more atoms.

    ``limited`` says that the number of non-zeros was limited, which may well end above a goal.
    Squared ``errors`` are those of the pursuit: where they reach the goal no residual is formed.
    """
    short = errors > goals**2
    if limited:
        short &= (support < 0).any(axis=1)
    rows = np.flatnonzero(short)
    if not len(rows):
        return
    residual = X[rows] - as_sparse(support[rows], coef[rows], len(atoms)) @ atoms
    residual = np.nan_to_num(residual)  # what was not observed is not missed
    norms = np.linalg.norm(np.nan_to_num(X[rows]), axis=1)
    left = np.linalg.norm(residual, axis=1)
    above = left > np.maximum(goals[rows] * (1 + 1e-6), 1e-6 * norms)
    if above.any():
        worst = int(np.argmax(np.where(above, left, 0.0)))
        warn(
            f"Orthogonal matching pursuit ended above its goal for {int(above.sum())} of {len(X)} "
            f"signals: the residual of signal {rows[worst]} is {left[worst]:.3g}, expected at "
            f"most {goals[rows[worst]]:.3g}. The atoms left are spanned by those in use; raise "
            "tol, or take a dictionary that spans the signals.",
            ConvergenceWarning,
        )


def warn_of_equal_atoms(G: Array) -> None:
    """Warn of two atoms that agree up to sign and length, of which either could be used."""
    likeness = np.abs(G)
    np.fill_diagonal(likeness, 0.0)
    i, j = np.unravel_index(int(np.argmax(likeness)), likeness.shape)
    if likeness[i, j] > 1 - 1e-12:
        warn(
            f"Atoms {min(i, j)} and {max(i, j)} of the dictionary are equal up to their length: "
            "which of them a code uses means nothing. Drop one of them.",
            RuntimeWarning,
        )


def code_in_blocks(code: Callable[[slice], None], n: int, n_jobs: int | None) -> None:
    blocks = [slice(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK)]
    jobs = effective_n_jobs(n_jobs)
    if n_jobs is None and jobs == 1:
        rest_in_threads(code, blocks)
    elif jobs == 1 or len(blocks) == 1:
        for rows in blocks:
            code(rows)
    else:
        Parallel(n_jobs=n_jobs, prefer="threads")(delayed(code)(rows) for rows in blocks)


def as_dense(support: IntArray, coef: Array, n_atoms: int) -> Array:
    """Codes of shape (n_signals, n_atoms)."""
    codes = np.zeros((len(support), n_atoms))
    places = support + n_atoms * np.arange(len(support))[:, None]
    used = support >= 0
    if used.all():
        codes.reshape(-1)[places] = coef
    else:
        codes.reshape(-1)[places[used]] = coef[used]
    return codes


def as_sparse(support: IntArray, coef: Array, n_atoms: int) -> csr_array:
    """The same as a sparse array, atoms in ascending order."""
    used = support >= 0
    starts = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
    codes = csr_array((coef[used], support[used], starts), shape=(len(support), n_atoms))
    codes.sort_indices()
    return codes


def as_contiguous(a: Array) -> Array:
    """The array, copied where read-only or not contiguous: loops are compiled for one kind."""
    return np.require(a, dtype=np.float64, requirements=["C", "W"])


def unit_rows(D: Array) -> tuple[Array, Array]:
    """Rows scaled to unit length, and their lengths; zero rows stay."""
    lengths = np.linalg.norm(D, axis=1)
    return D / np.where(lengths > 0, lengths, 1.0)[:, None], lengths
