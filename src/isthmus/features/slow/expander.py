"""The functions of a row among which the slow ones are sought: monomials, or a kernel's."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from isthmus.blocks.slices import block_slices
from isthmus.features.kernel_pca.estimator import KernelPCA
from isthmus.kernels.objects import n_objects, take
from isthmus.typing import Array

# Expanded values in a block, so that it stays in the cache.
BLOCK_VALUES = 50_000


def fit_expander(expansion: Any, rows: Any, *, n_landmarks: int, random_state: Any) -> Any:
    """A fitted transformer of the rows to their expansion; None where it is linear.

    ``expansion`` is the degree of monomials, or a kernel.
    """
    if not isinstance(expansion, Integral):
        return KernelPCA(
            kernel=expansion,
            n_landmarks=min(n_landmarks, n_objects(rows)),
            random_state=random_state,
        ).fit(rows)
    if expansion == 1:
        return None
    # Relative to a row, monomials span the same functions, and rows far from the origin keep their
    # digits. The first row is the same for a signal and for a stream of its parts.
    monomials = PolynomialFeatures(int(expansion), include_bias=False)
    return make_pipeline(StandardScaler(with_std=False), monomials).fit(rows[:1])


def expand(expander: Any, rows: Any, dtype: Any = np.float64) -> Array:
    """The values of all functions at each row, (n, n_functions)."""
    Phi = rows if expander is None else expander.transform(rows)
    return np.asarray(Phi, dtype=dtype)


def expand_blocks(expander: Any, rows: Any, dtype: Any = np.float64) -> Iterator[Array]:
    """The same in blocks of rows that stay in the cache."""
    width = expand(expander, take(rows, slice(0, 1)), dtype).shape[1]
    size = max(4 * width, BLOCK_VALUES // width)
    for block in block_slices(n_objects(rows), width, block_size=size):
        yield expand(expander, take(rows, block), dtype)
