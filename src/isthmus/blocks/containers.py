"""What holds rows: told apart by type, without importing any of the packages that define them."""

import itertools
import operator
from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np
from scipy.sparse import issparse

# Kinds of containers. Rows of a "memory" one are there already; the others are read in blocks.
MEMORY, SLICED, STREAM, DASK = "memory", "sliced", "stream", "dask"


def is_dask(X: Any) -> bool:
    """Whether ``X`` is a Dask collection; asks for its protocol and imports nothing."""
    return hasattr(type(X), "__dask_graph__")


def is_table(X: Any) -> bool:
    """Whether ``X`` is a table or a column of pandas or one that behaves so."""
    return hasattr(X, "iloc")


def kind_of(X: Any) -> str:
    """How the rows of ``X`` are reached.

    ``"memory"``: arrays, tables, sparse matrices, lists of objects; ``"sliced"``: a ``np.memmap``
    and what has a shape and takes slices (zarr, h5py); ``"stream"``: iterators and iterables of
    blocks, functions that return such, pyarrow data sets; ``"dask"``: Dask collections.

    >>> import numpy as np
    >>> kind_of(np.zeros((3, 2))), kind_of(iter([])), kind_of(["a", "b"])
    ('memory', 'stream', 'memory')
    """
    if is_dask(X):
        return DASK
    if hasattr(type(X), "require_passes"):  # rows that were opened already
        return STREAM
    if isinstance(X, np.ndarray):
        return SLICED if isinstance(X, np.memmap) else MEMORY
    if X is None or is_table(X) or issparse(X) or isinstance(X, (str, bytes, Mapping, Set, type)):
        return MEMORY
    if type(X).__module__.partition(".")[0] == "pandas":  # columns that are no arrays of NumPy
        return MEMORY
    if hasattr(X, "__getitem__") and (hasattr(X, "__len__") or hasattr(X, "shape")):
        # What lends its memory to others has its numbers there.
        on_disk = hasattr(X, "shape") and hasattr(X, "dtype") and not hasattr(X, "__dlpack__")
        return SLICED if on_disk and len(X.shape) > 0 else MEMORY
    if hasattr(X, "to_batches") or isinstance(X, Iterator) or hasattr(X, "__iter__"):
        return STREAM
    return STREAM if callable(X) and not hasattr(X, "get_params") else MEMORY


def in_blocks(X: Any) -> bool:
    """Whether the rows of ``X`` come in blocks and not as one array in memory.

    An estimator's ``fit`` is given such containers as they are, and its answers are computed block
    by block.
    """
    return kind_of(X) != MEMORY


def is_endless(X: Any) -> bool:
    """Whether an iterator is known never to end."""
    if isinstance(X, itertools.repeat):
        return operator.length_hint(X, -1) < 0
    return isinstance(X, (itertools.count, itertools.cycle))
