"""Which columns, or groups of columns, are tied to which."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus._checks import check_choice
from isthmus._extras import load_extra
from isthmus.dependence.gram_sums import finish, gram_sums
from isthmus.dependence.measures import correlations, covariances, signed_root
from isthmus.dependence.sides import as_table, check_pair, distance_side, kernel_side
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
    X : array-like or data frame of shape (n, d), or mapping or list of collections
        A mapping of names to collections of n objects each, or a list of two-dimensional arrays,
        is taken as the groups themselves.
    groups : mapping of names to columns, or sequence of groups, optional
        A group is a column or a list of columns: numbers, or names where ``X`` is a data frame.
        Every column is a group of its own without it.
    measure : {"dcor", "dcov", "hsic", "cka"}, default="dcor"
        ``"dcor"`` and ``"dcov"`` are roots, as the functions of that name return.
    names : sequence, optional
        Of the groups, for the result; by default those of the mapping or of the columns.
    kernel : kernel of ``"hsic"`` and ``"cka"``, or mapping of names to kernels, default="gaussian"
        A median width is taken for each group by itself. With a mapping groups may be of
        different kinds: words, series, vectors; one that it does not name has a Gaussian.
    exponent : float in (0, 2], default=1
        Of the distances of ``"dcor"`` and ``"dcov"``.
    unbiased : bool, default=False
        Take U-statistics; negative values are then possible.
    n_jobs : int or None, default=None
        Threads; None is as many as BLAS has where loops are compiled, otherwise one.

    Returns
    -------
    DataFrame of shape (g, g), symmetric
        On the diagonal a group with itself: 1 for ``"dcor"`` and ``"cka"``, 0 if it is constant.
        Needs pandas, which the extra ``app`` installs.

    Notes
    -----
    What belongs to a column, its sorting and its sums, is done once and not once per pair.
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
    >>> words = ["low" if v < 0 else "high" for v in x]
    >>> two = dependence_matrix(
    ...     {"x": x, "word": words}, measure="cka", kernel={"word": "delta"}
    ... )
    >>> bool(two.loc["x", "word"] > 0.5)
    True
    """
    pandas = load_extra("pandas", "app", "dependence_matrix")
    owner = "dependence_matrix"
    check_choice(measure, "measure", owner, MEASURES)
    if _are_groups(X):
        labels, tables = _given_collections(X, groups, names)
    else:
        labels, tables = _column_groups(X, groups, names)
    if measure in ("dcor", "dcov"):
        sides = [
            distance_side(table, exponent, name=f"group {label!r}", owner=owner)
            for label, table in zip(labels, tables, strict=True)
        ]
    else:
        kernels = kernel if isinstance(kernel, Mapping) else dict.fromkeys(labels, kernel)
        sides = [
            kernel_side(table, kernels.get(label, "gaussian"), name=f"group {label!r}")
            for label, table in zip(labels, tables, strict=True)
        ]
    n = check_pair(*sides, owner=owner, unbiased=unbiased)
    products = finish(gram_sums(sides, n_jobs=n_jobs), unbiased=unbiased)
    if measure in ("dcor", "cka"):
        M = correlations(products, sides, unbiased=unbiased)
        np.fill_diagonal(M, np.diag(M).round())  # 1, or 0 where constant
    else:
        M = covariances(products, n, unbiased=unbiased)
        M = M if unbiased else np.maximum(M, 0)
    if measure in ("dcor", "dcov"):
        M = signed_root(M)
    return pandas.DataFrame(M, index=labels, columns=labels)


def _are_groups(X: Objects) -> bool:
    """Whether ``X`` holds whole collections, and not rows."""
    if isinstance(X, Mapping):
        return True
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(np.ndim(part) == 2 for part in X)


def _given_collections(
    X: Any, groups: Any, names: Sequence[Any] | None
) -> tuple[list[Any], list[Any]]:
    if groups is not None:
        raise ValueError(
            "dependence_matrix was given collections and groups of columns: expected a single "
            f"table with groups, or collections alone. Got groups={groups!r:.60}."
        )
    if not len(X):
        raise ValueError("dependence_matrix expected at least one group. Got an empty mapping.")
    labels, parts = (list(X), list(X.values())) if isinstance(X, Mapping) else (None, list(X))
    return _labels(labels or list(range(len(parts))), names), parts


def _labels(labels: list[Any], names: Sequence[Any] | None) -> list[Any]:
    if names is None:
        return labels
    if len(names) != len(labels):
        raise ValueError(f"Expected {len(labels)} names, one per group. Got {len(names)}.")
    return list(names)


def _column_groups(
    X: Objects, groups: Any, names: Sequence[Any] | None
) -> tuple[list[Any], list[Any]]:
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
    return _labels(labels, names), [
        table[:, [position[column] for column in group]] for group in members
    ]
