"""Rows of numbers as images, grey or coloured."""

import numpy as np

from isthmus.explorer.kinds.picture import Picture, data_address, png

_MOST_PIXELS = 512  # a side; more than a screen shows beside the map


def image_pixels(values: np.ndarray, shape: tuple[int, ...], low: float, high: float) -> np.ndarray:
    """Return bytes of shape (h, w) or (h, w, 3), ``low`` black and ``high`` white."""
    image = np.asarray(values, dtype=float).reshape(shape)
    if image.ndim == 3 and image.shape[2] == 1:
        image = image[:, :, 0]
    every = -(-max(image.shape[:2]) // _MOST_PIXELS)
    image = image[::every, ::every]
    span = (high - low) or 1.0
    shade = np.nan_to_num((image - low) / span, nan=0.5)
    return np.round(255 * np.clip(shade, 0.0, 1.0)).astype(np.uint8)


def draw_image(values: np.ndarray, shape: tuple[int, ...], low: float, high: float) -> Picture:
    """Return an image whose pixels stay sharp when it is enlarged."""
    pixels = image_pixels(values, shape, low, high)
    height, width = pixels.shape[:2]
    body = (
        f'<image width="{width}" height="{height}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="{data_address(png(pixels))}"/>'
    )
    return Picture(width, height, body)
