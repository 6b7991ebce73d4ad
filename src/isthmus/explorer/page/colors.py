"""Colours of points: told apart with every common colour vision, on dark and on light."""

from html import escape
from typing import Any

import numpy as np
from bokeh.palettes import Cividis256, Viridis256

from isthmus.explorer.exploration import Colors

# Okabe and Ito's; a shape besides the colour tells more labels apart than seven.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C8C8C")
MARKERS = ("circle", "triangle", "square", "diamond", "inverted_triangle", "plus", "hex")
SIGNS = ("●", "▲", "■", "◆", "▼", "✚", "⬢")
# What lines and text are drawn in.
INKS = {"default": "#212529", "dark": "#f1f3f5"}
# The ends of the scales are too dark for a dark page, too light for a light one.
SCALE = tuple(Viridis256[20:250])
SHADES = tuple(Cividis256[30:240])


def point_codes(colors: Colors) -> tuple[np.ndarray, list[str], float, float]:
    """Return a number for each row, the palette, and the numbers at its ends."""
    if colors.labels is not None:
        used = [PALETTE[i % len(PALETTE)] for i in range(len(colors.labels))] or [PALETTE[0]]
        return colors.values, used, -0.5, len(used) - 0.5
    values = colors.values
    known = values[np.isfinite(values)]
    if not len(known):
        return np.zeros(len(values)), [PALETTE[0]], 0.0, 1.0
    # One row far out would leave all others in one colour.
    low, high = np.quantile(known, [0.01, 0.99])
    low, high = (low, high) if high > low else (float(known.min()), float(known.max()) + 1e-9)
    return values, list(SCALE), float(low), float(high)


def markers(colors: Colors) -> list[str]:
    """Return a shape for each row."""
    if colors.labels is None:
        return ["circle"] * len(colors.values)
    return [MARKERS[_shape(int(code))] for code in colors.values]


def _shape(code: int) -> int:
    """The shape of a label: shifted with each round of colours, so that no pair comes twice."""
    return (code + code // len(PALETTE)) % len(MARKERS)


def legend(colors: Colors) -> str:
    """Return what colours and shapes mean, as an element of the page."""
    title = f"<strong>{escape(colors.title)}</strong> "
    if colors.labels is not None:
        items = "".join(
            f'<span class="chip"><span style="color:{PALETTE[i % len(PALETTE)]}" '
            f'aria-hidden="true">{SIGNS[_shape(i)]}</span> {escape(label)}</span> '
            for i, label in enumerate(colors.labels[:24])
        )
        more = len(colors.labels) - 24
        return title + items + (f"and {more} more" if more > 0 else "")
    _, palette, low, high = point_codes(colors)
    ramp = ",".join(palette[:: max(1, len(palette) // 12)])
    return (
        f'{title}{low:.3g} <span class="ramp" style="background:linear-gradient(to right,{ramp})" '
        f'role="img" aria-label="scale from dark to light"></span> {high:.3g}'
    )


def shading(support: np.ndarray) -> np.ndarray:
    """Return grey pixels over places without support, (h, w) of 32-bit RGBA."""
    pixels = np.zeros((*support.shape, 4), dtype=np.uint8)
    pixels[..., :3] = 120
    pixels[..., 3] = np.round(110 * np.clip(1 - 1.6 * support, 0, 1))
    return pixels.view(np.uint32)[..., 0]


def safe_label(words: Any) -> str:
    """Return text for an axis, where a pair of dollars would start a formula."""
    return str(words)[:60].replace("$", "＄").replace("\\", "＼")
