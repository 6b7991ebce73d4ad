"""How likely a sequence is by itself: a smoothed model of triples of symbols."""

import numpy as np

from isthmus.typing import Array, IntArray


def triple_log_probabilities(flat: IntArray, starts: IntArray, n_symbols: int) -> Array:
    r"""Table of :math:`\log p(c\mid a,b)` over symbols and the mark of an end, ``n_symbols``.

    Counts of triples fall back on pairs, these on single symbols, and these on equal
    probabilities, each with a weight of how many different symbols followed (Witten and Bell):

    .. math:: p(c|ab)=\frac{n_{abc}+r_{ab}\,p(c|b)}{n_{ab}+r_{ab}},

    where :math:`r_{ab}` counts the different symbols after ab. The table has (n_symbols + 1)³
    entries.
    """
    size = n_symbols + 1
    counts = np.zeros((size, size, size))
    for i in range(len(starts) - 1):
        padded = np.concatenate(
            [[n_symbols, n_symbols], flat[starts[i] : starts[i + 1]], [n_symbols]]
        )
        np.add.at(counts, (padded[:-2], padded[1:-1], padded[2:]), 1.0)
    table = np.full(size, 1.0 / size)
    for level in (counts.sum(axis=(0, 1)), counts.sum(axis=0), counts):
        followers = np.count_nonzero(level, axis=-1)[..., None]
        total = level.sum(axis=-1, keepdims=True) + followers
        mixed = (level + followers * table) / np.where(total > 0, total, 1)
        table = np.where(total > 0, mixed, table)
    return np.log(table)
