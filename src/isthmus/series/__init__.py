"""Time series and sequences: warping, alignment, nearest series, averages, windows.

A series is an array (length,) or (length, channels); a sequence is a string, a list of symbols or
an array of integers. Collections are lists of them, of any lengths, or arrays.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
