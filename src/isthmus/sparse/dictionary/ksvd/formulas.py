r"""K-SVD as functions on arrays.

.. math:: \min_{D,C}\|X-CD\|_F^2\quad\text{subject to}\quad\|c_i\|_0\le S,\ \|d_j\|=1

Codes are held as ``support`` (n_signals, S), the numbers of their atoms with -1 for unused places,
and ``coef`` of the same shape.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from isthmus.sparse.pursuit.matching import as_contiguous, pursue, unit_rows
from isthmus.typing import Array, BoolArray, IntArray


class SparseCodes(NamedTuple):
    """Codes of signals and what they leave: ``residual`` is X - C D."""

    support: IntArray
    coef: Array
    residual: Array

    @property
    def errors(self) -> Array:
        """Squared norm of each residual."""
        return np.einsum("ij,ij->i", self.residual, self.residual)


def initial_atoms(X: Array, n_atoms: int, rng: np.random.RandomState) -> Array:
    """Signals drawn at random, scaled to unit length; random directions where they run out."""
    lengths = np.linalg.norm(X, axis=1)
    usable = np.flatnonzero(lengths > 1e-12 * lengths.max(initial=0.0))
    drawn = rng.permutation(usable)[:n_atoms]
    atoms = np.empty((n_atoms, X.shape[1]))
    atoms[: len(drawn)] = X[drawn]
    atoms[len(drawn) :] = rng.normal(size=(n_atoms - len(drawn), X.shape[1]))
    return unit_rows(atoms)[0]


def pursue_codes(
    X: Array,
    D: Array,
    n_nonzero: int,
    goals: Array,
    *,
    rule: str = "correlation",
    n_jobs: int | None = None,
    last: SparseCodes | None = None,
) -> SparseCodes:
    """Codes by orthogonal pursuit, none of them worse than the ``last`` one.

    Where the pursuit errs more than the last code does, the last support is kept and its
    coefficients are fitted again. The total error can then only fall.
    """
    from isthmus.sparse.dictionary.ksvd.loops import refit, residuals

    X, D = as_contiguous(X), as_contiguous(D)
    gram = D @ D.T
    support, coef = pursue(X, D, n_nonzero, goals, gram=gram, rule=rule, n_jobs=n_jobs)
    residual = np.empty_like(X)
    residuals(X, D, support, coef, residual)
    codes = SparseCodes(support, coef, residual)
    if last is None:
        return codes
    # A code that reaches its goal is good enough, and may be shorter than the last.
    worse = np.flatnonzero(codes.errors > np.maximum(last.errors, goals**2))
    if len(worse):
        kept_support, kept_coef = last.support[worse], last.coef[worse]
        s = support.shape[1]
        room = np.empty((s + 1, s)), np.empty((2, s), dtype=np.int64)
        refit(X[worse], D, gram, kept_support, kept_coef, *room)
        kept = np.empty((len(worse), X.shape[1]))
        residuals(X[worse], D, kept_support, kept_coef, kept)
        support[worse], coef[worse], residual[worse] = kept_support, kept_coef, kept
    return codes


def users(support: IntArray, n_atoms: int) -> tuple[IntArray, IntArray]:
    """Places of each atom in the supports: ``places[starts[j]:starts[j + 1]]`` are those of j.

    A place is counted through the rows of ``support``.

    >>> users(np.array([[2, 0], [0, -1]]), 3)
    (array([0, 2, 2, 3]), array([1, 2, 0]))
    """
    used = support >= 0
    ends = np.append(0, np.cumsum(used.sum(axis=1)))
    places = csr_array((np.flatnonzero(used), support[used], ends), (len(support), n_atoms))
    by_atom = places.tocsc()
    return by_atom.indptr.astype(np.int64), by_atom.data


def approximate_sweep(D: Array, codes: SparseCodes, order: IntArray, n_power: int = 1) -> None:
    """Power steps for all atoms in turn, in place [Rubinstein2008]_. No step raises the error."""
    from isthmus.sparse.dictionary.ksvd.loops import power_sweep

    starts, places = users(codes.support, len(D))
    (_, s), most = codes.coef.shape, int(np.diff(starts).max(initial=0))
    room = *np.empty((2, D.shape[1])), np.empty((2, most)), np.empty(most, dtype=np.int64)
    flat = codes.coef.reshape(-1)
    power_sweep(codes.residual, D, flat, s, order, starts, places, n_power, *room)


def exact_sweep(D: Array, codes: SparseCodes, order: IntArray) -> None:
    """The best rank-one fit for all atoms in turn, in place [Aharon2006]_."""
    starts, places = users(codes.support, len(D))
    flat, R = codes.coef.reshape(-1), codes.residual
    for j in order:
        mine = places[starts[j] : starts[j + 1]]
        if len(mine) == 0:
            continue
        rows = mine // codes.coef.shape[1]
        E = R[rows] + flat[mine, None] * D[j]
        d = leading_direction(E)
        # The sign that keeps coefficients as they were.
        D[j] = d if d @ D[j] >= 0 else -d
        flat[mine] = E @ D[j]
        R[rows] = E - flat[mine, None] * D[j]


def leading_direction(E: Array) -> Array:
    """First right singular vector of ``E``, from the smaller of its two Gram matrices.

    >>> import numpy as np
    >>> leading_direction(np.array([[0.0, 2.0], [0.0, -1.0], [0.1, 0.0]])).round(6) + 0.0
    array([0., 1.])
    """
    n, p = E.shape
    if n < p:
        u = eigh(E @ E.T, subset_by_index=[n - 1, n - 1])[1][:, 0]
        d = E.T @ u
        length = float(np.linalg.norm(d))
        if length > 0:
            return np.asarray(d / length)
    d = eigh(E.T @ E, subset_by_index=[p - 1, p - 1])[1][:, 0]
    return np.asarray(d * (1.0 if d.sum() >= 0 else -1.0))


def poor_atoms(D: Array, used: IntArray, *, min_usage: int, max_coherence: float) -> BoolArray:
    """Atoms used too rarely, and the less used one of each two that are nearly the same.

    ``used`` names an atom once for each signal that uses it; -1 names none.
    """
    usage = np.bincount(used[used >= 0].ravel(), minlength=len(D))
    return poor_by_usage(D, usage, min_usage=min_usage, max_coherence=max_coherence)


def poor_by_usage(D: Array, usage: Any, *, min_usage: int, max_coherence: float) -> BoolArray:
    """The same, where it is known how many signals use each atom."""
    poor: BoolArray = usage < min_usage
    similarity = np.abs(D @ D.T)
    np.fill_diagonal(similarity, 0.0)
    alike = similarity > max_coherence
    for i, j in np.argwhere(np.triu(alike)) if alike.any() else ():
        if not (poor[i] or poor[j]):
            poor[i if usage[i] < usage[j] else j] = True
    return poor


def replace_atoms(D: Array, codes: SparseCodes, poor: BoolArray, X: Array) -> IntArray:
    """Put the worst represented signals in the place of poor atoms, in place; return which.

    What used a poor atom has it taken out of its code, so residuals stay those of the codes.
    """
    from isthmus.sparse.dictionary.ksvd.loops import residuals

    errors = codes.errors
    worst = np.argsort(-errors, kind="stable")
    energy = np.einsum("ij,ij->i", X[worst], X[worst])
    worst = worst[errors[worst] > 1e-24 * energy]
    places = np.flatnonzero(poor)[: len(worst)]
    gone = np.isin(codes.support, places)
    affected = np.flatnonzero(gone.any(axis=1))
    codes.coef[gone] = 0.0
    residual = np.empty((len(affected), X.shape[1]))
    residuals(
        X[affected], as_contiguous(D), codes.support[affected], codes.coef[affected], residual
    )
    codes.residual[affected] = residual
    D[places] = unit_rows(X[worst[: len(places)]])[0]
    return places
