"""How well does a matrix measure? Coherence, restricted isometry and what they promise."""

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from scipy.special import ndtr
from sklearn.utils import check_random_state

from isthmus._checks import check_int, refusal
from isthmus._door import with_door
from isthmus.blocks.slices import block_slices
from isthmus.sensing.matrices import as_dense_matrix
from isthmus.typing import Array, IntArray

_ENTRIES = 1e8  # of a Gram matrix that is still written out


@with_door
def mutual_coherence(A: Any, B: Any = None) -> float:
    r"""Largest similarity of two different columns, or of the columns of two bases.

    .. math:: \mu(A)=\max_{i\ne j}\frac{|\langle a_i,a_j\rangle|}{\|a_i\|\|a_j\|},\qquad
              \mu(A,B)=\sqrt n\,\max_{ij}|\langle a_i,b_j\rangle|

    The first is between 0 and 1: every vector with fewer than :math:`(1+1/\mu)/2` non-zero
    entries is found by basis pursuit and by orthogonal matching pursuit [Tropp2004]_. The second is
    for orthonormal bases and between 1 (spikes and waves) and :math:`\sqrt n` (a common vector):
    one measures in ``A`` what is sparse in ``B`` [CandesRomberg2007]_.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator of shape (m, n)
    B : the same, of shape (m, k), optional

    Examples
    --------
    >>> from isthmus.sensing import mutual_coherence, orthonormal_basis
    >>> spikes, waves = (orthonormal_basis(kind, 64) for kind in ("identity", "hadamard"))
    >>> round(mutual_coherence(spikes, waves), 12)
    1.0
    >>> round(mutual_coherence([[1, 0, 1], [0, 1, 1]]), 4)
    0.7071
    """
    first = _matrix(A, "mutual_coherence")
    if B is not None:
        second = _matrix(B, "mutual_coherence")
        if len(first) != len(second):
            raise ValueError(
                "mutual_coherence compares columns of one length. "
                f"Got {len(first)} and {len(second)}."
            )
        blocks = block_slices(first.shape[1], second.shape[1])
        largest = max(float(np.abs(first[:, rows].T @ second).max()) for rows in blocks)
        return float(np.sqrt(len(first))) * largest
    if first.shape[1] < 2:
        return 0.0
    norms = np.linalg.norm(first, axis=0)
    if not norms.all():
        raise ValueError(
            "mutual_coherence needs columns that are not zero. "
            f"Got column {int(np.argmin(norms))} zero."
        )
    unit = first / norms
    largest = 0.0
    for rows in block_slices(unit.shape[1], unit.shape[1]):
        similarity = np.abs(unit[:, rows].T @ unit)
        inside = np.arange(similarity.shape[0])
        similarity[inside, inside + rows.start] = 0
        largest = max(largest, float(similarity.max()))
    return min(largest, 1.0)


@dataclass(frozen=True)
class RestrictedIsometry:
    r"""Bounds of the restricted isometry constant :math:`\delta_S`; equal where it is exact."""

    __module__ = "isthmus.sensing"

    lower: float
    upper: float
    n_nonzero: int
    n_supports: int

    @property
    def exact(self) -> bool:
        """Whether every support was examined."""
        return self.lower == self.upper


