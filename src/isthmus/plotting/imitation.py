"""Pictures of a person above the arm that imitates them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from isthmus.plotting.theme import PALETTE, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["imitation_strip"]


def imitation_strip(
    images: Sequence[ArrayLike],
    arms: Mapping[str, ArrayLike],
    *,
    titles: Sequence[str] = (),
    size: float = 1.35,
) -> Figure:
    """Return a strip of frames: each picture, and below it arms as the camera would see them.

    Parameters
    ----------
    images : sequence of n arrays (rows, columns, 3)
    arms : mapping name -> array of shape (n, n_joints, 2)
        Places of the joints, right and up, of one arm or of several that are compared; the
        first is drawn thick.
    titles : sequence of str
        One above each picture.
    size : float
        Width of a frame in inches.
    """
    places = {name: np.asarray(points, dtype=float) for name, points in arms.items()}
    n = len(images)
    if not n or any(points.shape[0] != n or points.ndim != 3 for points in places.values()):
        raise ValueError(
            f"imitation_strip needs as many postures as its {n} pictures, of shape (n, n_joints, "
            f"2). Got {', '.join(f'{k}: {v.shape}' for k, v in places.items())}."
        )
    every = np.concatenate([points.reshape(-1, 2) for points in places.values()])
    margin = 0.08 * np.ptp(every, axis=0).max()
    low, high = every.min(axis=0) - margin, every.max(axis=0) + margin
    tall = (high[1] - low[1]) / (high[0] - low[0])
    with style():
        figure = new_figure(size * n + 0.3, size * (1 + tall) + 0.8)
        rows = figure.subplots(2, n, squeeze=False, height_ratios=[1, tall])
        for i, (top, bottom) in enumerate(rows.T):
            top.imshow(images[i])
            for k, (name, points) in enumerate(places.items()):
                bottom.plot(
                    *points[i].T,
                    color=PALETTE[k % len(PALETTE)],
                    lw=4 if k == 0 else 1.8,
                    ls="-" if k == 0 else "--",
                    marker="o",
                    ms=5 if k == 0 else 3,
                    solid_capstyle="round",
                    label=name,
                )
            bottom.plot(*points[i][0], marker="s", ms=8, color="#5b6575")
            bottom.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
            for ax in (top, bottom):
                ax.set(xticks=[], yticks=[])
                ax.spines[:].set_visible(False)
        for ax, title in zip(rows[0], titles, strict=False):
            ax.set_title(title, fontsize=10)
        handles, names = rows[1, 0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), fontsize=10)
    return figure
