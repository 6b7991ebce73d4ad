"""Sparseness of vectors after Hoyer, and the nearest vector of a given sparseness."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from isthmus._door import with_door
from isthmus._parameters import Constraint, check_parameters, choice, none, real
from isthmus._piece import Piece
from isthmus.typing import Array

__all__ = ["HoyerSparseness", "hoyer_projection", "hoyer_sparseness"]


@dataclass
class HoyerSparseness(Piece):
    """Factors of exactly a given sparseness [Hoyer2004]_.

    Parameters
    ----------
    components : float in [0, 1] or None, default=0.6
        Sparseness of every component; None leaves them free.
    codes : float in [0, 1] or None, default=None
        Sparseness of the codes; None leaves them free.
    codes_axis : {"component", "sample"}, default="component"
        Over what the codes are sparse: a component used by few samples, as Hoyer has it, or a
        sample that uses few components.

    Examples
    --------
    >>> from isthmus.sparse import HoyerSparseness
    >>> HoyerSparseness(0.75)
    HoyerSparseness(components=0.75, codes=None, codes_axis='component')
    """

    __module__ = "isthmus.sparse"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "components": none | real(0, 1),
        "codes": none | real(0, 1),
        "codes_axis": choice("component", "sample"),
    }

    components: float | None = 0.6
    codes: float | None = None
    codes_axis: str = "component"

    def targets(self) -> tuple[float | None, float | None]:
        """Sparseness of codes and of components, after a check."""
        check_parameters(self)
        return self.codes, self.components


def hoyer_sparseness(X: Any) -> Any:
    r"""Return the sparseness of the rows of ``X``, or of one vector.

    .. math:: \frac{\sqrt n-\|x\|_1/\|x\|_2}{\sqrt n-1}

    One for a single non-zero entry, zero where all moduli are equal, NaN for zero vectors and
    for vectors of one entry, which have none.

    Examples
    --------
    >>> from isthmus.sparse import hoyer_sparseness
    >>> hoyer_sparseness([[0.0, 2.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    array([1., 0.])
    """
    X = np.asarray(X, dtype=np.float64)
    root = np.sqrt(X.shape[-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        flatness = np.abs(X).sum(axis=-1) / np.linalg.norm(X, axis=-1)
        return (root - flatness) / (root - 1)


@with_door
def hoyer_projection(X: Any, sparseness: float, *, norm: Any = None) -> Array:
    r"""Return the nearest non-negative rows of a given sparseness.

    .. math:: \min_s\ \|s-x\|^2\quad\text{subject to}\quad s\ge0,\
              \operatorname{sparseness}(s)=S,\ \|s\|_2=\text{norm}

    This is Hoyer's alternation between the hyperplane of the sum and the sphere, which ends after a
    few passes, for all rows at once. Without ``norm`` the length is free too: the direction is the
    same for all lengths, and the best length is the inner product with it.

    Parameters
    ----------
    X : array of shape (n_rows, n)
        May be negative in places; n at least 2.
    sparseness : float in [0, 1]
    norm : float, array of shape (n_rows,) or None
        Euclidean norms of the results.

    Examples
    --------
    >>> from isthmus.sparse import hoyer_projection, hoyer_sparseness
    >>> S = hoyer_projection([[3.0, 2.0, 1.0, -1.0]], 0.6, norm=1.0)
    >>> S.round(3), hoyer_sparseness(S).round(6)
    (array([[0.883, 0.467, 0.05 , 0.   ]]), array([0.6]))
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] < 2:
        raise ValueError(
            f"hoyer_projection needs rows of at least two entries. Got X.shape={X.shape}."
        )
    if not 0 <= sparseness <= 1:
        raise ValueError(
            f"The 'sparseness' of hoyer_projection must be in [0, 1]. Got {sparseness!r} instead."
        )
    n = X.shape[1]
    total = np.sqrt(n) - sparseness * (np.sqrt(n) - 1)  # the sum of entries at norm 1
    scale = np.maximum(np.abs(X).max(axis=1, keepdims=True), np.finfo(float).tiny)
    directions = _on_sphere(X / scale, total)
    if norm is None:
        lengths = np.maximum(np.einsum("ij,ij->i", X, directions), 0.0)
    else:
        lengths = np.broadcast_to(np.asarray(norm, dtype=np.float64), len(X))
    return lengths[:, None] * directions


def _on_sphere(X: Array, total: float) -> Array:
    """Nearest non-negative rows of unit norm that sum to ``total``."""
    n = X.shape[1]
    S = X + (total - X.sum(axis=1, keepdims=True)) / n
    free = np.ones(X.shape, dtype=bool)
    rows = np.arange(len(X))
    for _ in range(n + 1):
        s, f = S[rows], free[rows]
        middle = f * (total / f.sum(axis=1, keepdims=True))
        away = _not_zero(s - middle, f)
        # ||middle + t away|| = 1 for the root t >= 0
        a = np.einsum("ij,ij->i", away, away)
        b = np.einsum("ij,ij->i", middle, away)
        c = np.einsum("ij,ij->i", middle, middle) - 1.0
        t = (-b + np.sqrt(np.maximum(b * b - a * c, 0.0))) / np.maximum(a, 1e-300)
        s = middle + t[:, None] * away
        negative = s < 0
        s[negative] = 0.0
        f &= ~negative
        # Back on the hyperplane, moving only what is not fixed at zero.
        again = negative.any(axis=1)
        excess = (s.sum(axis=1) - total) / np.maximum(f.sum(axis=1), 1)
        S[rows] = np.where(again[:, None], s - f * excess[:, None], s)
        free[rows] = f
        rows = rows[again]
        if not len(rows):
            break
    return np.maximum(S, 0.0)


def _not_zero(away: Array, free: Array) -> Array:
    """Directions from the middle; where there is none, all are equally near: the first is taken."""
    stuck = np.abs(away).max(axis=1) < 1e-12
    if stuck.any():
        ramp = free * (free.sum(axis=1, keepdims=True) - np.cumsum(free, axis=1) + 1.0)
        ramp -= free * (ramp.sum(axis=1, keepdims=True) / free.sum(axis=1, keepdims=True))
        away = np.where(stuck[:, None], ramp, away)
    return away
