"""Values of several methods over a common axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from isthmus.plotting.theme import PALETTE, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["curves"]


def curves(
    panels: Mapping[str, Mapping[str, tuple[ArrayLike, ArrayLike]]],
    *,
    xlabel: str = "",
    ylabel: str = "",
    log: str = "",
    marker: str = "",
) -> Figure:
    """Return one panel per title, with one curve per method.

    Parameters
    ----------
    panels : mapping title -> mapping method -> (x, y)
        Colours follow the order of the methods; a title may be empty.
    xlabel, ylabel : str
        Of all panels.
    log : str
        The axes on a logarithmic scale: ``""``, ``"x"``, ``"y"`` or ``"xy"``.
    marker : str
        Mark of the points, as matplotlib names them.
    """
    methods = list(dict.fromkeys(m for panel in panels.values() for m in panel))
    colours = {m: PALETTE[i % len(PALETTE)] for i, m in enumerate(methods)}
    with style():
        figure = new_figure(1.4 + 3.6 * len(panels), 3.6)
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for ax, (title, panel) in zip(axes, panels.items(), strict=True):
            for method, (x, y) in panel.items():
                ax.plot(x, y, marker=marker, color=colours[method], label=method)
            ax.set(title=title, xlabel=xlabel)
            if "x" in log:
                ax.set_xscale("log")
            if "y" in log:
                ax.set_yscale("log")
        axes[0].set_ylabel(ylabel)
        if len(methods) > 1:
            axes[-1].legend(fontsize=10)
    return figure
