"""Compiled loops that cut patches out, remove their weak waves and add them up.

Pixels of a picture are sorted into ``planes`` (s, s, ...): those at every s-th place along either
side. A pixel of all ``patches`` (p, p, rows, columns) is a piece of one plane.
"""

from isthmus._compiled import njit


@njit(nogil=True)
def keep_strong(codes, threshold, weights):
    """Set coefficients of at most ``threshold`` to zero, and weigh every column of ``codes``.

    The first row, the means, is kept. A column weighs 1 / what it keeps: ``weights`` is filled.
    """
    m, n = codes.shape
    weights[:] = 1.0
    for k in range(1, m):
        row = codes[k]
        for p in range(n):
            strong = abs(row[p]) > threshold
            row[p] = row[p] if strong else 0.0
            weights[p] += 1.0 if strong else 0.0
    for p in range(n):
        weights[p] = 1.0 / weights[p]
    for k in range(m):
        row = codes[k]
        for p in range(n):
            row[p] *= weights[p]


@njit(nogil=True)
def fill_patches(planes, top, patches):
    """Copy patches from where they lie, in planes from row ``top`` on."""
    stride = len(planes)
    size, _, height, width = patches.shape
    for i in range(size):
        for j in range(size):
            plane, left = planes[i % stride, j % stride], j // stride
            for a in range(height):
                source, target = plane[top + i // stride + a], patches[i, j, a]
                for b in range(width):
                    target[b] = source[left + b]


@njit(nogil=True)
def add_patches(planes, top, patches):
    """Add patches where they lie, in planes from row ``top`` on."""
    stride = len(planes)
    size, _, height, width = patches.shape
    for i in range(size):
        for j in range(size):
            plane, left = planes[i % stride, j % stride], j // stride
            for a in range(height):
                target, source = plane[top + i // stride + a], patches[i, j, a]
                for b in range(width):
                    target[left + b] += source[b]
