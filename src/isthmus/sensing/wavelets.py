"""Daubechies' orthonormal wavelets on arrays of any dimension, with periodic ends."""

from math import comb

import numpy as np

from isthmus.typing import Array


def daubechies_filter(moments: int) -> Array:
    r"""Low-pass filter of length ``2 * moments`` with ``moments`` vanishing moments.

    Spectral factorisation: of the roots of :math:`\sum_k\binom{p-1+k}{k}y^k` with
    :math:`z+1/z=2-4y`, those inside the circle belong to the filter [Daubechies1988]_.

    >>> import numpy as np
    >>> np.round(daubechies_filter(1), 4)
    array([0.7071, 0.7071])
    >>> h = daubechies_filter(4)
    >>> bool(abs(h @ h - 1) < 1e-12 and abs(h[2:] @ h[:-2]) < 1e-12)
    True
    """
    p = moments
    in_y = np.roots([comb(p - 1 + k, k) for k in reversed(range(p))])
    middle = 1 - 2 * in_y
    root = np.sqrt(middle.astype(complex) ** 2 - 1)
    inside = np.where(np.abs(middle - root) < 1, middle - root, middle + root)
    h = np.real(np.poly(np.concatenate([-np.ones(p), inside])))
    return np.sqrt(2) * h / h.sum()


def analyse(signal: Array, moments: int) -> Array:
    """Wavelet coefficients of ``signal``, coarsest first along every axis; an orthonormal map."""
    out = np.array(signal, dtype=np.float64)
    h, g = _filters(moments)
    for sides in _levels(out.shape):
        box = tuple(slice(side) for side in sides)
        part = out[box]
        for axis in range(part.ndim):
            rows = np.moveaxis(part, axis, -1)
            low, high = (_down(rows, f) for f in (h, g))
            part = np.moveaxis(np.concatenate([low, high], axis=-1), -1, axis)
        out[box] = part
    return out


def synthesise(coefficients: Array, moments: int) -> Array:
    """The signal of wavelet ``coefficients``: transpose and inverse of :func:`analyse`."""
    out = np.array(coefficients, dtype=np.float64)
    h, g = _filters(moments)
    for sides in reversed(_levels(out.shape)):
        box = tuple(slice(side) for side in sides)
        part = out[box]
        for axis in range(part.ndim):
            low, high = np.split(np.moveaxis(part, axis, -1), 2, axis=-1)
            part = np.moveaxis(_up(low, h) + _up(high, g), -1, axis)
        out[box] = part
    return out


def _filters(moments: int) -> tuple[Array, Array]:
    h = daubechies_filter(moments)
    return h, h[::-1] * (-1.0) ** np.arange(len(h))


def _levels(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Sides of the boxes that are split in turn, as long as every side is even."""
    sides, found = shape, []
    while all(side % 2 == 0 for side in sides):
        found.append(sides)
        sides = tuple(side // 2 for side in sides)
    return found


def _down(rows: Array, f: Array) -> Array:
    """Every second entry of the periodic correlation with ``f``."""
    if len(f) == 2:
        return f[0] * rows[..., ::2] + f[1] * rows[..., 1::2]
    return sum(f[j] * np.roll(rows, -j, axis=-1)[..., ::2] for j in range(len(f)))


def _up(half: Array, f: Array) -> Array:
    """Transpose of :func:`_down`."""
    out = np.zeros((*half.shape[:-1], 2 * half.shape[-1]))
    if len(f) == 2:
        out[..., ::2], out[..., 1::2] = f[0] * half, f[1] * half
        return out
    spread = out.copy()
    spread[..., ::2] = half
    for j, weight in enumerate(f):
        out += weight * np.roll(spread, j, axis=-1)
    return out
