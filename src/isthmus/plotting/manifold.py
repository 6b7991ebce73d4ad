"""Manifolds: their latent space, their shape through data, what they decode to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.plotting.theme import PALETTE, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["decoded_plane", "latent_map", "manifold_through"]

Points = NDArray[np.float64]
Decode = Callable[[Points], ArrayLike]
_DATA = "#9aa3b0"


def latent_map(
    panels: Mapping[str, ArrayLike],
    *,
    labels: ArrayLike | None = None,
    names: Mapping[Any, str] | None = None,
    density: Mapping[str, Decode] | None = None,
    resolution: int = 120,
    axis_names: Sequence[str] = ("latent 1", "latent 2"),
) -> Figure:
    """Return scatter plots of latent points, on a background that is dark where they are dense.

    Parameters
    ----------
    panels : mapping title -> array (n_points, 2)
        Latent points, one panel per title.
    labels : array (n_points,) or None
        Classes, one colour each, or numbers (floats) shown by a colour scale.
    names : mapping label -> str
        Names of the classes in the legend.
    density : mapping title -> callable, or None
        For panels that are to be shaded: the density at an array of points (m, 2).
    resolution : int
        Cells of the shading along each axis.
    axis_names : two strings
    """
    places = {title: np.asarray(Z, dtype=float) for title, Z in panels.items()}
    with style():
        figure = new_figure(4.3 * len(places) + 0.4, 4.2)
        axes = figure.subplots(1, len(places), squeeze=False)[0]
        for ax, (title, Z) in zip(axes, places.items(), strict=True):
            if density and title in density:
                _shade(ax, Z, density[title], resolution)
            coloured = _scatter(ax, Z, labels, names)
            ax.set(title=title, xlabel=axis_names[0])
        axes[0].set_ylabel(axis_names[1])
        if labels is not None and np.asarray(labels).dtype.kind == "f":
            figure.colorbar(coloured, ax=list(axes))
        elif labels is not None:
            axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handletextpad=0.1)
    return figure


def _shade(ax: Any, Z: Points, density: Decode, resolution: int) -> None:
    low, high = Z.min(axis=0), Z.max(axis=0)
    margin = 0.08 * np.maximum(high - low, 1e-12)
    sides = [
        np.linspace(a, b, resolution) for a, b in zip(low - margin, high + margin, strict=True)
    ]
    grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    values = np.asarray(density(grid), dtype=float).reshape(resolution, resolution)
    ax.imshow(
        values,
        origin="lower",
        extent=(sides[0][0], sides[0][-1], sides[1][0], sides[1][-1]),
        cmap="Greys",
        vmin=0.0,
        vmax=1.6 * float(values.max()) or 1.0,
        aspect="auto",
        interpolation="bilinear",
    )


def _scatter(ax: Any, Z: Points, labels: ArrayLike | None, names: Mapping[Any, str] | None) -> Any:
    look = {"s": 12, "linewidths": 0.3, "edgecolors": "white"}
    if labels is None:
        return ax.scatter(*Z.T, color=PALETTE[0], **look)
    marks = np.asarray(labels)
    if marks.dtype.kind == "f":
        return ax.scatter(*Z.T, c=marks, cmap="viridis", **look)
    for i, label in enumerate(np.unique(marks)):
        colour = PALETTE[i] if i < len(PALETTE) else _extra_colour(i)
        named = names[label] if names else str(label)
        last = ax.scatter(*Z[marks == label].T, color=colour, label=named, **look)
    return last


def _extra_colour(i: int) -> Any:
    """Return a colour beyond the seven of the palette: digits have ten classes."""
    import matplotlib

    return matplotlib.colormaps["tab20b"](2 * i % 20)


def manifold_through(
    panels: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    truth: ArrayLike | None = None,
    values: ArrayLike | None = None,
) -> Figure:
    """Return data in two or three dimensions with a curve or a sheet drawn through it.

    Parameters
    ----------
    panels : mapping title -> (data, manifold)
        Data (n_points, 2 or 3). The manifold is a curve (m, d) in the order of its latent
        coordinate, or a sheet (a, b, 3): the decoded points of a grid of a times b latent
        points, NaN outside its domain.
    truth : array (m, d) or None
        The curve that the data were made from, dashed.
    values : array (n_points,) or None
        Numbers that colour the data.
    """
    with style():
        figure = new_figure(4.4 * len(panels) + 0.2, 4.4)
        for i, (title, (data, manifold)) in enumerate(panels.items()):
            points, shape = np.asarray(data, dtype=float), np.asarray(manifold, dtype=float)
            solid = points.shape[1] == 3
            ax = figure.add_subplot(1, len(panels), i + 1, projection="3d" if solid else None)
            colour = {"color": _DATA} if values is None else {"c": values, "cmap": "viridis"}
            ax.scatter(*points.T, s=9, linewidths=0, alpha=0.5 if solid else 0.8, **colour)
            if truth is not None:
                ax.plot(*np.asarray(truth).T, color="black", lw=1, ls="--", label="truth")
            if shape.ndim == 2:
                ax.plot(*shape.T, color=PALETTE[5], lw=2, label="manifold")
            else:
                _sheet(ax, shape)
            if solid:
                ax.set_axis_off()
            ax.set(title=title)
            ax.set_aspect("equal")
        if truth is not None:
            figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _sheet(ax: Any, shape: Points) -> None:
    """Draw the lines of a grid along both of its axes."""
    for lines in (shape, shape.transpose(1, 0, 2)):
        for line in lines:
            ax.plot(*line.T, color=PALETTE[5], lw=0.9, alpha=0.9)


def decoded_plane(
    decode: Decode,
    *,
    x: Sequence[float],
    y: Sequence[float],
    image_shape: tuple[int, int],
    valid: Callable[[Points], ArrayLike] | None = None,
    limits: tuple[float, float] = (0.0, 1.0),
    size: float = 0.55,
) -> Figure:
    """Return the images that a manifold decodes to, each at its place in the latent plane.

    Parameters
    ----------
    decode : callable
        Images of an array of latent points (m, 2), flattened to (m, height * width).
    x, y : sequences of float
        Latent coordinates of the columns, and of the rows from the bottom to the top.
    image_shape : (int, int)
        Height and width of an image.
    valid : callable or None
        Which of the points (m, 2) belong to the domain; the others stay empty.
    limits : (float, float)
        The values shown black and white.
    size : float
        Side of one image in inches.
    """
    columns, rows = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    places = np.stack(np.meshgrid(columns, rows), axis=-1).reshape(-1, 2)
    inside = np.ones(len(places), bool) if valid is None else np.asarray(valid(places), bool)
    height, width = image_shape
    # One empty pixel below and right of every image tells neighbours apart.
    images = np.full((len(places), height + 1, width + 1), np.nan)
    if inside.any():
        found = np.asarray(decode(places[inside])).reshape(-1, height, width)
        images[inside, :height, :width] = found
    tiles = images.reshape(len(rows), len(columns), height + 1, width + 1)[::-1]
    mosaic = tiles.transpose(0, 2, 1, 3).reshape(len(rows) * (height + 1), -1)
    with style():
        figure = new_figure(size * len(columns) + 0.7, size * len(rows) * height / width + 0.7)
        ax = figure.subplots()
        # Half an image on every side, so that a tick stands at the middle of its image.
        step = [np.ptp(a) / max(len(a) - 1, 1) or 1.0 for a in (columns, rows)]
        extent = (
            columns[0] - step[0] / 2,
            columns[-1] + step[0] / 2,
            rows[0] - step[1] / 2,
            rows[-1] + step[1] / 2,
        )
        ax.imshow(mosaic, vmin=limits[0], vmax=limits[1], extent=extent, aspect="auto")
        ax.set(xlabel="latent 1", ylabel="latent 2")
    return figure
