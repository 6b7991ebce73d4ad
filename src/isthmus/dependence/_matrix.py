"""Which columns, or groups of columns, are tied to which."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus.dependence._gram_sums import finish, gram_sums
from isthmus.dependence._measures import correlations, covariances, signed_root
from isthmus.dependence._sides import as_table, check_pair, distance_side, kernel_side
from isthmus.typing import Objects

if TYPE_CHECKING:
    from pandas import DataFrame

MEASURES = ("dcor", "dcov", "hsic", "cka")


def dependence_matrix(
    X: Objects,
    groups: Mapping[Any, Sequence[Any]] | Sequence[Any] | None = None,
    *,
    measure: str = "dcor",
    names: Sequence[Any] | None = None,
    kernel: Any = "gaussian",
    exponent: float = 1,
    unbiased: bool = False,
    n_jobs: int | None = None,
) -> "DataFrame":
    r"""Measure of dependence of all pairs of columns, or of groups of columns.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
    groups : mapping of names to columns, or sequence of groups, optional
        A group is a column or a list of columns: numbers, or names where ``X`` is a data frame.
        Every column is a group of its own without it.
    measure : {"dcor", "dcov", "hsic", "cka"}, default="dcor"
        ``"dcor"`` and ``"dcov"`` are roots, as the functions of that name return.
    names : sequence, optional
        Of the groups, for the result; by default those of the mapping or of the columns.
    kernel : kernel of ``"hsic"`` and ``"cka"``, default="gaussian"
        A median width is taken for each group by itself.
    exponent : float in (0, 2], default=1
        Of the distances of ``"dcor"`` and ``"dcov"``.
    unbiased : bool, default=False
        Take U-statistics; negative values are then possible.
    n_jobs : int or None, default=None
        Threads.

    Returns
    -------
    DataFrame of shape (g, g), symmetric
        On the diagonal a group with itself: 1 for ``"dcor"`` and ``"cka"``, 0 if it is constant.

    Notes
    -----
    What belongs to a column, its sorting and its sums, is done once and not once a pair.
    O(g² n log n) for columns with ``"dcor"`` or ``"dcov"`` at exponent 1. Otherwise the matrices
    of all groups are read once, tile by tile, and a matrix product gives all pairs of a tile:
    O(g² n²) in BLAS, O(g n) memory.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.dependence import dependence_matrix
    >>> x = np.linspace(-1, 1, 100)
    >>> table = np.column_stack([x, x**2, np.cos(40 * x)])
    >>> dependence_matrix(table, names=["x", "square", "wave"]).round(2)
               x  square  wave
    x       1.00    0.49  0.05
    square  0.49    1.00  0.10
    wave    0.05    0.10  1.00
    """
    from pandas import DataFrame

    if measure not in MEASURES:
        raise ValueError(
            f"The measure of dependence_matrix must be one of {', '.join(map(repr, MEASURES))}. "
            f"Got {measure!r} instead."
        )
    labels, tables = _grouped(X, groups, names)
    if measure in ("dcor", "dcov"):
        sides = [distance_side(table, exponent, name="X") for table in tables]
    else:
        sides = [kernel_side(table, kernel, name="X") for table in tables]
    n = check_pair(*sides, owner="dependence_matrix", unbiased=unbiased)
    products = finish(gram_sums(sides, n_jobs=n_jobs), unbiased=unbiased)
    if measure in ("dcor", "cka"):
        M = correlations(products, sides, unbiased=unbiased)
        np.fill_diagonal(M, np.diag(M).round())  # 1, or 0 where constant
    else:
        M = covariances(products, n, unbiased=unbiased)
        M = M if unbiased else np.maximum(M, 0)
    if measure in ("dcor", "dcov"):
        M = signed_root(M)
    return DataFrame(M, index=labels, columns=labels)


def _grouped(X: Objects, groups: Any, names: Sequence[Any] | None) -> tuple[list[Any], list[Any]]:
    """Names of the groups, and their columns."""
    columns = list(X.columns) if hasattr(X, "columns") else None
    table = as_table(X, name="X")
    position = {name: j for j, name in enumerate(columns or range(table.shape[1]))}
    if groups is None:
        groups = list(position)
    labels = list(groups) if isinstance(groups, Mapping) else None
    members = [
        list(group) if isinstance(group, (list, tuple, np.ndarray, range)) else [group]
        for group in (groups.values() if isinstance(groups, Mapping) else groups)
    ]
    unknown = [column for group in members for column in group if column not in position]
    if unknown or not members or not all(members):
        raise ValueError(
            "Groups of dependence_matrix must be columns of X, or non-empty lists of them: "
            f"expected some of {list(position)!r:.80}. Got {unknown[:5] or members!r} instead."
        )
    if labels is None:
        labels = [g[0] if len(g) == 1 else ", ".join(map(str, g)) for g in members]
    if names is not None:
        if len(names) != len(members):
            raise ValueError(f"Expected {len(members)} names, one a group. Got {len(names)}.")
        labels = list(names)
    return labels, [table[:, [position[column] for column in group]] for group in members]
