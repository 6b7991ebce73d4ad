"""Fewer points for the same functions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import gen_even_slices

from isthmus.reduction.gram import DenseGram, Gram, as_gram
from isthmus.reduction.penalties import l0_support, l1_support, penalty_for
from isthmus.reduction.pursuit import Path, backfit, pursue
from isthmus.typing import Array, IntArray

METHODS = ("pursuit", "l0", "l1", "rank")


@dataclass(frozen=True)
class ReducedExpansion:
    r"""Points and coefficients of :math:`\hat w^j=\sum_{z\in Z}B_{zj}\varphi(z)`.

    Attributes
    ----------
    indices : the points kept, as rows of the Gram matrix.
    coefficients : (n_points, p), or (n_points,) where one function was given as a vector.
    error : :math:`\sum_j\|w^j-\hat w^j\|^2/\sum_j\|w^j\|^2`.
    errors : the same for every smaller model, where the method gives a path, else None.
    """

    __module__ = "isthmus.reduction"

    indices: IntArray
    coefficients: Array
    error: float
    errors: Array | None = None
    path: Path | None = None

    def at(self, n_points: int) -> "ReducedExpansion":
        """The model of the first ``n_points`` points of the path.

        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> reduced = reduce_expansion(X @ X.T, np.ones(30), n_points=3)
        >>> len(reduced.at(1).indices)
        1
        """
        if self.path is None:
            raise ValueError(
                "Only method='pursuit' and method='rank' (without chunks) give a path of models; "
                "this reduction has one."
            )
        if not 1 <= n_points <= len(self.path.indices):
            raise ValueError(
                f"The path has models of 1 to {len(self.path.indices)} points. Got "
                f"n_points={n_points!r}."
            )
        B = self.path.coefficients(n_points)
        if self.coefficients.ndim == 1:
            B = B[:, 0]
        return ReducedExpansion(
            self.path.indices[:n_points],
            B,
            float(self.path.errors[n_points - 1]),
            self.path.errors[:n_points],
            self.path,
        )


def reduce_expansion(
    K: Any,
    coefficients: Any,
    *,
    method: str = "pursuit",
    n_points: int | None = None,
    tolerance: float | None = None,
    select: str = "least_squares",
    penalty: float | None = None,
    step: str = "l2",
    normalize: bool = False,
    n_chunks: int = 1,
) -> ReducedExpansion:
    r"""Approximate kernel expansions over N points by expansions over few of them.

    Of :math:`w^j=\sum_iA_{ij}\varphi(x_i)`, j = 1…p, find a small common subset Z and the
    best coefficients :math:`B=K_{ZZ}^{-1}K_{ZX}A`. Prediction then costs :math:`|Z|` kernels.

    Parameters
    ----------
    K : array of shape (N, N), or a pair ``(kernel, objects)``
        With a pair the pursuit only makes the columns it needs.
    coefficients : array of shape (N,) or (N, p)
    method : {"pursuit", "l0", "l1", "rank"}, default="pursuit"
        "pursuit" takes point after point, by what the error will be; one run gives all
        smaller models, in O(N n_points²). "rank" takes points that span the others, whatever the
        functions. "l1" and "l0" penalise, and cost O(N³).
    n_points : int or None
        At most so many points.
    tolerance : float or None
        Stop at this error (squared, as a share). For "l0" and "l1", ``n_points`` decides.
    select : {"least_squares", "matching"}, default="least_squares"
        Pursuit: "matching" is as published, hyperplane matching pursuit for one function and
        multiple-hyperplane for several; see :func:`isthmus.reduction.pursue`.
    penalty : float or None
        For "l0", instead of ``n_points``; 0 keeps the expansion exactly.
    step : {"l2", "lp"}, default="l2"
        For "l0": least squares, or linear programs (then with ``penalty=0``).
    normalize : bool, default=False
        Whether every function counts the same, whatever its length.
    n_chunks : int, default=1
        Reduce so many parts of the points by themselves, then their union once more to
        ``n_points``. Parts must hold more points than the data have rank, or nothing is left out.

    Returns
    -------
    ReducedExpansion

    Examples
    --------
    In three dimensions three points are enough for any linear function.

    >>> import numpy as np
    >>> from isthmus.reduction import reduce_expansion
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> reduced = reduce_expansion(X @ X.T, np.ones(50), tolerance=1e-12)
    >>> len(reduced.indices)
    3
    """
    gram = as_gram(K)
    A, flat = _checked_coefficients(coefficients, len(gram))
    _check_settings(method, n_points, tolerance, select, penalty, step, n_chunks, len(gram))
    weights = A
    if normalize:
        lengths = np.sqrt(np.maximum(np.sum(A * gram.dot(A), axis=0), 0))
        weights = A / np.where(lengths > 0, lengths, 1.0)
    if not np.any(weights):
        raise ValueError("reduce_expansion expected coefficients that are not all zero. Got zeros.")
    settings: dict[str, Any] = {
        "method": method,
        "n_points": n_points,
        "tolerance": tolerance,
        "select": select,
        "penalty": penalty,
        "step": step,
    }
    if n_chunks > 1:
        return _in_chunks(gram, A, weights, flat, n_chunks, settings)
    path, indices = _chosen(gram, weights, **settings)
    if path is not None and weights is A:
        B = path.coefficients(len(path.indices))
        return ReducedExpansion(
            path.indices, B[:, 0] if flat else B, float(path.errors[-1]), path.errors, path
        )
    indices, B, error = backfit(gram, A, indices)
    return ReducedExpansion(indices, B[:, 0] if flat else B, error)


def _chosen(
    gram: Gram,
    A: Array,
    *,
    method: str,
    n_points: int | None,
    tolerance: float | None,
    select: str,
    penalty: float | None,
    step: str,
) -> tuple[Path | None, IntArray]:
    """The points that a method keeps; the path where it has one."""
    most = len(gram) if n_points is None else n_points
    if method in ("pursuit", "rank"):
        path = pursue(
            gram,
            A,
            n_points=most,
            tolerance=0.0 if tolerance is None else tolerance,
            select="pivot" if method == "rank" else select,
        )
        return path, path.indices
    K = gram.K if isinstance(gram, DenseGram) else gram.columns(np.arange(len(gram)))
    if method == "l1":
        indices = l1_support(K, A, most)
    elif penalty is not None:
        indices = l0_support(K, A, penalty=penalty, step=step)
    else:
        # The penalty's scale: what one point of typical length adds to the error.
        scale = float(np.sum(A * (K @ A))) / max(len(A), 1)
        indices = penalty_for(most, lambda g: l0_support(K, A, penalty=g), scale)
    if not len(indices):
        raise ValueError(
            f"reduce_expansion(method={method!r}) found no point that it would keep with "
            f"n_points={n_points!r}, penalty={penalty!r}: allow more points."
        )
    return None, indices


def _in_chunks(
    gram: Gram, A: Array, weights: Array, flat: bool, n_chunks: int, settings: dict[str, Any]
) -> ReducedExpansion:
    union: list[int] = []
    for rows in gen_even_slices(len(gram), n_chunks):
        members = np.arange(len(gram))[rows]
        part = weights[members]
        if np.any(part):
            block = DenseGram(gram.columns(members)[members])
            union.extend(members[_chosen(block, part, **settings)[1]])
    indices, B, error = backfit(gram, A, np.array(union, dtype=np.intp))
    most = settings["n_points"]
    if most is not None and len(indices) > most:
        # Every part was allowed as many as all together: reduce what the union says once more.
        members = indices
        block = DenseGram(gram.columns(members)[members])
        kept = members[_chosen(block, backfit(gram, weights, members)[1], **settings)[1]]
        indices, B, error = backfit(gram, A, kept)
    return ReducedExpansion(indices, B[:, 0] if flat else B, error)


def _checked_coefficients(coefficients: Any, n: int) -> tuple[Array, bool]:
    A = np.asarray(coefficients, dtype=float)
    flat = A.ndim == 1
    A = A[:, None] if flat else A
    if A.ndim != 2 or len(A) != n:
        raise ValueError(
            f"reduce_expansion expected coefficients of shape ({n},) or ({n}, p), one row a point "
            f"of the Gram matrix. Got shape {np.shape(coefficients)} instead."
        )
    if not np.isfinite(A).all():
        row, column = np.argwhere(~np.isfinite(A))[0]
        raise ValueError(
            f"reduce_expansion expected finite coefficients. Got {A[row, column]} in row {row}, "
            f"column {column}."
        )
    return A, flat


def _check_settings(
    method: str,
    n_points: int | None,
    tolerance: float | None,
    select: str,
    penalty: float | None,
    step: str,
    n_chunks: int,
    n: int,
) -> None:
    for name, value, choices in (
        ("method", method, METHODS),
        ("select", select, ("least_squares", "matching")),
        ("step", step, ("l2", "lp")),
    ):
        if value not in choices:
            expected = ", ".join(map(repr, choices))
            raise ValueError(
                f"The {name!r} parameter of reduce_expansion must be one of {expected}. Got "
                f"{value!r} instead."
            )
    if n_points is None and tolerance is None and penalty is None:
        raise ValueError(
            "reduce_expansion needs to know when to stop: give n_points, tolerance or (for "
            "method='l0') penalty."
        )
    if n_points is not None and not 1 <= n_points <= n:
        raise ValueError(
            f"The 'n_points' parameter of reduce_expansion must be an int in [1, {n}] (number of "
            f"points). Got {n_points!r} instead."
        )
    if method in ("l0", "l1") and n_points is None and penalty is None:
        raise ValueError(
            f"reduce_expansion(method={method!r}) is told by n_points"
            f"{' or penalty' if method == 'l0' else ''} when to stop. Got tolerance={tolerance!r}."
        )
    for name, number in (("tolerance", tolerance), ("penalty", penalty)):
        if number is not None and not 0 <= number < np.inf:
            raise ValueError(
                f"The {name!r} parameter of reduce_expansion must be a float in [0, inf). Got "
                f"{number!r} instead."
            )
    if not 1 <= n_chunks <= n:
        raise ValueError(
            f"The 'n_chunks' parameter of reduce_expansion must be an int in [1, {n}]. Got "
            f"{n_chunks!r} instead."
        )
