r"""Square roots of moments: mean and scatter of rows without forming a covariance.

A root :math:`R` of rows has :math:`R^\top R=\sum_tx_tx_t^\top`; it is found by QR decomposition.
The root of two blocks is the root of the stacked roots, so that a stream needs constant memory; and
a root has the condition number of the data and not its square, which matters because whitening
divides by small numbers. Where the columns of a block are far from dependent there are none, and
the Cholesky factor of its scatter, at a third of the time, is as good.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.features.components.scatter import fits_registers, scatter_about
from isthmus.linalg.products import inner_products
from isthmus.linalg.scratch import scratch
from isthmus.linalg.threads import threads_for
from isthmus.typing import Array

# Inverse of the condition number, of columns scaled to unit length, above which a Cholesky factor
# will do: its smallest singular value then keeps ten digits.
WELL_CONDITIONED = 1e-3
# The same, of products, below which rounding is no longer small beside what a root is multiplied by
# where rows were divided by it: nine digits are left there.
DEPENDENT = 1e-14
# Values in a block of rows, so that it stays in the cache, and rows that tell about where they lie.
BLOCK_VALUES, SAMPLE = 100_000, 64
# Columns, and multiplications in a call, up to which OpenBLAS packs nothing before a product.
FEW_COLUMNS, FEW_PRODUCTS = 40, 10**6


class Level(NamedTuple):
    """Mean and scatter of rows: a root of the moments of ``[1, X - shift]``."""

    shift: Array
    root: Array


def map_level(X: Array) -> Level:
    """Of one block, relative to its first row, so that constant columns are exactly zero."""
    shift = X[0].copy()
    return Level(shift, level_root(X, shift))


def merge_levels(a: Level, b: Level) -> Level:
    """Of two disjoint sets of rows together."""
    moved = b.root.copy()
    # X - s_a = (X - s_b) + (s_b - s_a) 1, and the root's first column belongs to the ones.
    moved[:, 1:] += moved[:, :1] * (b.shift - a.shift)
    return Level(a.shift, triangle(np.vstack([a.root, moved])))


def grown_level(past: Level | None, X: Array) -> Level:
    """Of former rows, if there are any, and a table as long as it likes, without a copy of it."""
    n, k = X.shape
    size = _block_rows(k)
    with threads_for(min(n, size) * k**2):
        if past is None:
            shift = X[0].copy()
            found = summed_root(X, shift)
            if found is not None:
                return Level(shift, found)
        for start in range(0, n, size):
            rows = X[start : start + size]
            past = map_level(rows) if past is None else extended_level(past, rows)
    assert past is not None  # a table has a row
    return past


def _block_rows(k: int) -> int:
    return max(4 * k, BLOCK_VALUES // k)


class WhitenedLevel(NamedTuple):
    """Principal axes: ``X - mean`` has standard deviations ``s`` along the rows of ``Vt``.

    Columns were divided by ``scale`` first.
    """

    mean: Array
    scale: Array
    s: Array
    Vt: Array


def whiten_level(level: Level, *, rcond: float, standardize: bool) -> WhitenedLevel:
    """Axes whose deviation is above ``rcond`` times the largest, none where nothing varies.

    ``standardize`` brings columns to unit variance first, so that ``rcond`` has no units.
    """
    weight = level.root[0, 0]  # ± the root of the number of rows
    mean = level.shift + level.root[0, 1:] / weight
    S = level.root[1:, 1:] / abs(weight)
    deviations = np.linalg.norm(S, axis=0)
    # What rounding alone makes of a constant column does not count as variance.
    noise = 1e2 * np.finfo(float).eps * np.abs(mean - level.shift)
    dead = deviations <= np.maximum(noise, np.finfo(float).tiny)
    scale = np.where(dead, 1.0, deviations) if standardize else np.ones_like(deviations)
    S = np.where(dead, 0.0, S / scale)
    _, s, Vt = linalg.svd(S, full_matrices=False, check_finite=False)
    rank = int(np.sum(s > rcond * s[0])) if len(s) and s[0] > 0 else 0
    return WhitenedLevel(mean, scale, s[:rank], Vt[:rank])


def least_axes(level: Level, n_axes: int) -> tuple[Array, Array, Array]:
    """The mean, the least variances, and the unit axes along which rows have them, least first.

    Directions in which nothing varies count too.
    """
    weight = level.root[0, 0]  # ± the root of the number of rows
    S = level.root[1:, 1:] / abs(weight)
    mean, least = level.shift + level.root[0, 1:] / weight, WELL_CONDITIONED**2
    square = len(S) == S.shape[1]
    if square and _inverse_condition(np.asfortranarray(S), float(np.sum(S * S))) > least:
        # Squares cost no digits that count, and few axes of a symmetric matrix are found sooner.
        C = np.asfortranarray(inner_products(S))
        variances, V, _, _, failed = linalg.lapack.dsyevr(C, range="I", iu=n_axes, overwrite_a=1)
        if not failed:
            return mean, variances[:n_axes], V.T
    _, s, Vt = linalg.svd(S, check_finite=False)
    variances = np.zeros(len(Vt))
    variances[: len(s)] = s**2
    return mean, variances[::-1][:n_axes].copy(), Vt[::-1][:n_axes]


def root(rows: Array) -> Array:
    r"""A matrix of few rows with the same :math:`R^\top R`; the rows may be overwritten.

    >>> import numpy as np
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> bool(np.allclose(root(X.copy()).T @ root(X.copy()), X.T @ X))
    True
    """
    return rows if len(rows) < rows.shape[1] else triangle(rows)


def extended_root(R: Array, rows: Array) -> Array:
    r"""A root of the rows behind ``R`` and further ones together.

    Where columns are far from dependent it is :math:`\mathrm{chol}(R^\top R+X^\top X)`. Otherwise,
    with :math:`Z=XR^{-1}`, it is :math:`\mathrm{chol}(I+Z^\top Z)R`: two products instead of a QR
    decomposition. What is small in ``R`` is divided out first, so that squares cost no digits
    unless the new rows are very unlike the old ones; then, and where ``R`` is singular, the stacked
    rows are decomposed.

    >>> import numpy as np
    >>> X = np.arange(12.0).reshape(6, 2) ** 2
    >>> R = extended_root(root(X[:3].copy()), X[3:])
    >>> bool(np.allclose(R.T @ R, X.T @ X))
    True
    """
    if len(R) == R.shape[1]:
        found = _sum_extended_by(R, rows)
        if found is None:
            with scratch(*rows.shape) as copied:
                copied[...] = rows
                found = _extended_by(R, copied)
        if found is not None:
            return found
    return root(np.vstack([R, rows]))


def extended_level(past: Level, X: Array) -> Level:
    r"""The same as ``merge_levels(past, map_level(X))``, in less time.

    With the root T of the scatter of m former rows, n rows :math:`A` about the former mean, whose
    own mean is d, :math:`Z=AT^{-1}` and :math:`z=T^{-\top}d`, the scatter has the root
    :math:`\mathrm{chol}(I+Z^\top Z-nzz^\top+\frac{mn}{m+n}zz^\top)\,T`.

    >>> import numpy as np
    >>> X = np.arange(24.0).reshape(12, 2) ** 2
    >>> fast, slow = (way(X[:6], X[6:]) for way in (
    ...     lambda a, b: extended_level(map_level(a), b),
    ...     lambda a, b: merge_levels(map_level(a), map_level(b))))
    >>> bool(np.allclose(fast.root.T @ fast.root, slow.root.T @ slow.root))
    True
    """
    k, n = X.shape[1], len(X)
    if past.root.shape == (k + 1, k + 1) and past.root[0, 0] != 0:
        weight, T = past.root[0, 0], past.root[1:, 1:]
        mean = past.root[0, 1:] / weight
        total = weight**2 + n
        center = past.shift + mean
        with scratch(n, k) as rows:
            np.subtract(X, center, out=rows)
            own = np.ones(n) @ rows / n
            # The center is rounded, far from the origin by more than differences may be.
            d = own + ((center - past.shift) - mean)
            means = np.sqrt(n) * own, np.sqrt(weight**2 * n / total) * d
            scatter = _sum_extended_by(T, rows, *means)
            if scatter is None:
                scatter = _extended_by(T, rows, *means)
        if scatter is not None:
            found = np.zeros((k + 1, k + 1))
            found[0, 0] = np.sqrt(total)
            found[0, 1:] = found[0, 0] * (mean + n / total * d)
            found[1:, 1:] = scatter
            return Level(past.shift, found)
    return merge_levels(past, map_level(X))


def _sum_extended_by(
    R: Array, rows: Array, removed: Array | None = None, added: Array | None = None
) -> Array | None:
    """The same as :func:`_extended_by` from sums of products alone, without the old root's inverse.

    None where columns, of the old rows or of all, are so dependent that squares cost digits.
    """
    if len(rows) <= 2 * R.shape[1] or not _is_well_conditioned(R):
        return None
    S = add_products(np.asfortranarray(R.T @ R), np.ascontiguousarray(rows))
    if removed is not None and added is not None:
        S += np.outer(added, added) - np.outer(removed, removed)
    return factor_of_products(S)


def _extended_by(
    R: Array, rows: Array, removed: Array | None = None, added: Array | None = None
) -> Array | None:
    r"""A triangular root of :math:`R^\top R+X^\top X-xx^\top+yy^\top`: ``removed``, ``added``.

    None where columns of R are dependent, the rows few, or so unlike the old ones that squares cost
    digits. The rows, in row order, are overwritten.
    """
    k = R.shape[1]
    if len(rows) <= 2 * k or not inverse_condition(R) >= DEPENDENT:
        return None
    F = np.asfortranarray(R)
    inverse, _ = linalg.lapack.dtrtri(F)
    Z = linalg.blas.dtrmm(1.0, inverse, rows.T, trans_a=1, overwrite_b=1)
    S = linalg.blas.dsyrk(1.0, Z)
    S.flat[:: k + 1] += 1.0
    # The smallest eigenvalue is one at least, the largest at most the trace.
    if np.trace(S) >= WELL_CONDITIONED**-2:
        return None
    if removed is not None and added is not None:
        x, y = removed @ inverse, added @ inverse
        S += np.outer(y, y) - np.outer(x, x)
    factor, failed = linalg.lapack.dpotrf(S, lower=0, clean=1, overwrite_a=1)
    return None if failed else np.asarray(linalg.blas.dtrmm(1.0, factor, F))


def level_root(Phi: Array, shift: Array) -> Array:
    """The root of the moments of ``[1, Φ - shift]``."""
    found = summed_root(Phi, shift)
    return exact_root(Phi, shift) if found is None else found


def exact_root(Phi: Array, shift: Array) -> Array:
    """The same by QR decomposition, whatever the columns are."""
    rows = Phi - shift
    # About their mean, rows are orthogonal to the ones, and the root falls in two parts.
    mean = np.ones(len(rows)) @ rows / len(rows)
    rows -= mean
    # A few rows are already a root, but the mean is read off the first row of a triangle.
    found = triangle(np.column_stack([np.ones(len(rows)), rows]))
    found[:, 1:] += found[:, :1] * mean
    return found


def summed_root(Phi: Array, shift: Array) -> Array | None:
    """The same from inner products; None where rows are few or squares would cost digits.

    Products are taken about the mean of some rows, so that what the mean of all adds to them is
    small; rows that lie about the origin already are read as they are.
    """
    n, k = Phi.shape
    if n <= 2 * k:
        return None
    # Differences first: a constant column is exactly zero, and its center that constant.
    some = Phi[:: -(-n // SAMPLE)] - shift
    mean = np.ones(len(some)) @ some / len(some)
    variance = np.einsum("ij,ij->j", some, some) / len(some) - mean**2
    center = shift + mean
    if np.all(center**2 <= variance) and _is_plain(Phi):
        center = np.zeros(k)
    S, total = _sums_about(center, Phi)
    off = total / n
    # Beyond a standard deviation, what is subtracted would cost more than a bit.
    if np.any(n * off**2 > S.diagonal() / 2):
        return None
    scatter = factor_of_products(S - off[:, None] * total)
    if scatter is None:
        return None
    found = np.zeros((k + 1, k + 1))
    found[0, 0] = np.sqrt(n)
    # The center is rounded, far from the origin by more than differences may be.
    found[0, 1:] = found[0, 0] * ((center - shift) + off)
    found[1:, 1:] = scatter
    return found


def _sums_about(center: Array, Phi: Array) -> tuple[Array, Array]:
    """Upper half of the products, and sums, of rows about a center, block by block."""
    if fits_registers(Phi):
        return scatter_about(center, Phi)
    n, k = Phi.shape
    S, total = np.zeros((k, k), order="F"), np.zeros(k)
    size, moved = _block_rows(k), bool(np.any(center))
    with scratch(min(size, n) if moved else 0, k) as room:
        for start in range(0, n, size):
            rows = Phi[start : start + size]
            if moved:
                rows = np.subtract(rows, center, out=room[: len(rows)])
            total += np.ones(len(rows)) @ rows
            add_products(S, rows)
    return S, total


def add_products(S: Array, rows: Array) -> Array:
    """Add the upper triangle of ``rows.T @ rows`` to S, in column order, where it lies; return S.

    Of few columns the lower triangle is added too: OpenBLAS takes small products from where they
    lie, which costs less than to pack the rows for half of the numbers.

    >>> import numpy as np
    >>> S = np.zeros((2, 2), order="F")
    >>> np.triu(add_products(S, np.array([[1.0, 2.0], [0.0, 1.0]])))
    array([[1., 2.],
           [0., 5.]])
    """
    k = len(S)
    if k > FEW_COLUMNS:
        linalg.blas.dsyrk(1.0, rows.T, beta=1.0, c=S, overwrite_c=1)
        return S
    size = FEW_PRODUCTS // k**2
    for start in range(0, len(rows), size):
        F = rows[start : start + size].T
        linalg.blas.dgemm(1.0, F, F, trans_b=1, beta=1.0, c=S, overwrite_c=1)
    return S


def _is_plain(rows: Array) -> bool:
    return rows.dtype == np.float64 and rows.flags.c_contiguous


def factor_of_products(S: Array) -> Array | None:
    """The triangular root of inner products, whose upper triangle is overwritten.

    None where squares would cost digits.
    """
    R, failed = linalg.lapack.dpotrf(S, lower=0, clean=1, overwrite_a=1)
    return np.asarray(R) if not failed and _is_well_conditioned(R) else None


def certain_factor(S: Array) -> Array:
    """The same of products whose columns are known to be far from dependent."""
    R, failed = linalg.lapack.dpotrf(S, lower=0, clean=1, overwrite_a=1)
    assert not failed  # or they are not
    return np.asarray(R)


def _is_well_conditioned(R: Array) -> bool:
    """Whether the columns behind a triangular root are far from dependent, whatever their units."""
    return inverse_condition(R) > WELL_CONDITIONED**2


def inverse_condition(R: Array) -> float:
    """Of the products behind a triangular root, in units of its columns: 0 for dependent ones."""
    lengths = np.sqrt(np.einsum("ij,ij->j", R, R))
    if not np.all(lengths):
        return 0.0
    return _inverse_condition(np.divide(R, lengths, order="F"), len(lengths))


def _inverse_condition(F: Array, trace: float) -> float:
    r"""The least inverse of the condition number of :math:`S=F^\top F` that is known.

    The largest eigenvalue is at most the trace, the smallest at least
    :math:`1/\|S^{-1}\|_1`: of many columns, this is far closer than norms of the root.
    """
    return float(linalg.lapack.dpocon(F, trace)[0])


def triangle(rows: Array) -> Array:
    """A triangular root of at least as many rows as columns; a trapezoid of fewer."""
    # numpy's qr copies twice on the way to the same routine, which takes most of its time here.
    # Without room for blocks of 32 columns it would take three at a time.
    room = 32 * rows.shape[1]
    factors, _, _, _ = linalg.lapack.dgeqrf(np.asfortranarray(rows), lwork=room, overwrite_a=True)
    return np.triu(factors[: min(factors.shape)])
