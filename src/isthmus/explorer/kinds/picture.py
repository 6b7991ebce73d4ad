"""Pictures as text: a body of SVG with its size, alone or in a row."""

import base64
import struct
import zlib
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np

# Text and lines take the colour of the page, so that one picture serves dark and light.
INK = "currentColor"
# Okabe and Ito's colours without those that vanish on white or on black.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
_GAP = 8.0


class Picture(NamedTuple):
    """What is inside of an ``<svg>`` element, and how large it is."""

    width: float
    height: float
    body: str


def svg(picture: Picture, label: str, *, standalone: bool = False, sized: bool = False) -> str:
    """Return an ``<svg>`` element that a screen reader announces as ``label``."""
    head = 'xmlns="http://www.w3.org/2000/svg" ' if standalone else ""
    size = f'width="{picture.width:g}" height="{picture.height:g}" '
    size = size if standalone or sized else ""
    box = f'viewBox="0 0 {picture.width:g} {picture.height:g}"'
    name = text(label, 200)
    return f'<svg {head}{size}{box} role="img" aria-label="{name}">{picture.body}</svg>'


def in_a_row(
    pictures: Sequence[Picture], *, height: float = 96.0, most_wide: float = 160.0
) -> Picture:
    """Return pictures side by side, as high as all may be unless that makes them too wide."""
    parts, left, tallest = [], 0.0, 1.0
    for one in pictures:
        scale = min(height / one.height, most_wide / one.width)
        width, high = scale * one.width, scale * one.height
        parts.append(
            f'<svg x="{left:g}" y="0" width="{width:g}" height="{high:g}" '
            f'viewBox="0 0 {one.width:g} {one.height:g}">{one.body}</svg>'
        )
        left += width + _GAP
        tallest = max(tallest, high)
    return Picture(max(left - _GAP, 1.0), tallest, "".join(parts))


def text(words: object, limit: int = 60) -> str:
    """Return words as text that no browser takes for a tag, cut to a length."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(words))
    return escape(shown if len(shown) <= limit else shown[: limit - 1] + "…", quote=True)


def number(value: float) -> str:
    """Return a number in few characters."""
    return "–" if not np.isfinite(value) else f"{value:.4g}"


def png(pixels: np.ndarray) -> bytes:
    """Return the bytes of a PNG file; ``pixels`` are bytes, (h, w) or (h, w, 3)."""
    height, width = pixels.shape[:2]
    color = 0 if pixels.ndim == 2 else 2
    lines = np.zeros((height, 1 + pixels[0].size), dtype=np.uint8)  # 0: no filter in a line
    lines[:, 1:] = pixels.reshape(height, -1)
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)),
        (b"IDAT", zlib.compress(lines.tobytes(), 6)),
        (b"IEND", b""),
    )
    parts = [b"\x89PNG\r\n\x1a\n"]
    for name, data in chunks:
        check = struct.pack(">I", zlib.crc32(name + data))
        parts += [struct.pack(">I", len(data)), name, data, check]
    return b"".join(parts)


def data_address(content: bytes, kind: str = "image/png") -> str:
    """Return content as an address that needs no network."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