@with_door
def restricted_isometry(
    A: Any,
    n_nonzero: int,
    *,
    n_supports: int = 2000,
    max_exact: int = 20_000,
    random_state: Any = None,
) -> RestrictedIsometry:
    r"""Bounds of the constant :math:`\delta_S` in

    .. math:: (1-\delta_S)\|a\|^2\le\|Aa\|^2\le(1+\delta_S)\|a\|^2
              \quad\text{for all }a\text{ with at most }S\text{ non-zero entries.}

    The constant itself is hard to compute. Supports drawn at random give a lower bound, each
    improved by exchanging its least harmful column; Gershgorin's circles give an upper bound,
    usually far away (at most :math:`(S-1)\mu` for unit columns). Where there are at most
    ``max_exact`` supports all are examined, and the bounds agree. A small lower bound is *no*
    proof of recovery.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator of shape (m, n)
    n_nonzero : int
        The :math:`S` above.
    n_supports : int, default=2000
        Number of supports to draw.
    max_exact : int, default=20_000
        Maximum number of supports up to which all are examined.
    random_state : int, RandomState or None

    Returns
    -------
    RestrictedIsometry
        With ``lower``, ``upper``, ``exact``.

    Examples
    --------
    >>> from isthmus.sensing import restricted_isometry, sensing_matrix
    >>> A = sensing_matrix("gaussian", 200, 256, random_state=0)
    >>> bounds = restricted_isometry(A, 3, random_state=0)
    >>> bounds.exact, bool(0.2 < bounds.lower < bounds.upper)
    (False, True)
    """
    matrix = _matrix(A, "restricted_isometry")
    n = matrix.shape[1]
    owner = "restricted_isometry"
    size = check_int(n_nonzero, "n_nonzero", owner, low=1, high=n)
    n_supports = check_int(n_supports, "n_supports", owner, low=1)
    G = matrix.T @ matrix
    if comb(n, size) <= max_exact:
        supports = np.array(list(combinations(range(n), size)))
        exact = float(_deltas(G, supports)[0].max())
        return RestrictedIsometry(exact, exact, size, len(supports))
    random = check_random_state(random_state)
    order = random.uniform(size=(n_supports, n)).argpartition(size - 1, axis=1)
    supports = order[:, :size]
    delta, directions = _deltas(G, supports)
    worst = np.argsort(-delta)[: max(50, n_supports // 20)]
    improved = _exchange_columns(G, supports[worst], directions[worst], sweeps=2 * size)
    lower = max(float(delta.max()), improved)
    return RestrictedIsometry(lower, _gershgorin(G, size), size, n_supports)


def guaranteed_sparsity(A: Any) -> int:
    r"""Largest number of non-zero entries that coherence proves to be recovered, always.

    The largest :math:`S<(1+1/\mu)/2` [Tropp2004]_. It is a modest number: random matrices recover
    far denser vectors with high probability.

    >>> from isthmus.sensing import guaranteed_sparsity, sensing_matrix
    >>> guaranteed_sparsity(sensing_matrix("gaussian", 400, 500, random_state=0))
    2
    """
    mu = mutual_coherence(A)
    if mu == 0:
        return int(A.shape[1])
    return int(np.ceil((1 + 1 / mu) / 2 - 1e-12)) - 1


def recovery_constants(delta: float) -> tuple[float, float]:
    r"""Constants :math:`C_0,C_1` of the bound for noisy and compressible signals [Candes2008]_.

    .. math:: \|\hat x-x\|_2\le C_0\,\|x-x_S\|_1/\sqrt S+C_1\epsilon
              \quad\text{if}\quad\delta_{2S}<\sqrt2-1

    with :math:`x_S` the :math:`S` largest entries of :math:`x`.

    >>> from isthmus.sensing import recovery_constants
    >>> [round(c, 2) for c in recovery_constants(0.2)]
    [4.19, 8.47]
    """
    if not 0 <= delta < np.sqrt(2) - 1:
        raise ValueError(
            f"The 'delta' of recovery_constants must be in [0, sqrt(2) - 1 = 0.4142). Got {delta}."
        )
    below = 1 - (1 + np.sqrt(2)) * delta
    return (
        float(2 * (1 - (1 - np.sqrt(2)) * delta) / below),
        float(4 * np.sqrt(1 + delta) / below),
    )


def phase_transition(delta: Any) -> Any:
    r"""Share of non-zero entries among measurements up to which basis pursuit mostly succeeds.

    For large Gaussian matrices with :math:`\delta=m/n`, success turns into failure at
    :math:`\rho=S/m` given by [DonohoTanner2009]_, [Donoho2009]_

    .. math:: \delta=\frac{2\varphi(\alpha)}{\alpha+2(\varphi(\alpha)-\alpha\Phi(-\alpha))},
              \qquad\rho=1-\frac{\alpha\Phi(-\alpha)}{\varphi(\alpha)} .

    Parameters
    ----------
    delta : float or array
        Measurements over unknowns, in (0, 1).

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> from isthmus.sensing import phase_transition
    >>> round(phase_transition(0.2), 3)  # with 40 measurements of 200 unknowns, some 10 entries
    0.243
    """
    wanted = np.asarray(delta, dtype=np.float64)
    if not np.all((wanted > 0) & (wanted < 1)):
        raise ValueError(f"The 'delta' of phase_transition must be in (0, 1). Got {delta!r}.")
    alpha = np.geomspace(1e-6, 9, 20_000)
    density = np.exp(-(alpha**2) / 2) / np.sqrt(2 * np.pi)
    deltas = 2 * density / (alpha + 2 * (density - alpha * ndtr(-alpha)))
    rho = np.interp(wanted, deltas[::-1], (1 - alpha * ndtr(-alpha) / density)[::-1])
    return float(rho) if wanted.ndim == 0 else rho


def _matrix(A: Any, what: str) -> Array:
    if not hasattr(A, "shape"):
        try:
            A = np.asarray(A, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(refusal(what, "A", "a matrix of numbers", A)) from error
    if len(A.shape) != 2:
        raise ValueError(refusal(what, "A", "a matrix of two dimensions", A))
    matrix = as_dense_matrix(A, what=what, limit=_ENTRIES)
    if not np.isfinite(matrix).all():
        raise ValueError(refusal(what, "A", "a matrix without NaN and infinity", A))
    return matrix


def _deltas(G: Array, supports: IntArray) -> tuple[Array, Array]:
    """How far the blocks of the Gram matrix are from the identity, and in which direction."""
    deltas = np.empty(len(supports))
    directions = np.empty(supports.shape)
    eye = np.eye(supports.shape[1])
    for rows in block_slices(len(supports), supports.shape[1] ** 2):
        part = supports[rows]
        values, vectors = np.linalg.eigh(G[part[:, :, None], part[:, None, :]] - eye)
        last = np.abs(values).argmax(axis=1)
        inside = np.arange(len(part))
        deltas[rows] = np.abs(values[inside, last])
        directions[rows] = vectors[inside, :, last]
    return deltas, directions


def _exchange_columns(G: Array, supports: IntArray, directions: Array, *, sweeps: int) -> float:
    """Largest delta after exchanging, again and again, the weakest column for the worst other."""
    supports = supports.copy()
    inside = np.arange(len(supports))
    best = 0.0
    for _ in range(sweeps):
        # Entries of (G - I) a outside of the support: columns that would add most.
        pull = np.abs(np.einsum("ts,tsn->tn", directions, G[supports]))
        np.put_along_axis(pull, supports, -1.0, axis=1)
        weakest = np.abs(directions).argmin(axis=1)
        supports[inside, weakest] = pull.argmax(axis=1)
        deltas, directions = _deltas(G, supports)
        best = max(best, float(deltas.max()))
    return best


def _gershgorin(G: Array, size: int) -> float:
    off = np.abs(G)
    own = np.abs(np.diag(G) - 1)
    np.fill_diagonal(off, 0)
    largest = np.sort(off, axis=1)[:, ::-1][:, : size - 1]
    return float((own + largest.sum(axis=1)).max())
