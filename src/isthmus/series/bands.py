"""Windows of alignments: which elements of two series may meet."""

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np

from isthmus._checks import check_float
from isthmus._piece import Piece
from isthmus.typing import IntArray

# The codes that isthmus.series.warping_loops knows.
NO_WINDOW, SAKOE_CHIBA, STRICT, ITAKURA = 0, 1, 2, 3


@dataclass
class SakoeChiba(Piece):
    r"""A band along the diagonal: :math:`|i-j|\le r` for series of equal length.

    Parameters
    ----------
    radius : int or float in (0, 1)
        The radius in elements, or as share of the longer series.
    strict : bool, default=False
        Series of lengths n < m need a wider band: by default
        :math:`-r\le j-i\le r+(m-n)`, so that there always is a path. True holds to
        :math:`|i-j|\le r` and refuses lengths that differ by more.

    Examples
    --------
    >>> from isthmus.series import SakoeChiba, dtw
    >>> dtw([0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], window=SakoeChiba(0))
    2.0
    >>> dtw([0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], window=SakoeChiba(1))
    0.0
    """

    __module__ = "isthmus.series"

    radius: float
    strict: bool = field(default=False, kw_only=True)


@dataclass
class Itakura(Piece):
    r"""A parallelogram between the two ends, with sides of slope ``slope`` and its inverse.

    A cell belongs to it when it touches it, :math:`j-\frac12\le s(i+\frac12)` and so on for the
    other three sides, counted from 0: half a cell wider than the inequality for points, in
    exchange for a path whenever the slope from end to end is between :math:`1/s` and :math:`s`.
    Libraries that round the inequalities for points to whole cells (aeon, tslearn) leave out some
    of these cells, so that their distances may be a little larger.

    Parameters
    ----------
    slope : float, default=2.0
        Greater than 1.

    Examples
    --------
    >>> from isthmus.series import Itakura, dtw
    >>> dtw([0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 1.0], window=Itakura(1.5))
    1.0
    """

    __module__ = "isthmus.series"

    slope: float = 2.0


def window_code(window: Any) -> tuple[int, float]:
    """Kind and width of a window as numbers for the compiled loops.

    >>> window_code(None), window_code(3), window_code(Itakura(2.0))
    ((0, 0.0), (1, 3.0), (3, 2.0))
    """
    if window is None:
        return NO_WINDOW, 0.0
    if isinstance(window, Itakura):
        slope = check_float(window.slope, "slope", window, low=1.0, include_low=False)
        return ITAKURA, slope
    band = window if isinstance(window, SakoeChiba) else SakoeChiba(window)
    radius = band.radius
    whole = isinstance(radius, Integral) and not isinstance(radius, bool) and radius >= 0
    share = isinstance(radius, Real) and not isinstance(radius, Integral) and 0 < radius < 1
    if not (whole or share):
        raise ValueError(
            "A window must be None, an int in [0, inf) (elements), a float in (0, 1) (share of the "
            f"longer series), SakoeChiba or Itakura. Got {window!r} instead."
        )
    return STRICT if band.strict else SAKOE_CHIBA, float(radius)


def check_feasible(
    code: tuple[int, float], x_lengths: IntArray, z_lengths: IntArray, *, owner: str
) -> None:
    """Refuse a window that leaves no path between two series of some of these lengths."""
    kind, width = code
    if kind not in (STRICT, ITAKURA):
        return
    n, m = np.unique(x_lengths)[:, None], np.unique(z_lengths)[None]
    if kind == STRICT:
        radius = np.floor(width * np.maximum(n, m)) if 0 < width < 1 else width
        closed = np.abs(n - m) > radius
        said = "a radius of at least their difference, or SakoeChiba with strict=False"
    else:
        # Slope from end to end; two series of one element have any.
        closed = (m - 1 > width * (n - 1)) | (n - 1 > width * (m - 1))
        said = "a slope of at least the greater over the smaller of (length - 1)"
    if closed.any():
        i, j = np.argwhere(closed)[0]
        raise ValueError(
            f"The window of {owner} leaves no path between series of lengths {n[i, 0]} and "
            f"{m[0, j]}: expected {said}. Got {width:g} instead."
        )
