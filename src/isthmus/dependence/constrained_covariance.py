"""Constrained covariance: the largest covariance of two functions."""

from typing import Any

import numpy as np
from scipy.linalg import eigvalsh, lapack

from isthmus._door import with_door
from isthmus._memory import require_memory
from isthmus.blocks.slices import block_slices
from isthmus.dependence.approximation import as_low_rank
from isthmus.dependence.low_rank import low_rank_covariance
from isthmus.dependence.products import refuse_pairwise
from isthmus.dependence.sides import Side, check_count, check_pair, kernel_side
from isthmus.kernels.resolve import as_kernel
from isthmus.typing import Array, Objects


@with_door
def coco(
    X: Objects,
    Y: Objects,
    *,
    x_kernel: Any = "gaussian",
    y_kernel: Any = "gaussian",
    approximation: Any = None,
) -> float:
    r"""Constrained covariance of two collections of objects.

    The largest covariance of :math:`f(x)` and :math:`g(y)` over the unit balls of the two spaces
    of functions,

    .. math:: \mathrm{COCO}=\frac1n\sqrt{\lambda_{\max}(HKH\,HLH)},

    the first singular value of kernel partial least squares [GrettonHerbrich2005]_. Where ``hsic``
    adds up the squares of all singular values, this is the largest one, not squared: it is better
    where one smooth function carries all dependence, and worse where there are many. For
    characteristic kernels it is zero only under independence.

    Parameters
    ----------
    X, Y, x_kernel, y_kernel : as for ``hsic``.
    approximation : None, "nystroem", "fourier", Nystroem or RandomFourier, default=None
        Kernels of low rank r in place of the exact ones: O(n r²) time, memory of r² and a block.

    Returns
    -------
    float

    Notes
    -----
    Both Gram matrices are formed and factored by Cholesky with pivoting, which stops at their
    numerical rank r: O(n²) memory, O(n r²) time. With an approximation ``X`` and ``Y`` may also
    come in blocks (Dask, zarr, h5py, functions that return iterators).

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.dependence import coco
    >>> x = np.linspace(-1, 1, 50)
    >>> round(coco(x, x, x_kernel="linear", y_kernel="linear"), 4), round(np.var(x), 4)
    (0.3469, np.float64(0.3469))
    """
    low_rank = as_low_rank(approximation, "coco")
    if low_rank is not None:
        kernels = [as_kernel(x_kernel), as_kernel(y_kernel)]
        refuse_pairwise(kernels, "coco")
        n, C = low_rank_covariance((X, Y), kernels, low_rank, owner="coco")
        check_count(n, owner="coco", unbiased=False)
        return largest_singular_value(C)
    sides = [kernel_side(X, x_kernel, name="X"), kernel_side(Y, y_kernel, name="Y")]
    n = check_pair(*sides, owner="coco")
    A, B = (centered_factor(side) for side in sides)
    return largest_singular_value(A.T @ B) / n


def centered_factor(side: Side) -> Array:
    r"""Matrix :math:`A` of full column rank with :math:`AA^\top=HKH` up to rounding."""
    if side.features is not None:
        return side.features
    require_memory(
        "coco",
        2 * 8.0 * side.n**2,
        what=f"a Gram matrix of {side.n} objects and its factor",
        avoid="Take an approximation, a kernel with explicit features (linear, polynomial), or "
        "hsic, which works in blocks.",
    )
    K = np.empty((side.n, side.n))
    for rows in block_slices(side.n, side.n):
        K[rows] = side.values(rows, slice(0, side.n))
    L, pivots, rank, _ = lapack.dpstrf(K, lower=1)
    A = np.empty((side.n, rank))
    A[pivots - 1] = np.tril(L)[:, :rank]
    gap = np.abs(np.einsum("ij,ij->i", A, A) - side.diagonal).max()
    largest = side.diagonal.max()  # of a positive semi-definite matrix, the largest entry
    if gap > 1e-8 * largest or np.abs(K).max() > (1 + 1e-8) * largest:
        raise ValueError(
            "coco needs positive semi-definite kernels. Got a matrix whose pivoted Cholesky factor "
            f"of rank {rank} misses its diagonal by {gap:.4g}."
        )
    return A - A.mean(axis=0)


def largest_singular_value(C: Array) -> float:
    """Spectral norm, by the largest eigenvalue of the smaller of the two products."""
    G = C @ C.T if C.shape[0] <= C.shape[1] else C.T @ C
    last = len(G) - 1
    if last < 0:
        return 0.0
    return float(np.sqrt(max(eigvalsh(G, subset_by_index=(last, last))[0], 0.0)))
