"""Figures in one style. Needs matplotlib (``pip install "isthmus[plot]"``), loaded on first use.

Every function returns a :class:`matplotlib.figure.Figure` that belongs to nobody else: no
global state, no window, so it works in a test, a report and a notebook alike.
"""

from ._bars import error_bars
from ._curves import curves
from ._heat import heat_map
from ._images import image_grid
from ._map import signed_map
from ._ranks import rank_curves
from ._style import PALETTE, png, style

__all__ = [
    "PALETTE",
    "curves",
    "error_bars",
    "heat_map",
    "image_grid",
    "png",
    "rank_curves",
    "signed_map",
    "style",
]
