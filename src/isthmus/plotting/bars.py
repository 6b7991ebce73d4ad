"""Values of several methods as bars, with their spread and the published value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from isthmus.plotting.theme import PALETTE, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["error_bars"]


def error_bars(
    panels: Mapping[str, Mapping[str, float]],
    *,
    spread: Mapping[str, Mapping[str, float]] | None = None,
    published: Mapping[str, Mapping[str, float]] | None = None,
    log: Sequence[str] = (),
) -> Figure:
    """Return one panel of horizontal bars per measure, one bar per method.

    Parameters
    ----------
    panels : mapping measure -> mapping method -> value
        All panels must name the same methods.
    spread : mapping of the same form or None
        Half the length of the error bar.
    published : mapping of the same form or None
        Marked by a diamond on the bar of its method.
    log : sequence of str
        The measures to show on a logarithmic axis.
    """
    methods = list(next(iter(panels.values())))
    with style():
        figure = new_figure(1.6 + 3.0 * len(panels), 1.0 + 0.36 * len(methods))
        axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        for ax, (measure, values) in zip(axes, panels.items(), strict=True):
            widths = [values[m] for m in methods]
            half = (spread or {}).get(measure)
            errors = [half[m] for m in methods] if half else None
            ax.barh(methods, widths, xerr=errors, color=PALETTE[0], height=0.7, capsize=3)
            marks = (published or {}).get(measure, {})
            for i, width in enumerate(widths):
                # Right of the bar, of its error bar and of the published mark.
                end = max(width + (errors[i] if errors else 0), marks.get(methods[i], width))
                ax.annotate(
                    f"{width:.3g}",
                    (end, i),
                    xytext=(6, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=10,
                )
            if marks:
                ax.plot(
                    list(marks.values()),
                    [methods.index(m) for m in marks],
                    "D",
                    color="#1c2330",
                    markerfacecolor="white",
                    label="published",
                    clip_on=False,
                )
                ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=10)
            ax.set_xlabel(measure)
            if measure in log:
                ax.set_xscale("log")
                ax.tick_params(which="minor", labelbottom=False)  # they would overlap
            ax.margins(x=0.25)  # room for the values
        # One shared vertical axis: turned once, so that the first method stands on top.
        axes[0].invert_yaxis()
    return figure
