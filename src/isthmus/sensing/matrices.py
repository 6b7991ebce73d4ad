"""Matrices that measure: random ones written out, structured ones as fast operators."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from isthmus._checks import check_choice, check_int, check_seed
from isthmus.sensing.bases import Basis, orthonormal_basis
from isthmus.typing import Array, IntArray

_DENSE = ("gaussian", "bernoulli", "sphere", "orthonormal")
_FAST = ("dct", "fourier", "hadamard", "noiselet")
KINDS = (*_DENSE, "sparse", *_FAST)


class SampledBasis(LinearOperator):
    r"""Some vectors of an orthonormal basis as rows, :math:`\sqrt{n/m}\,R\,D^\top S`.

    ``S`` changes signs of the signal's entries (``signs``, all one without scrambling) and ``R``
    picks the ``rows``. The rows are orthogonal, so :math:`AA^\top=(n/m)I`.
    """

    def __init__(self, basis: Basis, rows: IntArray, signs: Array | None):
        n = basis.shape[0]
        super().__init__(np.dtype(np.float64), (len(rows), n))
        self.basis, self.rows, self.signs = basis, rows, signs
        self.scale = float(np.sqrt(n / len(rows)))

    def _matvec(self, x: Array) -> Array:
        x = np.ravel(x)
        if self.signs is not None:
            x = self.signs * x
        return self.scale * self.basis.analysis(x)[self.rows]

    def _rmatvec(self, y: Array) -> Array:
        spread = np.zeros(self.shape[1])
        spread[self.rows] = np.ravel(y)
        x = self.scale * self.basis.synthesis(spread)
        return x if self.signs is None else self.signs * x


def sensing_matrix(
    kind: str, m: int, n: int, *, random_state: Any = None, scramble: bool = False
) -> Any:
    r"""A matrix of ``m`` random measurements of signals of length ``n``.

    Columns have unit norm, exactly or in the mean, as the restricted isometry property wants it;
    rows of a basis are therefore multiplied by :math:`\sqrt{n/m}`.

    Parameters
    ----------
    kind : str
        Written out: ``"gaussian"`` entries N(0, 1/m); ``"bernoulli"`` entries :math:`\pm1/\sqrt m`;
        ``"sphere"`` columns uniform on the sphere; ``"orthonormal"`` rows of a random orthonormal
        basis. A sparse array: ``"sparse"``, entries 0 with probability 2/3, otherwise
        :math:`\pm\sqrt{3/m}` [Achlioptas2003]_. Fast operators: ``"dct"``, ``"fourier"``,
        ``"hadamard"``, ``"noiselet"``, rows of that basis drawn without replacement.
    m, n : int
        Number of measurements, at most ``n`` for rows of a basis; length of the signal.
    random_state : int, RandomState or None
    scramble : bool, default=False
        Change the sign of random entries of the signal first. It makes a fast operator incoherent
        with any fixed dictionary; without it ``"dct"`` and ``"hadamard"`` measure smooth
        signals badly, whose energy is in few of their rows. Random kinds need no scrambling.

    Returns
    -------
    ndarray, scipy.sparse.csr_array or scipy.sparse.linalg.LinearOperator of shape (m, n)
        ``A @ x`` and ``A.T @ y`` work with all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sensing import sensing_matrix
    >>> A = sensing_matrix("bernoulli", 4, 10, random_state=0)
    >>> A.shape, np.unique(np.abs(A))
    ((4, 10), array([0.5]))
    >>> F = sensing_matrix("dct", 1000, 100_000, random_state=0)
    >>> y = np.ones(1000)
    >>> bool(np.allclose(F @ (F.T @ y), 100 * y))  # orthogonal rows of norm 10
    True
    """
    check_choice(kind, "kind", "sensing_matrix", KINDS)
    of_basis = kind in (*_FAST, "orthonormal")
    check_int(m, "m", "sensing_matrix", low=1)
    check_int(n, "n", "sensing_matrix", low=1)
    if of_basis and m > n:
        raise ValueError(
            f"A basis of dimension n = {n} has no m = {m} rows; take m <= n or kind='gaussian'."
        )
    random = check_seed(random_state, "random_state", "sensing_matrix")
    if kind in _FAST:
        rows = np.sort(random.permutation(n)[:m])
        signs = random.choice([-1.0, 1.0], size=n) if scramble else None
        return SampledBasis(orthonormal_basis(kind, n), rows, signs)
    if kind == "gaussian":
        return random.normal(size=(m, n)) / np.sqrt(m)
    if kind == "bernoulli":
        return random.choice([-1.0, 1.0], size=(m, n)) / np.sqrt(m)
    if kind == "sphere":
        A = random.normal(size=(m, n))
        return A / np.linalg.norm(A, axis=0)
    if kind == "orthonormal":
        # The sign of R makes the law uniform, which QR alone is not.
        Q, R = np.linalg.qr(random.normal(size=(n, m)))
        return np.sqrt(n / m) * (Q * np.sign(np.diag(R))).T
    values = random.choice([-1.0, 0.0, 1.0], p=[1 / 6, 2 / 3, 1 / 6], size=(m, n))
    return sparse.csr_array(np.sqrt(3 / m) * values)


def as_dense_matrix(A: Any, *, what: str, limit: float = np.inf) -> Array:
    """``A`` as a dense array, refused where it has more than ``limit`` entries."""
    m, n = A.shape
    if m * n > limit:
        raise ValueError(
            f"{what} needs the matrix written out, at most {limit:.0e} entries. "
            f"Got shape {A.shape}."
        )
    if sparse.issparse(A):
        return np.asarray(A.toarray(), dtype=np.float64)
    if isinstance(A, LinearOperator):
        # The fewer of rows and columns.
        if m < n:
            return np.stack([A.rmatvec(e) for e in np.eye(m)])
        return np.stack([A.matvec(e) for e in np.eye(n)], axis=1)
    return np.asarray(A, dtype=np.float64)
