"""Distance covariance, distance correlation and their partial version."""

from collections.abc import Sequence

import numpy as np

from isthmus._checks import check_float
from isthmus._door import with_door
from isthmus.dependence.measures import correlations, covariances, signed_root
from isthmus.dependence.products import CenteredProducts, distance_products, held_in_blocks
from isthmus.dependence.sides import Side, as_table, distance_side
from isthmus.typing import Array, Objects


@with_door
def distance_covariance(
    X: Objects,
    Y: Objects,
    *,
    exponent: float = 1,
    unbiased: bool = False,
    squared: bool = False,
    metric: str = "euclidean",
    affine_invariant: bool = False,
    n_jobs: int | None = None,
) -> float:
    r"""Distance covariance of two sets of vectors.

    With :math:`A=HEH` of the distances :math:`E_{ij}=\|x_i-x_j\|^a`, and :math:`B` of y likewise,

    .. math:: \mathrm{dCov}^2_V=\frac1{n^2}\sum_{ij}A_{ij}B_{ij},\qquad
              \mathrm{dCov}^2_U=\frac1{n(n-3)}\sum_{i\ne j}\tilde A_{ij}\tilde B_{ij}

    with U-centred matrices in the second [SzekelyRizzo2014]_. For :math:`0<a<2` the population
    value is zero only under independence [Szekely2007]_. It is four times ``hsic`` for the kernels
    :math:`-\tfrac12\|x-x'\|^a`.

    Parameters
    ----------
    X, Y : array-like of shape (n, p) and (n, q), or (n,)
    exponent : float in (0, 2], default=1
        With 2 it is :math:`4\|X_c^\top Y_c\|_F^2/n^2`: a sum of squared covariances, which is zero
        for uncorrelated columns, however dependent they are.
    unbiased : bool, default=False
        Take the U-statistic, zero on average under independence. It needs four objects.
    squared : bool, default=False
        Return the square. The root of a negative U-statistic has a minus sign.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        ``"precomputed"``: ``X`` and ``Y`` are matrices of distances, before the exponent. A
        metric of negative type is needed for the claims above.
    affine_invariant : bool, default=False
        Measure each side in the units of its own covariance, :math:`S^{-1/2}x` [Dueck2014]_: then
        no invertible linear map of a side changes the value, where otherwise only rotations, shifts
        and common scales do not. It needs more objects than columns, none of which the others span.
    n_jobs : int or None, default=None
        Threads; None is as many as BLAS has where loops are compiled, otherwise one.

    Returns
    -------
    float

    Notes
    -----
    O(n log n) where both are univariate and the exponent is 1; O(n p q) for exponent 2; otherwise
    O(n²(p+q)) in tiles, with O(n) memory. ``X`` and ``Y`` may also come in blocks (Dask, zarr,
    h5py, functions that return iterators), which are compared pair by pair.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.dependence import distance_covariance
    >>> x = np.arange(5.0)
    >>> round(distance_covariance(x, x), 4), distance_covariance(x, np.ones(5))
    (1.1027, 0.0)
    """
    owner = "distance_covariance"
    products, n, _ = _products(
        X,
        Y,
        exponent=exponent,
        metric=metric,
        owner=owner,
        unbiased=unbiased,
        affine_invariant=affine_invariant,
        n_jobs=n_jobs,
    )
    value = covariances(products, n, unbiased=unbiased)[0, 1]
    value = value if unbiased else max(value, 0.0)
    return float(value if squared else signed_root(value))


@with_door
def distance_correlation(
    X: Objects,
    Y: Objects,
    *,
    exponent: float = 1,
    unbiased: bool = False,
    squared: bool = False,
    metric: str = "euclidean",
    affine_invariant: bool = False,
    n_jobs: int | None = None,
) -> float:
    r"""Distance correlation of two sets of vectors, between 0 and 1.

    .. math:: \mathrm{dCor}^2=\frac{\mathrm{dCov}^2(x,y)}
              {\sqrt{\mathrm{dCov}^2(x,x)\,\mathrm{dCov}^2(y,y)}}

    [Szekely2007]_. It is 1 for shifted, rotated and scaled copies, and 0 is returned where a side
    is constant. With ``unbiased=True`` the numerator is zero on average under independence
    and the value lies in [-1, 1].

    Parameters
    ----------
    X, Y, exponent, unbiased, squared, metric, affine_invariant, n_jobs :
        as for :func:`distance_covariance`.
        With ``exponent=2`` the square is the RV coefficient: squared Pearson correlation of two
        columns, linear alignment of tables. [Tonde2016]_ takes it for a measure of any dependence.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.dependence import distance_correlation
    >>> x = np.linspace(-1, 1, 101)
    >>> round(distance_correlation(x, x**2), 3)
    0.492
    >>> round(distance_correlation(x, x**2, exponent=2), 3)
    0.0
    """
    owner = "distance_correlation"
    products, _, sides = _products(
        X,
        Y,
        exponent=exponent,
        metric=metric,
        owner=owner,
        unbiased=unbiased,
        affine_invariant=affine_invariant,
        n_jobs=n_jobs,
    )
    value = correlations(products, sides, unbiased=unbiased)[0, 1]
    return float(value if squared else signed_root(value))


