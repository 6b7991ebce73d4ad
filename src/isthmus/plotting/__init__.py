"""Figures in one style. Needs matplotlib (``pip install "isthmus[plot]"``), loaded on first use.

Every function returns a :class:`matplotlib.figure.Figure` that belongs to nobody else: no
global state, no window, so it works in a test, a report and a notebook alike.
"""

from ._arm import arm_motion, movement_strip
from ._bands import bands
from ._bars import error_bars
from ._curves import curves
from ._heat import heat_map
from ._images import image_grid
from ._imitation import imitation_strip
from ._manifold import decoded_plane, latent_map, manifold_through
from ._map import signed_map
from ._ranks import rank_curves
from ._style import PALETTE, png, style

__all__ = [
    "PALETTE",
    "arm_motion",
    "bands",
    "curves",
    "decoded_plane",
    "error_bars",
    "heat_map",
    "image_grid",
    "imitation_strip",
    "latent_map",
    "manifold_through",
    "movement_strip",
    "png",
    "rank_curves",
    "signed_map",
    "style",
]
