"""One look for all figures: colour-blind safe, readable at the width of a page."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from isthmus._extras import load_extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PALETTE", "new_figure", "png", "style"]

# Okabe and Ito's colours, told apart with every common colour vision, and in grey.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#7F7F7F")

_SETTINGS: dict[str, Any] = {
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.labelsize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#5b6575",
    "axes.grid": False,
    "figure.facecolor": "white",
    "figure.dpi": 100,
    "savefig.dpi": 150,
    "image.cmap": "gray",
    "image.interpolation": "nearest",
    "legend.frameon": False,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of the library inside the ``with`` block; nothing changes outside it."""
    matplotlib = _matplotlib()
    cycle = matplotlib.cycler(color=PALETTE)
    with matplotlib.rc_context({**_SETTINGS, "axes.prop_cycle": cycle}):
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, inches wide and high, that keeps its parts from overlapping."""
    _matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def png(figure: Figure) -> bytes:
    """Return the figure as the bytes of a PNG file."""
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format="png")
    return buffer.getvalue()


def _matplotlib() -> Any:
    return load_extra("matplotlib", "plot", "isthmus.plotting")
