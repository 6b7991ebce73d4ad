"""Rows of numbers as curves over an axis, as bars, as strokes of a pen."""

import numpy as np

from isthmus.explorer.kinds.picture import COLORS, INK, Picture, number, text

_WIDTH, _HEIGHT = 240.0, 150.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 34.0, 8.0, 8.0, 22.0
_MOST_POINTS = 400
_MOST_BARS = 40


def draw_curve(
    values: np.ndarray, low: float, high: float, axis: np.ndarray | None = None
) -> Picture:
    """Return curves over an axis; ``values`` are (n,) or (n, channels)."""
    Y = np.asarray(values, dtype=float)
    Y = Y[:, None] if Y.ndim == 1 else Y
    x = np.arange(len(Y), dtype=float) if axis is None or len(axis) != len(Y) else axis
    every = -(-len(Y) // _MOST_POINTS)
    ends = float(x[0]), float(x[-1])
    Y, x = Y[::every], x[::every]
    left = _scaled(x, ends, (_LEFT, _WIDTH - _RIGHT))
    lines = []
    for channel, column in enumerate(Y.T[: len(COLORS)]):
        down = _scaled(column, (low, high), (_HEIGHT - _BOTTOM, _TOP))
        color = COLORS[channel]
        lines.append(
            f'<path d="{path(left, down)}" fill="none" stroke="{color}" stroke-width="2" '
            'stroke-linejoin="round"/>'
        )
    return Picture(_WIDTH, _HEIGHT, _frame((low, high), ends) + "".join(lines))


def draw_bars(values: np.ndarray, low: float, high: float, names: list[str]) -> Picture:
    """Return a bar for each number, from zero, with its name where there is room."""
    y = np.asarray(values, dtype=float)[:_MOST_BARS]
    low, high = min(low, 0.0), max(high, 0.0)
    step = (_WIDTH - _LEFT - _RIGHT) / max(len(y), 1)
    zero = float(_scaled(np.zeros(1), (low, high), (_HEIGHT - _BOTTOM, _TOP))[0])
    bars = [_frame((low, high), None)]
    for i, top in enumerate(_scaled(y, (low, high), (_HEIGHT - _BOTTOM, _TOP))):
        color = COLORS[0] if y[i] >= 0 else COLORS[1]
        bars.append(
            f'<rect x="{_LEFT + i * step:.1f}" y="{min(top, zero):.1f}" '
            f'width="{max(step - 1, 0.5):.1f}" height="{max(abs(top - zero), 0.5):.1f}" '
            f'fill="{color}"/>'
        )
    if len(y) <= 12:
        for i, name in enumerate(names[: len(y)]):
            bars.append(_label(_LEFT + (i + 0.5) * step, _HEIGHT - 8, text(name, 8), "middle"))
    return Picture(_WIDTH, _HEIGHT, "".join(bars))


def draw_strokes(values: np.ndarray) -> Picture:
    """Return the way of a pen: rows (x, y) or (x, y, down), or x and y by turns in one row."""
    points = np.asarray(values, dtype=float)
    points = points.reshape(-1, 2) if points.ndim == 1 else points
    down = points[:, 2] > 0.5 if points.shape[1] > 2 else np.ones(len(points), dtype=bool)
    xy = points[:, :2]
    low, high = xy.min(axis=0), xy.max(axis=0)
    span = float(max(high - low)) or 1.0
    size = 140.0
    place = 5 + (xy - (low + high) / 2) / span * (size - 10) + (size - 10) / 2
    place[:, 1] = size - place[:, 1]
    pieces = np.split(np.arange(len(xy)), np.flatnonzero(np.diff(down.astype(int))) + 1)
    lines = [
        f'<path d="{path(*place[piece].T)}" fill="none" stroke="{INK}" stroke-width="3" '
        'stroke-linecap="round" stroke-linejoin="round"/>'
        for piece in pieces
        if down[piece[0]]
    ]
    return Picture(size, size, "".join(lines))


def path(x: np.ndarray, y: np.ndarray) -> str:
    """Return the path of a line through points, broken where one is not finite."""
    parts, pen = [], "M"
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        if not (np.isfinite(a) and np.isfinite(b)):
            pen = "M"
            continue
        parts.append(f"{pen}{a:.1f} {b:.1f}")
        pen = "L"
    return "".join(parts)


def _scaled(x: np.ndarray, ends: tuple[float, float], to: tuple[float, float]) -> np.ndarray:
    span = (ends[1] - ends[0]) or 1.0
    # What lies far outside would be drawn over its neighbours.
    share = np.clip((np.asarray(x, dtype=float) - ends[0]) / span, -0.05, 1.05)
    return to[0] + share * (to[1] - to[0])


def _frame(y_ends: tuple[float, float], x_ends: tuple[float, float] | None) -> str:
    """An axis on the left and below, with a number at each end."""
    foot = _HEIGHT - _BOTTOM
    span = abs(y_ends[1] - y_ends[0])
    # Zero but for rounding, and few digits: there is little room.
    bottom, top = (f"{0.0 if abs(v) < 1e-4 * span else v:.3g}" for v in y_ends)
    lines = (
        f'<path d="M{_LEFT} {_TOP}V{foot}H{_WIDTH - _RIGHT}" fill="none" stroke="{INK}" '
        'opacity="0.5"/>'
    )
    labels = [
        _label(_LEFT - 3, _TOP + 6, top, "end"),
        _label(_LEFT - 3, foot, bottom, "end"),
    ]
    if x_ends is not None:
        labels.append(_label(_LEFT, _HEIGHT - 7, number(x_ends[0]), "start"))
        labels.append(_label(_WIDTH - _RIGHT, _HEIGHT - 7, number(x_ends[1]), "end"))
    return lines + "".join(labels)


def _label(x: float, y: float, words: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="10" text-anchor="{anchor}" '
        f'fill="{INK}">{words}</text>'
    )
