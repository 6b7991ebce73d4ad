"""Adapters for the tests of aeon: its signatures, our alignments."""

import numpy as np

from isthmus.series import SakoeChiba, dtw


def _rows(x):
    """Time in rows, where the peer has channels in rows."""
    x = np.asarray(x, dtype=float)
    return x if x.ndim == 1 else x.T


def dtw_distance(x, y, window=None, itakura_max_slope=None):
    """Squared costs along the best path; the window is a share of the longer series."""
    if itakura_max_slope is not None:
        raise NotImplementedError("windows of another definition")
    x, y = _rows(x), _rows(y)
    band = None
    if window is not None:
        band = SakoeChiba(int(window * max(len(x), len(y))))
    return dtw(x, y, window=band)


def ddtw_distance(x, y, window=None, itakura_max_slope=None):
    """The same of slopes, the peer's average of two differences."""
    return dtw_distance(_slopes(x), _slopes(y), window, itakura_max_slope)


def _slopes(x):
    x = np.atleast_2d(np.asarray(x, dtype=float))
    return ((x[:, 1:-1] - x[:, :-2]) + (x[:, 2:] - x[:, :-2]) / 2) / 2


def squared_distance(x, y):
    """The diagonal of an alignment: a window of nothing."""
    return dtw(_rows(x), _rows(y), window=SakoeChiba(0))


def euclidean_distance(x, y):
    """Its root."""
    return float(np.sqrt(squared_distance(x, y)))
