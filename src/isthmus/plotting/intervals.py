"""Functions of one variable with their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus.plotting.theme import PALETTE, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["bands"]


def bands(
    panels: Mapping[str, Mapping[str, Any]],
    *,
    xlabel: str = "x",
    ylabel: str = "y",
    n_columns: int = 3,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """Return one panel per title: a mean, a band around it, draws, data, the truth.

    Parameters
    ----------
    panels : mapping title -> mapping part -> values
        Parts: ``"x"`` (n,), and any of ``"mean"`` (n,), ``"band"`` a pair of (n,), ``"draws"`` of
        shape (n_draws, n), ``"points"`` a pair of abscissas and ordinates, ``"truth"`` (n,).
    xlabel, ylabel : str
    n_columns : int
        Number of panels per row.
    limits : (float, float) or None
        Vertical range of all panels; None takes what holds everything.
    """
    n_columns = min(n_columns, len(panels))
    n_rows = -(-len(panels) // n_columns)
    named: dict[str, Any] = {}
    with style():
        figure = new_figure(0.8 + 3.6 * n_columns, 0.7 + 2.7 * n_rows)
        axes = figure.subplots(n_rows, n_columns, squeeze=False, sharey=True)
        for ax in axes.flat[len(panels) :]:
            ax.set_visible(False)
        for ax, (title, parts) in zip(axes.flat, panels.items(), strict=False):
            x = np.asarray(parts["x"], dtype=float)
            if "band" in parts:
                low, high = parts["band"]
                named["band"] = ax.fill_between(x, low, high, color=PALETTE[0], alpha=0.18, lw=0)
            for draw in parts.get("draws", ()):
                named["draws"] = ax.plot(x, draw, color=PALETTE[4], lw=1.0)[0]
            if "truth" in parts:
                named["truth"] = ax.plot(x, parts["truth"], color=PALETTE[6], ls="--", lw=1.2)[0]
            if "mean" in parts:
                named["mean"] = ax.plot(x, parts["mean"], color=PALETTE[0], lw=2)[0]
            if "points" in parts:
                named["data"] = ax.plot(
                    *parts["points"], "o", color=PALETTE[5], ms=5, mec="white", mew=0.8, zorder=5
                )[0]
            ax.set(title=title)
        for ax in axes[-1]:
            ax.set_xlabel(xlabel)
        for ax in axes[:, 0]:
            ax.set_ylabel(ylabel)
        if limits is not None:
            axes[0, 0].set_ylim(*limits)
        if len(named) > 1:
            figure.legend(
                list(named.values()), list(named), loc="outside lower center", ncols=len(named)
            )
    return figure
