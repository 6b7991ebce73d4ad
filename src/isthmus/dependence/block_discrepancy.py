"""Maximum mean discrepancy as a mean over blocks of objects, in time linear in their number."""

from typing import Any

import numpy as np
from scipy import stats

from isthmus._checks import check_int
from isthmus.dependence.sides import check_for, refuse_gram_matrix, stack
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import n_objects, take
from isthmus.kernels.resolve import as_kernel
from isthmus.typing import Array, IntArray, Objects

# Objects of a sample that are compared at once: pairs of different blocks among them are computed
# for nothing, but one call of the kernel costs as much as many values.
AT_ONCE = 64


def block_discrepancies(
    X: Objects,
    Z: Objects,
    kernel: Any,
    block_size: int,
    *,
    owner: str,
    order: tuple[IntArray, IntArray] | None = None,
) -> Array:
    r"""Unbiased squared discrepancies of successive blocks of both samples.

    With blocks of two it is the linear-time statistic of [Gretton2012]_, with larger ones the
    B-test of [Zaremba2013]_. Objects beyond the last whole block of the smaller sample are left
    out.
    """
    kernel = as_kernel(kernel)
    refuse_gram_matrix(kernel, owner)
    if kernel.vectors:
        pooled: Any = stack(X, Z, owner=owner)
        X, Z = pooled[: len(X)], pooled[len(X) :]
    else:
        X, Z = check_for(kernel, X, name="X"), check_for(kernel, Z, name="Z")
        pooled = [*X, *Z]
    m = min(n_objects(X), n_objects(Z))
    block_size = check_int(block_size, "block_size", owner, low=2, high=m, why="smaller sample")
    if order is not None:
        X, Z = (take(A, rows) for A, rows in zip((X, Z), order, strict=True))
    return _of_blocks(kernel.resolve(pooled), X, Z, block_size, m // block_size)


def _of_blocks(kernel: Kernel, X: Objects, Z: Objects, b: int, n_blocks: int) -> Array:
    at_once = max(1, AT_ONCE // b)
    found = []
    for start in range(0, n_blocks, at_once):
        count = min(at_once, n_blocks - start)
        rows = slice(start * b, (start + count) * b)
        x, z = take(X, rows), take(Z, rows)

        def within(A: Objects, B: Objects, count: int = count) -> Array:
            K = np.asarray(kernel.gram(A, B), dtype=np.float64).reshape(count, b, count, b)
            # (count, b, b), the pairs of one block
            return np.moveaxis(np.diagonal(K, axis1=0, axis2=2), -1, 0)

        xx, zz, xz = within(x, x), within(z, z), within(x, z)
        own = np.trace(xx, axis1=1, axis2=2) + np.trace(zz, axis1=1, axis2=2)
        pairs = xx.sum(axis=(1, 2)) + zz.sum(axis=(1, 2)) - own
        found.append(pairs / (b * (b - 1)) - 2 * xz.mean(axis=(1, 2)))
    return np.concatenate(found)


def normal_pvalue(values: Array) -> float:
    """Probability of a larger mean of independent values whose mean is zero, by Student's t.

    >>> import numpy as np
    >>> round(normal_pvalue(np.array([-1.0, 1.0, -1.0, 1.0])), 3)
    0.5
    """
    deviation = float(np.std(values, ddof=1))
    if deviation == 0:
        return 1.0 if values[0] <= 0 else 0.0
    t = float(np.mean(values)) / (deviation / np.sqrt(len(values)))
    return float(stats.t.sf(t, len(values) - 1))
