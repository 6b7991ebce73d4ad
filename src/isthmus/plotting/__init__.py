"""Figures in one style. Needs matplotlib (``pip install "isthmus[plot]"``), loaded on first use.

Every function returns a new :class:`matplotlib.figure.Figure`, without global state and without a
window, so that it works in a test, a report and a notebook alike.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
