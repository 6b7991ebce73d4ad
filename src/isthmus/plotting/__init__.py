"""Figures in one style. Needs matplotlib (``pip install "isthmus[plot]"``), loaded on first use.

Every function returns a :class:`matplotlib.figure.Figure` that belongs to nobody else: no
global state, no window, so it works in a test, a report and a notebook alike.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
