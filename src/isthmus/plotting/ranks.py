"""Error against rank, as :func:`isthmus.regression.compare_ranks` tables it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isthmus.plotting.theme import new_figure, style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["rank_curves"]


def rank_curves(table: pd.DataFrame, *, error: str = "rmse", log: bool = False) -> Figure:
    """Return the error of each estimator over the rank, with its standard error over the folds.

    Parameters
    ----------
    table : DataFrame
        What ``compare_ranks`` returns: columns ``estimator``, ``rank``, ``fold`` and the error.
    error : str
        The column to draw, ``"rmse"`` (rows left out) or ``"train_rmse"``.
    log : bool
        Draw the error on a logarithmic axis.
    """
    with style():
        figure = new_figure(6.4, 3.8)
        ax = figure.subplots()
        for name, rows in table.groupby("estimator", sort=False):
            folds = rows.groupby("rank")[error]
            mean = folds.mean()
            # One fold alone has no spread.
            half = (folds.std().fillna(0.0) / np.sqrt(folds.count())).to_numpy()
            ranks, middle = mean.index.to_numpy(), mean.to_numpy()
            (line,) = ax.plot(ranks, middle, marker="o", markersize=4, label=str(name))
            ax.fill_between(
                ranks, middle - half, middle + half, color=line.get_color(), alpha=0.15, lw=0
            )
        ax.set(xlabel="rank", ylabel=error.replace("_", " ").replace("rmse", "RMSE"))
        ax.xaxis.get_major_locator().set_params(integer=True)
        if log:
            ax.set_yscale("log")
        ax.legend()
    return figure
