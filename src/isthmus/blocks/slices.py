"""Rows in blocks that fit in memory."""

from collections.abc import Iterator

# 16 MB of doubles a block: matrix products run at full speed, and a pass over many rows
# needs no more memory than its result.
BLOCK_BYTES = 16 * 2**20


def block_slices(
    n_rows: int, n_columns: int, *, block_size: int | None = None, itemsize: int = 8
) -> Iterator[slice]:
    """Yield slices that cover ``n_rows`` rows of a matrix with ``n_columns`` columns.

    >>> list(block_slices(5, 3, block_size=2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    if block_size is None:
        block_size = max(1, BLOCK_BYTES // (itemsize * max(1, n_columns)))
    if block_size < 1:
        raise ValueError(f"block_size must be an int in [1, inf). Got {block_size!r} instead.")
    for start in range(0, n_rows, block_size):
        yield slice(start, min(start + block_size, n_rows))
