"""Orthogonal matching pursuit that knows signals and atoms by their inner products alone."""

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.utils import check_array

from isthmus._checks import check_int
from isthmus._door import with_door
from isthmus.sparse.pursuit.checks import residual_goals
from isthmus.sparse.pursuit.matching import as_dense, pursue
from isthmus.typing import Array, IntArray

OWNER = "gram_pursuit"
# Inner products of unit atoms: eigenvalues below this are rounding errors.
ROUNDING = 1e-10


class PursuitPath(NamedTuple):
    """Codes, and how they came about; arrays over signals first."""

    codes: Array  #: (n_signals, n_atoms)
    support: IntArray  #: (n_signals, n_nonzero), atoms in the order of their choice, -1 unused
    coefficients: Array  #: (n_signals, n_nonzero, n_nonzero), row t has those after t + 1 atoms
    squared_errors: Array | None  #: (n_signals, n_nonzero + 1), or None without ``squares``

    def codes_after(self, n_nonzero: int) -> Array:
        """The codes with the first ``n_nonzero`` atoms, at least one."""
        t = check_int(n_nonzero, "n_nonzero", OWNER, low=1, high=self.support.shape[1]) - 1
        # A signal that ended earlier keeps its last coefficients.
        coef = self.coefficients[:, t]
        return as_dense(np.where(np.arange(coef.shape[1]) <= t, self.support, -1), coef,
                        self.codes.shape[1])  # fmt: skip


PursuitPath.__module__ = "isthmus.sparse"


