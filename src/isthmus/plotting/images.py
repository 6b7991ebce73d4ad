"""Pictures side by side: one row per example, one column per method."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from isthmus.plotting.theme import new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["image_grid"]


def image_grid(
    rows: Sequence[Sequence[ArrayLike]],
    *,
    titles: Sequence[str] = (),
    row_titles: Sequence[str] = (),
    limits: tuple[float, float] = (0.0, 1.0),
    size: float = 1.25,
) -> Figure:
    """Return a grid of grey images that all share one grey scale.

    Parameters
    ----------
    rows : sequence of sequences of 2-D arrays
        ``rows[i][j]`` is the image in row i and column j; sizes may differ.
    titles : sequence of str
        One above each column, broken into lines that fit.
    row_titles : sequence of str
        One left of each row.
    limits : (float, float)
        The values shown black and white; beyond them the grey stays black or white.
    size : float
        Side of one image in inches.
    """
    n_columns = len(rows[0]) if rows else 0
    if not n_columns or any(len(row) != n_columns for row in rows):
        raise ValueError(
            "image_grid needs rows of images, all equally long. "
            f"Got rows of lengths {[len(row) for row in rows]}."
        )
    with style():
        figure = new_figure(size * n_columns + 0.2 + bool(row_titles), size * len(rows) + 0.5)
        axes = figure.subplots(len(rows), n_columns, squeeze=False)
        for i, row in enumerate(rows):
            for j, image in enumerate(row):
                ax = axes[i, j]
                ax.imshow(image, vmin=limits[0], vmax=limits[1], aspect="equal")
                ax.set(xticks=[], yticks=[])
                ax.spines[:].set_visible(False)
        for ax, title in zip(axes[0], titles, strict=False):
            # About nine letters fit in an inch.
            ax.set_title(textwrap.fill(title, max(6, int(9 * size))))
        for ax, title in zip(axes[:, 0], row_titles, strict=False):
            ax.set_ylabel(title, rotation=0, ha="right", va="center")
    return figure
