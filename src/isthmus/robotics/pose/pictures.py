"""Pictures as they are given: checks, one range of values, one size."""

from typing import Any

import numpy as np
from scipy import ndimage

from isthmus.typing import Array


def check_images(owner: Any, images: Any, *, what: str = "X") -> list[Array]:
    """Return pictures as a list of arrays (rows, columns, 3) in [0, 1], or say what is wrong."""
    name = type(owner).__name__
    if not hasattr(images, "__len__") or isinstance(images, (str, bytes, dict)):
        raise TypeError(f"{name} expected a list or an array of pictures as {what}.")
    if not len(images):
        raise ValueError(f"{name} expected at least one picture. Got none instead.")
    if isinstance(images, np.ndarray) and images.ndim == 3:
        raise ValueError(
            f"{name} expected pictures, an array of shape (n, rows, columns, 3) or a list. Got "
            f"shape {images.shape}: for one picture, give [picture]."
        )
    checked = []
    for i, image in enumerate(images):
        picture = np.asarray(image)
        if picture.ndim != 3 or picture.shape[2] != 3 or min(picture.shape) < 3:
            raise ValueError(
                f"{name} expected pictures of shape (rows, columns, 3). "
                f"Got shape {picture.shape} in {what}[{i}] instead."
            )
        checked.append(unit_values(owner, picture, f"{what}[{i}]"))
    return checked


def unit_values(owner: Any, values: Array, where: str) -> Array:
    """Colours as floats in [0, 1]; integers are taken to be in 0 … 255."""
    if values.dtype.kind in "ui":
        values = values / 255.0
    elif values.dtype.kind != "f":
        raise TypeError(
            f"{type(owner).__name__} expected numbers in {where}. Got {values.dtype} instead."
        )
    low, high = values.min(), values.max()
    if not (low >= 0 and high <= 1):  # NaN fails too
        raise ValueError(
            f"{type(owner).__name__} expected integers in [0, 255] or floats in [0, 1] in "
            f"{where}. Got values from {low:.4g} to {high:.4g} instead."
        )
    return np.asarray(values, dtype=np.float64)


def channels(image: Array, size: int) -> Array:
    """The picture as (3, size, size), stretched if its shape is different."""
    picture = np.ascontiguousarray(np.moveaxis(image, 2, 0))
    if picture.shape[1:] != (size, size):
        zoom = (1.0, size / picture.shape[1], size / picture.shape[2])
        picture = np.clip(
            ndimage.zoom(picture, zoom, order=1, grid_mode=True, mode="nearest"), 0, 1
        )
    return picture
