"""Time series and sequences: warping, alignment, nearest series, averages, windows.

A series is an array (length,) or (length, channels); a sequence is a string, a list of symbols or
an array of integers. Collections are lists of them, of any lengths, or arrays.
"""

from isthmus.series._alignment import alignment_matrix, edit_matrix, local_alignment_matrix
from isthmus.series._barycenter import barycenter
from isthmus.series._dtw import dtw, dtw_matrix, dtw_path
from isthmus.series._hidden_markov import HiddenMarkovModel
from isthmus.series._nearest import Neighbors, nearest_series
from isthmus.series._window import Itakura, SakoeChiba
from isthmus.series._windows import TimeWindows, decorrelation_lag, functional_distance

__all__ = [
    "HiddenMarkovModel",
    "Itakura",
    "Neighbors",
    "SakoeChiba",
    "TimeWindows",
    "alignment_matrix",
    "barycenter",
    "decorrelation_lag",
    "dtw",
    "dtw_matrix",
    "dtw_path",
    "edit_matrix",
    "functional_distance",
    "local_alignment_matrix",
    "nearest_series",
]