@with_door
def partial_distance_correlation(
    X: Objects,
    Y: Objects,
    Z: Objects,
    *,
    exponent: float = 1,
    metric: str = "euclidean",
    affine_invariant: bool = False,
    n_jobs: int | None = None,
) -> float:
    r"""Distance correlation of ``X`` and ``Y`` after what both share with ``Z`` is removed.

    With the bias-corrected :math:`R` (``distance_correlation(..., unbiased=True, squared=True)``),

    .. math:: R_{xy\cdot z}=\frac{R_{xy}-R_{xz}R_{yz}}{\sqrt{1-R_{xz}^2}\sqrt{1-R_{yz}^2}},

    the cosine of the U-centred distance matrices orthogonal to that of z
    [SzekelyRizzo2014]_; 0 where one of them vanishes. It is of the kind of a squared correlation
    and lies in [-1, 1].

    Zero is not the same as independence given z, in either direction: for normal x = z + e and
    y = z + f it tends to about 0.025. Use it like a partial correlation, to rank what remains, and
    not to test conditional independence.

    Parameters
    ----------
    X, Y, Z : array-like with n rows
    exponent, metric, n_jobs : as for :func:`distance_covariance`.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.dependence import partial_distance_correlation
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=300)
    >>> x, y = z + rng.normal(size=(2, 300))
    >>> abs(partial_distance_correlation(x, y, z)) < 0.05
    True
    """
    owner = "partial_distance_correlation"
    products, _, sides = _products(
        X, Y, Z, exponent=exponent, metric=metric, owner=owner, unbiased=True, n_jobs=n_jobs
    )
    return partial_correlation(correlations(products, sides, unbiased=True))


def partial_correlation(R: Array) -> float:
    """Correlation of the first two of three, orthogonal to the third.

    >>> import numpy as np
    >>> round(partial_correlation(np.array([[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1]])), 6)
    0.333333
    """
    left, right = 1 - R[0, 2] ** 2, 1 - R[1, 2] ** 2
    if min(left, right) < 1e-12:  # nothing but rounding is left of a side
        return 0.0
    return float(np.clip((R[0, 1] - R[0, 2] * R[1, 2]) / np.sqrt(left * right), -1.0, 1.0))


def _products(
    *tables: Objects,
    exponent: float,
    metric: str,
    owner: str,
    unbiased: bool,
    affine_invariant: bool = False,
    n_jobs: int | None = None,
) -> CenteredProducts:
    check_float(exponent, "exponent", owner, low=0.0, high=2.0, include_low=False)
    if affine_invariant or (metric != "euclidean" and held_in_blocks(tables)):
        tables = _whitened_tables(tables, metric, owner)

    def sides() -> list[Side]:
        return [
            distance_side(table, exponent, metric=metric, name=name, owner=owner)
            for table, name in zip(tables, "XYZ", strict=False)
        ]

    return distance_products(tables, sides, exponent, owner=owner, unbiased=unbiased, n_jobs=n_jobs)


def _whitened_tables(tables: Sequence[Objects], metric: str, owner: str) -> tuple[Array, ...]:
    """Each table in the units of its covariance."""
    if metric != "euclidean" or held_in_blocks(tables):
        raise ValueError(
            f"{owner} takes affine_invariant only for tables in memory, and not with "
            "metric='precomputed': distances made elsewhere have no units to remove."
        )
    return tuple(
        whitened(as_table(table, name=name), name, owner)
        for table, name in zip(tables, "XYZ", strict=False)
    )


def whitened(X: Array, name: str, owner: str) -> Array:
    r"""The rows :math:`S^{-1/2}(x-\bar x)`, whose covariance is the identity.

    >>> import numpy as np
    >>> rows = whitened(np.array([[0.0, 1.0], [2.0, 0.0], [5.0, 1.0]]), "X", "f")
    >>> bool(np.allclose(np.cov(rows.T), np.eye(2)))
    True
    """
    centred = X - X.mean(axis=0)
    U, s, Vt = np.linalg.svd(centred, full_matrices=False)
    if len(X) <= X.shape[1] or s[-1] <= 1e-10 * s[0]:
        raise ValueError(
            f"{owner} with affine_invariant=True needs a covariance that can be inverted. Got "
            f"{len(X)} objects with {X.shape[1]} columns in {name}, of rank "
            f"{int(np.sum(s > 1e-10 * max(float(s[0]), 1e-300)))}: leave out columns."
        )
    return np.asarray(np.sqrt(len(X) - 1) * (U @ Vt))
