"""Expansions of the same functions over fewer points."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import gen_even_slices

from isthmus._checks import check_choice, check_float, check_int
from isthmus._door import with_door
from isthmus.reduction.gram import DenseGram, Gram, as_gram, check_coefficients
from isthmus.reduction.penalties import l0_support, l1_support, support_of_size
from isthmus.reduction.pursuit import PursuitPath, backfit, pursue
from isthmus.typing import Array, IntArray

METHODS = ("pursuit", "l0", "l1", "rank")


@dataclass(frozen=True)
class ReducedExpansion:
    r"""Points and coefficients of :math:`\hat w^j=\sum_{z\in Z}B_{zj}\varphi(z)`.

    Attributes
    ----------
    indices : the points kept, as row indices of the Gram matrix.
    coefficients : (n_points, p), or (n_points,) if one function was given as a vector.
    error : :math:`\sum_j\|w^j-\hat w^j\|^2/\sum_j\|w^j\|^2`.
    errors : the same for every smaller model, if the method gives a path, else None.
    """

    __module__ = "isthmus.reduction"

    indices: IntArray
    coefficients: Array
    error: float
    errors: Array | None = None
    path: PursuitPath | None = None

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


@with_door
def reduce_expansion(
    K: Any,
    coefficients: Any,
    *,
    method: str = "pursuit",
    n_points: int | None = None,
    max_error: float | None = None,
    select: str = "least_squares",
    alpha: float | None = None,
    solver: str = "l2",
    normalize: bool = False,
    n_chunks: int = 1,
) -> ReducedExpansion:
    r"""Approximate kernel expansions over N points by expansions over few of them.

    For :math:`w^j=\sum_iA_{ij}\varphi(x_i)`, j = 1…p, find a small common subset Z of the points
    and the best coefficients :math:`B=K_{ZZ}^{-1}K_{ZX}A`. Prediction then costs :math:`|Z|` kernel
    values.

    Parameters
    ----------
    K : array of shape (N, N), or a pair ``(kernel, objects)``
        With a pair, of a kernel or its name and objects, the pursuit only computes the columns it
        needs.
    coefficients : array of shape (N,) or (N, p)
    method : {"pursuit", "l0", "l1", "rank"}, default="pursuit"
        "pursuit" adds one point after the other, the one that reduces the error most; one run gives
        all smaller models, in O(N n_points²). "rank" takes points that span the others, whatever
        the functions are. "l1" and "l0" penalise, and cost O(N³).
    n_points : int or None
        Maximum number of points.
    max_error : float or None
        Stop at this error (squared, as a share of the squared length of the functions). For "l0"
        and "l1", ``n_points`` decides.
    select : {"least_squares", "matching"}, default="least_squares"
        For "pursuit": "matching" is as published, hyperplane matching pursuit for one function and
        multiple-hyperplane for several; see :func:`isthmus.reduction.pursue`.
    alpha : float or None
        Penalty for "l0", in place of ``n_points``; 0 keeps the expansion exactly.
    solver : {"l2", "lp"}, default="l2"
        For "l0": least squares, or linear programs (then with ``alpha=0``).
    normalize : bool, default=False
        Whether every function counts the same, whatever its length.
    n_chunks : int, default=1
        Reduce this many parts of the points separately, then their union once more to
        ``n_points``. Parts must hold more points than the rank of the data, or nothing is dropped.

    Returns
    -------
    ReducedExpansion

    Examples
    --------
    In three dimensions three points are enough for any linear function.

    >>> import numpy as np
    >>> from isthmus.reduction import reduce_expansion
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> reduced = reduce_expansion(X @ X.T, np.ones(50), max_error=1e-12)
    >>> len(reduced.indices)
    3
    """
    gram = as_gram(K)
    A, flat = check_coefficients(coefficients, len(gram), "reduce_expansion")
    settings: dict[str, Any] = {
        "method": method,
        "n_points": n_points,
        "max_error": max_error,
        "select": select,
        "alpha": alpha,
        "solver": solver,
    }
    _check_settings(settings, n_chunks, len(gram))
    weights = A
    if normalize:
        lengths = np.sqrt(np.maximum(np.sum(A * gram.dot(A), axis=0), 0))
        weights = A / np.where(lengths > 0, lengths, 1.0)
    if not np.any(weights):
        raise ValueError("reduce_expansion expected coefficients that are not all zero. Got zeros.")
    if n_chunks > 1:
        return _reduce_in_chunks(gram, A, weights, flat, n_chunks, settings)
    if not gram.diag().max() > 0:
        raise ValueError(
            "reduce_expansion expected points of positive length. Got a Gram matrix whose diagonal "
            "is zero."
        )
    path, indices = _choose(gram, weights, **settings)
    if path is not None and weights is A:
        B = path.coefficients(len(path.indices))
        return ReducedExpansion(
            path.indices, B[:, 0] if flat else B, float(path.errors[-1]), path.errors, path
        )
    indices, B, error = backfit(gram, A, indices)
    return ReducedExpansion(indices, B[:, 0] if flat else B, error)


def _choose(
    gram: Gram,
    A: Array,
    *,
    method: str,
    n_points: int | None,
    max_error: float | None,
    select: str,
    alpha: float | None,
    solver: str,
) -> tuple[PursuitPath | None, IntArray]:
    """The points that a method keeps, and its path if it has one."""
    most = len(gram) if n_points is None else n_points
    if method in ("pursuit", "rank"):
        path = pursue(
            gram,
            A,
            n_points=most,
            max_error=0.0 if max_error is None else max_error,
            select="pivot" if method == "rank" else select,
        )
        return path, path.indices
    K = gram.K if isinstance(gram, DenseGram) else gram.columns(np.arange(len(gram)))
    if method == "l1":
        indices = l1_support(K, A, most)
    elif alpha is not None:
        indices = l0_support(K, A, alpha=alpha, solver=solver)
    else:
        # The scale of the penalty: what one point of typical length adds to the error.
        scale = float(np.sum(A * (K @ A))) / max(len(A), 1)
        indices = support_of_size(most, lambda g: l0_support(K, A, alpha=g), scale)
    if not len(indices):
        raise ValueError(
            f"reduce_expansion(method={method!r}) would keep no point with n_points={n_points!r}, "
            f"alpha={alpha!r}: allow more points."
        )
    return None, indices


def _reduce_in_chunks(
    gram: Gram, A: Array, weights: Array, flat: bool, n_chunks: int, settings: dict[str, Any]
) -> ReducedExpansion:
    union: list[int] = []
    for rows in gen_even_slices(len(gram), n_chunks):
        members = np.arange(len(gram))[rows]
        part = weights[members]
        if np.any(part):
            block = DenseGram(gram.columns(members)[members])
            union.extend(members[_choose(block, part, **settings)[1]])
    indices, B, error = backfit(gram, A, np.array(union, dtype=np.intp))
    most = settings["n_points"]
    if most is not None and len(indices) > most:
        # Every part may keep as many points as all together: reduce their union once more.
        members = indices
        block = DenseGram(gram.columns(members)[members])
        kept = members[_choose(block, backfit(gram, weights, members)[1], **settings)[1]]
        indices, B, error = backfit(gram, A, kept)
    return ReducedExpansion(indices, B[:, 0] if flat else B, error)


def _check_settings(settings: dict[str, Any], n_chunks: int, n: int) -> None:
    owner = "reduce_expansion"
    method, n_points = settings["method"], settings["n_points"]
    max_error, alpha = settings["max_error"], settings["alpha"]
    check_choice(method, "method", owner, METHODS)
    check_choice(settings["select"], "select", owner, ("least_squares", "matching"))
    check_choice(settings["solver"], "solver", owner, ("l2", "lp"))
    if n_points is None and max_error is None and alpha is None:
        raise ValueError(
            "reduce_expansion needs to know when to stop: give n_points, max_error or (for "
            "method='l0') alpha."
        )
    if n_points is not None:
        check_int(n_points, "n_points", owner, low=1, high=n, why="number of points")
    if method in ("l0", "l1") and n_points is None and alpha is None:
        raise ValueError(
            f"reduce_expansion(method={method!r}) needs n_points"
            f"{' or alpha' if method == 'l0' else ''} to know when to stop. Got "
            f"max_error={max_error!r}."
        )
    for name in ("max_error", "alpha"):
        if settings[name] is not None:
            check_float(settings[name], name, owner)
    check_int(n_chunks, "n_chunks", owner, low=1, high=n, why="number of points")
