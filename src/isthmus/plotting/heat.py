"""A square matrix as colours: which groups depend on each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus.plotting.theme import new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["heat_map"]

# Beyond this many groups, numbers in the cells cannot be read.
MAX_NUMBERS = 15


def heat_map(
    matrix: Any,
    *,
    names: Any = None,
    label: str = "",
    limits: tuple[float, float] | None = None,
    size: float = 0.55,
) -> Figure:
    """Return the matrix as coloured cells, with its numbers where they can be read.

    Parameters
    ----------
    matrix : data frame or array of shape (g, g)
        Such as ``isthmus.dependence.dependence_matrix`` returns.
    names : sequence or None
        Of rows and columns; by default those of the data frame, or numbers.
    label : str
        What is measured, beside the colours.
    limits : (float, float) or None
        Values of the two ends of the colours; None takes 0, or less where a value is negative, and
        the largest value off the diagonal.
    size : float
        Side of a cell in inches.
    """
    values = np.asarray(matrix, dtype=float)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise ValueError(f"heat_map needs a square matrix. Got shape {values.shape}.")
    g = len(values)
    if names is None:
        names = getattr(matrix, "index", range(g))
    names = [str(name) for name in names]
    if limits is None:
        others = values[~np.eye(g, dtype=bool)] if g > 1 else values.ravel()
        limits = (min(0.0, others.min()), max(others.max(), np.finfo(float).tiny))
    with style():
        figure = new_figure(size * g + 2.2, size * g + 1.2)
        ax = figure.subplots()
        image = ax.imshow(values, cmap="cividis", vmin=limits[0], vmax=limits[1])
        ax.set_xticks(range(g), names, rotation=45 if max(map(len, names)) > 3 else 0, ha="center")
        ax.set_yticks(range(g), names)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        figure.colorbar(image, ax=ax, label=label, shrink=0.8)
        if g <= MAX_NUMBERS:
            middle = (limits[0] + limits[1]) / 2
            for (i, j), value in np.ndenumerate(values):
                colour = "white" if value < middle else "black"
                ax.text(j, i, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=9)
    return figure
