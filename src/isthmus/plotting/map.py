"""Values over two axes, coloured by sign and size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from isthmus.plotting.theme import new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["signed_map"]


def signed_map(
    panels: Mapping[str, ArrayLike],
    *,
    columns: Sequence[object],
    rows: Sequence[object],
    xlabel: str = "",
    ylabel: str = "",
    label: str = "",
    limit: float | None = None,
) -> Figure:
    """Return one panel per title with one coloured cell per value: blue above zero, red below.

    Parameters
    ----------
    panels : mapping title -> array (n_rows, n_columns)
        NaN leaves its cell white.
    columns, rows : sequences
        Labels of the cells along the axes.
    xlabel, ylabel, label : str
        Names of the axes and of the values.
    limit : float or None
        The size shown in the darkest colour; by default the largest.
    """
    values = {title: np.asarray(panel, dtype=float) for title, panel in panels.items()}
    high = limit or max(float(np.nanmax(np.abs(panel))) for panel in values.values()) or 1.0
    with style():
        width, height = 0.24 * len(columns) + 1.0, 0.24 * len(rows) + 1.4
        figure = new_figure(max(3.0, width) * len(values) + 1.0, max(3.0, height))
        axes = figure.subplots(1, len(values), squeeze=False, sharey=True)[0]
        for ax, (title, panel) in zip(axes, values.items(), strict=True):
            image = ax.imshow(panel, cmap="RdBu", vmin=-high, vmax=high, aspect="auto")
            ax.set(title=title, xlabel=xlabel)
            ax.set_xticks(range(len(columns)), [str(c) for c in columns], fontsize=8)
            ax.set_yticks(range(len(rows)), [str(r) for r in rows], fontsize=8)
        axes[0].set_ylabel(ylabel)
        figure.colorbar(image, ax=list(axes), label=label)
    return figure
