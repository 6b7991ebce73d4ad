"""Fill a matrix over all pairs of two collections, in threads."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event

import numpy as np
from joblib import effective_n_jobs

from isthmus._progress import ProgressLine
from isthmus.blocks.slices import block_slices
from isthmus.typing import Array, IntArray

# Pairs per task: enough to fill the lanes many times, few enough for a balanced load.
PAIRS_PER_TASK = 1024
# Cells of tables per compiled call, which hears of no interrupt and should end within a second.
CELLS_PER_CALL = 2**27


def n_threads(n_jobs: int | None) -> int:
    """Number of threads to use: None is as many as numba may use."""
    if n_jobs is not None:
        return int(effective_n_jobs(n_jobs))
    from numba import get_num_threads

    return int(get_num_threads())


def n_lanes(n_pairs: int, most: int = 32) -> int:
    """Number of lanes per block, so that blocks are filled evenly.

    >>> n_lanes(36), n_lanes(1), n_lanes(3200)
    (20, 4, 32)
    """
    blocks = -(-n_pairs // most)
    return 4 * -(-n_pairs // (4 * blocks))


def short_calls(n_pairs: int, x_lengths: IntArray, z_lengths: IntArray) -> Iterator[slice]:
    """Slices of pairs, each for one compiled call of less than a second."""
    cells = int(np.max(x_lengths, initial=1)) * int(np.max(z_lengths, initial=1))
    return block_slices(n_pairs, 1, block_size=max(1, CELLS_PER_CALL // cells))


def pair_matrix(
    x_lengths: IntArray,
    z_lengths: IntArray | None,
    compute: Callable[[IntArray, IntArray], Array],
    *,
    diagonal: bool = True,
    n_jobs: int | None = None,
    verbose: int = 0,
    title: str = "pairs",
) -> Array:
    """Matrix of ``compute(first, second)`` over all pairs.

    Where ``z_lengths`` is None the two collections are one and the matrix is symmetric: a
    half is computed, without the diagonal (then zero) where ``diagonal`` is False. Pairs are
    handed out in the order of their lengths, so that those computed side by side are similar. The
    result does not depend on the number of threads.
    """
    symmetric = z_lengths is None
    rows = np.argsort(x_lengths, kind="stable")
    columns = rows if z_lengths is None else np.argsort(z_lengths, kind="stable")
    matrix = np.zeros((len(rows), len(columns)))
    other_lengths = x_lengths if z_lengths is None else z_lengths
    stopped = Event()  # an interrupt reaches the main thread alone

    def run(start: int, stop: int) -> int:
        places, others = np.divmod(
            np.arange(start * len(columns), stop * len(columns)), len(columns)
        )
        if symmetric:
            keep = others >= places if diagonal else others > places
            places, others = places[keep], others[keep]
        if len(places):
            first, second = rows[places], columns[others]
            for piece in short_calls(len(first), x_lengths, other_lengths):
                if stopped.is_set():
                    break
                values = compute(first[piece], second[piece])
                matrix[first[piece], second[piece]] = values
                if symmetric:
                    matrix[second[piece], first[piece]] = values
        return stop - start

    step = max(1, PAIRS_PER_TASK // len(columns))
    tasks = [(i, min(i + step, len(rows))) for i in range(0, len(rows), step)]
    threads = min(n_threads(n_jobs), len(tasks))
    with ProgressLine(title, verbose=verbose) as line:
        done = 0
        if threads == 1:
            for task in tasks:
                done += run(*task)
                line.update(row=done, of=len(rows))
            return matrix
        with ThreadPoolExecutor(threads) as pool:
            try:
                for future in as_completed([pool.submit(run, *task) for task in tasks]):
                    done += future.result()
                    line.update(row=done, of=len(rows))
            except BaseException:  # an interrupt too: what has not begun need not be done
                stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    return matrix
