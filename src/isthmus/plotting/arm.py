"""Arms and bodies in motion, drawn in three dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from isthmus.plotting.theme import PALETTE, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["arm_motion", "movement_strip"]


def arm_motion(
    panels: Mapping[str, ArrayLike],
    *,
    path: ArrayLike | None = None,
    n_postures: int = 5,
    view: tuple[float, float] = (18.0, -60.0),
) -> Figure:
    """Return arms in 3-D, one panel per title: faint at the start of a movement, strong at its end.

    Parameters
    ----------
    panels : mapping title -> array of shape (n_steps, n_points, 3)
        Places of the joints over time, as :meth:`isthmus.robotics.KinematicChain.positions` gives
        them; one step is a posture.
    path : array of shape (n_steps, 3)
        A line to draw, such as the one the hand has to follow.
    n_postures : int
        Number of postures of a movement to draw, evenly spaced in time.
    view : (float, float)
        Elevation and azimuth of the viewer in degrees.
    """
    motions = {title: np.asarray(points, dtype=float) for title, points in panels.items()}
    wrong = [t for t, p in motions.items() if p.ndim != 3 or p.shape[2] != 3 or not len(p)]
    if wrong or not motions:
        raise ValueError(
            "arm_motion needs places of shape (n_steps, n_points, 3). Got "
            f"{', '.join(f'{t}: {motions[t].shape}' for t in wrong) or 'no panel'}."
        )
    line = None if path is None else np.asarray(path, dtype=float)
    everything = [p.reshape(-1, 3) for p in motions.values()] + ([] if line is None else [line])
    with style():
        figure = new_figure(3.9 * len(motions), 4.0)
        for k, (title, points) in enumerate(motions.items()):
            ax: Any = figure.add_subplot(1, len(motions), k + 1, projection="3d")
            if line is not None:
                ax.plot(*line.T, color=PALETTE[5], lw=1.5, zorder=5)
            steps = np.unique(np.linspace(0, len(points) - 1, n_postures).round().astype(int))
            for i, step in enumerate(steps):
                strength = 0.2 + 0.8 * (i + 1) / len(steps)
                ax.plot(*points[step].T, color=PALETTE[0], lw=4, alpha=strength)
                ax.plot(*points[step].T, "o", color="#1d2733", ms=4, alpha=strength)
            _even_axes(ax, np.concatenate(everything), view)
            ax.set_title(title)
    return figure


def movement_strip(
    rows: Mapping[str, ArrayLike],
    bones: Sequence[tuple[int, int]],
    *,
    n_frames: int = 7,
    titles: Sequence[str] = (),
) -> Figure:
    """Return a strip of frames per movement: time runs to the right, movements are rows.

    Parameters
    ----------
    rows : mapping name -> array of shape (n_steps, n_points, 2)
        Places of the points over time, right and up.
    bones : sequence of (int, int)
        Which points to join by a line.
    n_frames : int
        Number of frames of each movement, evenly spaced in its own time.
    titles : sequence of str
        One above each column.
    """
    motions = {name: np.asarray(points, dtype=float) for name, points in rows.items()}
    wrong = [t for t, p in motions.items() if p.ndim != 3 or p.shape[2] != 2 or not len(p)]
    if wrong or not motions:
        raise ValueError(
            "movement_strip needs places of shape (n_steps, n_points, 2). Got "
            f"{', '.join(f'{t}: {motions[t].shape}' for t in wrong) or 'no row'}."
        )
    every = np.concatenate([points.reshape(-1, 2) for points in motions.values()])
    low, high = every.min(axis=0), every.max(axis=0)
    margin = 0.06 * (high - low).max()
    tall = (high[1] - low[1] + 2 * margin) / (high[0] - low[0] + 2 * margin)
    width = 1.25
    with style():
        figure = new_figure(width * n_frames + 1.3, width * tall * len(motions) + 0.5)
        grid = figure.subplots(len(motions), n_frames, squeeze=False)
        for r, (name, points) in enumerate(motions.items()):
            steps = np.linspace(0, len(points) - 1, n_frames).round().astype(int)
            for ax, step in zip(grid[r], steps, strict=True):
                for a, b in bones:
                    ax.plot(*points[step, [a, b]].T, color=PALETTE[r % len(PALETTE)], lw=2.2)
                ax.set(
                    xlim=(low[0] - margin, high[0] + margin),
                    ylim=(low[1] - margin, high[1] + margin),
                    aspect="equal",
                )
                ax.set_axis_off()
            grid[r, 0].text(
                -0.1, 0.5, name, transform=grid[r, 0].transAxes, ha="right", va="center"
            )
        for ax, title in zip(grid[0], titles, strict=False):
            ax.set_title(title)
    return figure


def _even_axes(ax: Any, points: np.ndarray, view: tuple[float, float]) -> None:
    """Give all axes the same scale and few ticks, seen from ``view``."""
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    half = 0.55 * np.ptp(points, axis=0).max()
    for name, centre in zip("xyz", middle, strict=True):
        getattr(ax, f"set_{name}lim")(centre - half, centre + half)
        getattr(ax, f"set_{name}label")(name, labelpad=-8)
        getattr(ax, f"{name}axis").set_major_locator(_few_ticks())
        ax.tick_params(axis=name, labelsize=7, pad=-3)
    ax.set_box_aspect((1, 1, 1))
    ax.view_init(*view)


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(3)