@with_door
def gram_pursuit(
    G: Any,
    B: Any,
    *,
    n_nonzero: int | None = None,
    tol: Any = None,
    squares: Any = None,
    rule: str = "correlation",
    n_jobs: int | None = None,
) -> PursuitPath:
    r"""Orthogonal matching pursuit from inner products, with its whole path.

    The pursuit of :func:`orthogonal_matching_pursuit` needs no more than :math:`G=DD^\top` and
    :math:`B=XD^\top`: signals and atoms may be vectors of any length or points of a feature space,
    where :math:`G` is a kernel matrix.

    Parameters
    ----------
    G : array of shape (n_atoms, n_atoms)
        Inner products of the atoms, positive semi-definite with a positive diagonal.
    B : array of shape (n_signals, n_atoms)
        Inner products of signals and atoms.
    n_nonzero : int or None, default=None
        Maximum number of non-zeros; None with ``tol`` sets no limit but the rank of ``G``, without
        ``tol`` it is a tenth of the atoms, at least one.
    tol : float, array of shape (n_signals,) or None, default=None
        Stop when the norm of the residual is no larger; needs ``squares``.
    squares : array of shape (n_signals,) or None, default=None
        Squared norms of the signals.
    rule : {"correlation", "residual"}, default="correlation"
    n_jobs : int or None, default=None

    Returns
    -------
    PursuitPath
        ``codes``, ``support`` in the order of choice, ``coefficients`` after every step and, with
        ``squares``, ``squared_errors`` before the first and after every step.

    See Also
    --------
    sklearn.linear_model.orthogonal_mp_gram : codes and coefficients of one signal after another.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import gram_pursuit
    >>> D, x = np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([[1.0, 1.0]])
    >>> path = gram_pursuit(D @ D.T, x @ D.T, n_nonzero=2, squares=[2.0])
    >>> path.support, path.squared_errors.round(3) + 0.0
    (array([[1, 0]], dtype=int32), array([[2.  , 0.04, 0.  ]]))
    >>> path.codes_after(1)
    array([[0. , 1.4]])
    """
    G, B = _check_products(G, B)
    atoms, lengths = _atoms_of(G)
    X = np.linalg.lstsq(atoms, (B / lengths).T, rcond=None)[0].T
    most = atoms.shape[1]
    if n_nonzero is None:
        limit = most if tol is not None else min(most, max(1, len(G) // 10))
    else:
        limit = min(check_int(n_nonzero, "n_nonzero", OWNER, low=1, high=len(G)), most)
    goals = residual_goals(OWNER, tol, len(B))
    if tol is not None:
        goals = np.sqrt(np.maximum(goals**2 - _outside(X, squares), 0.0))
    support, _ = pursue(X, atoms, limit, goals, rule=rule, n_jobs=n_jobs)
    coefficients = _path_coefficients(G, B, support)
    errors = None
    if squares is not None:
        errors = _errors(G, B, support, coefficients, _check_squares(squares, len(B)))
    codes = as_dense(support, coefficients[:, -1], len(G))
    return PursuitPath(codes, support, coefficients, errors)


def _atoms_of(G: Array) -> tuple[Array, Array]:
    """Unit rows with the inner products of the atoms, of as few columns as there are."""
    lengths = np.sqrt(np.diagonal(G))
    eigenvalues, U = linalg.eigh(G / np.outer(lengths, lengths))
    if eigenvalues[0] < -1e-8 * eigenvalues[-1]:
        raise ValueError(
            f"{OWNER} needs a positive semi-definite matrix G. Got an eigenvalue of "
            f"{eigenvalues[0]:.2g} times the squared lengths of the atoms."
        )
    keep = eigenvalues > ROUNDING * eigenvalues[-1]
    return U[:, keep] * np.sqrt(eigenvalues[keep]), lengths


def _outside(X: Array, squares: Any) -> Array:
    """Squared norms of what no atom reaches."""
    if squares is None:
        raise ValueError(f"The 'tol' parameter of {OWNER} needs squares, the norms of the signals.")
    inside = np.einsum("ij,ij->i", X, X)
    return np.maximum(_check_squares(squares, len(X)) - inside, 0.0)


def _path_coefficients(G: Array, B: Array, support: IntArray) -> Array:
    """After every step, the coefficients of the atoms so far; a signal that ended repeats them."""
    n, S = support.shape
    result = np.zeros((n, S, S))
    rows = np.arange(n)[:, None]
    used = support >= 0
    for t in range(S):
        alive = used[:, t]
        if t:
            result[~alive, t] = result[~alive, t - 1]
        if not alive.any():
            continue
        some = support[alive, : t + 1]
        grams = G[some[:, :, None], some[:, None, :]]
        values = np.linalg.solve(grams, B[rows[alive], some][:, :, None])
        result[alive, t, : t + 1] = values[:, :, 0]
    return result


def _errors(G: Array, B: Array, support: IntArray, coefficients: Array, squares: Array) -> Array:
    safe = np.maximum(support, 0)
    b = np.where(support >= 0, np.take_along_axis(B, safe, axis=1), 0.0)
    # At the best coefficients ‖x - aD‖² = ‖x‖² - a·b.
    explained = np.einsum("nts,ns->nt", coefficients, b)
    return np.maximum(np.column_stack([squares, squares[:, None] - explained]), 0.0)


def _check_products(G: Any, B: Any) -> tuple[Array, Array]:
    G = check_array(G, dtype=np.float64, input_name="G", estimator=OWNER)
    B = check_array(B, dtype=np.float64, input_name="B", estimator=OWNER)
    if G.shape[0] != G.shape[1] or B.shape[1] != len(G):
        raise ValueError(
            f"{OWNER} needs G of shape (n_atoms, n_atoms) and B of shape (n_signals, n_atoms). Got "
            f"{G.shape} and {B.shape}."
        )
    if np.abs(G - G.T).max() > 1e-10 * np.abs(G).max() or np.diagonal(G).min() <= 0:
        raise ValueError(f"{OWNER} needs a symmetric matrix G with a positive diagonal.")
    return (G + G.T) / 2, B


def _check_squares(squares: Any, n: int) -> Array:
    values = np.asarray(squares, dtype=np.float64)
    if values.shape != (n,) or not np.isfinite(values).all() or values.min(initial=0.0) < 0:
        raise ValueError(
            f"The 'squares' parameter of {OWNER} must hold {n} numbers in [0, inf), one for each "
            f"signal. Got {squares!r:.80}."
        )
    return values
