"""Hilbert-Schmidt independence criterion and centred kernel alignment."""

from typing import Any

from isthmus._checks import check_choice
from isthmus._door import with_door
from isthmus.dependence.measures import correlations, covariances
from isthmus.dependence.products import kernel_products
from isthmus.typing import Objects


@with_door
def hsic(
    X: Objects,
    Y: Objects,
    *,
    x_kernel: Any = "gaussian",
    y_kernel: Any = "gaussian",
    unbiased: bool = False,
    norm: str = "n",
    approximation: Any = None,
    n_jobs: int | None = None,
) -> float:
    r"""Hilbert-Schmidt independence criterion of two collections of objects.

    Squared Hilbert-Schmidt norm of the covariance between the features of :math:`x` and those of
    :math:`y` [Gretton2005]_. For characteristic kernels (Gaussian, Laplacian) it is zero only
    under independence. With :math:`H=I-\tfrac1n11^\top`,

    .. math:: \mathrm{HSIC}_V=\frac1{n^2}\operatorname{tr}(KHLH),\qquad
       \mathrm{HSIC}_U=\frac1{n(n-3)}\Big[\operatorname{tr}\tilde K\tilde L
       +\frac{1^\top\tilde K1\,1^\top\tilde L1}{(n-1)(n-2)}-\frac2{n-2}1^\top\tilde K\tilde L1\Big],

    where :math:`\tilde K,\tilde L` have zeros on the diagonal [Song2012]_. It is a square by
    definition: compare it with the squares of ``distance_covariance``, ``mmd`` and ``coco``.

    Parameters
    ----------
    X, Y : collections of n objects
        Whatever the kernels compare; ``X[i]`` and ``Y[i]`` are one observation. Numbers in a flat
        array are taken as one column.
    x_kernel, y_kernel : kernel, name or function, default="gaussian"
    unbiased : bool, default=False
        Take the U-statistic, which is zero on average under independence and may be negative. It
        needs four objects.
    norm : {"n", "n-1"}, default="n"
        Divide the V-statistic by :math:`n^2`, or by :math:`(n-1)^2` as in [Gretton2005]_. Only
        the first is the V-statistic, equal to the squared ``mmd`` between the pairs and all
        combinations, and to a quarter of the squared distance covariance for its kernel. The second
        is called unbiased in [Tonde2016]_, Definition 13; it is not.
    approximation : None, "nystroem", "fourier", Nystroem or RandomFourier, default=None
        Kernels of low rank r in place of the exact ones: O(n r²) time and memory of r² and a
        block, so that 10⁶ objects take seconds. The value is that of the approximate kernels.
    n_jobs : int or None, default=None
        Threads; None is as many as BLAS has where loops are compiled, otherwise one.

    Returns
    -------
    float

    Notes
    -----
    O(n²) time in tiles, O(n) memory; O(n p q) for two linear kernels. ``X`` and ``Y`` may also come
    in blocks (Dask, zarr, h5py, functions that return iterators): exactly by pairs of blocks,
    or in three passes with an approximation.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.dependence import hsic
    >>> x = np.linspace(-1, 1, 50)
    >>> round(hsic(x, x**2), 4), hsic(x, x**2, x_kernel="linear", y_kernel="linear") < 1e-20
    (0.0316, True)
    """
    check_choice(norm, "norm", "hsic", ("n", "n-1"))
    if norm == "n-1" and unbiased:
        raise ValueError("norm='n-1' scales the biased estimator: leave out unbiased=True.")
    products, n, _ = kernel_products(
        (X, Y),
        (x_kernel, y_kernel),
        owner="hsic",
        unbiased=unbiased,
        approximation=approximation,
        n_jobs=n_jobs,
    )
    value = float(covariances(products, n, unbiased=unbiased)[0, 1])
    if unbiased:
        return value
    return max(value, 0.0) * (n / (n - 1)) ** (2 if norm == "n-1" else 0)


@with_door
def cka(
    X: Objects,
    Y: Objects,
    *,
    x_kernel: Any = "gaussian",
    y_kernel: Any = "gaussian",
    unbiased: bool = False,
    approximation: Any = None,
    n_jobs: int | None = None,
) -> float:
    r"""Centred kernel alignment: ``hsic`` divided by its value for each side with itself.

    .. math:: \mathrm{CKA}=\frac{\mathrm{HSIC}(K,L)}
       {\sqrt{\mathrm{HSIC}(K,K)\,\mathrm{HSIC}(L,L)}}\in[0,1]

    [Cortes2012]_. It is 1 for a kernel with itself, and for linear kernels the RV coefficient. Like
    ``hsic`` it is a square by definition, of the kind of a squared correlation. 0 is returned where
    a side is constant.

    Parameters
    ----------
    X, Y, x_kernel, y_kernel, approximation, n_jobs : as for :func:`hsic`.
    unbiased : bool, default=False
        Take U-statistics, then in [-1, 1]. The biased value of independent samples grows
        towards 1 with the dimension at fixed n.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.dependence import cka
    >>> X = np.random.default_rng(0).normal(size=(30, 4))
    >>> rotation = np.linalg.qr(np.ones((4, 4)) + np.eye(4))[0]
    >>> round(cka(X, 3 * X @ rotation, x_kernel="linear", y_kernel="linear"), 12)
    1.0
    """
    products, _, sides = kernel_products(
        (X, Y),
        (x_kernel, y_kernel),
        owner="cka",
        unbiased=unbiased,
        approximation=approximation,
        n_jobs=n_jobs,
    )
    return float(correlations(products, sides, unbiased=unbiased)[0, 1])
