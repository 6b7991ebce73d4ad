"""Compiled loops that cut patches out, remove their weak waves and add them up.

Pixels of a picture are sorted into ``planes`` (s, s, ...): those at every s-th place along either
side. A pixel of all patches is a piece of one plane.

Cosines are even or odd about the middle of a patch. ``folded`` (p², rows, columns) has the sums and
the differences of a patch's pixels and their mirror images along both sides, in four blocks: even
along both, odd along the second, odd along the first, odd along both. Each block is transformed by
itself, with a sixteenth of the products.
"""

from isthmus._compiled import njit


@njit(nogil=True)
def keep_strong(codes, threshold, weights):
    """Set coefficients of at most ``threshold`` to zero, and fill in a weight for every column.

    The first row, the means, is kept. A column weighs 1 / what it keeps.
    """
    m, n = codes.shape
    for p in range(n):
        weights[p] = 1.0
    for k in range(1, m):
        row = codes[k]
        for p in range(n):
            strong = abs(row[p]) > threshold
            row[p] = row[p] if strong else 0.0
            weights[p] += 1.0 if strong else 0.0
    for p in range(n):
        weights[p] = 1.0 / weights[p]


@njit(nogil=True)
def _blocks_of(size, i, j):
    """Where a pixel of the first quarter is in the four blocks; a middle line is even alone."""
    half, rest = (size + 1) // 2, size // 2
    tall, wide = i < rest, j < rest
    begin = half * half
    even = i * half + j
    across = begin + i * rest + j if wide else even
    along = begin + half * rest + i * half + j if tall else even
    both = begin + 2 * half * rest + i * rest + j if tall and wide else even
    return tall, wide, even, across, along, both


@njit(nogil=True)
def fold_patches(planes, top, size, folded):
    """Fill in folded patches from where they lie, in planes from row ``top`` on."""
    s = len(planes)
    _, height, width = folded.shape
    for i in range((size + 1) // 2):
        for j in range((size + 1) // 2):
            tall, wide, even, across, along, both = _blocks_of(size, i, j)
            u, v = size - 1 - i, size - 1 - j
            near, far = j // s, v // s
            for a in range(height):
                upper, lower = top + i // s + a, top + u // s + a
                x0, x1 = (
                    planes[i % s, j % s, upper, near : near + width],
                    planes[i % s, v % s, upper, far : far + width],
                )
                x2, x3 = (
                    planes[u % s, j % s, lower, near : near + width],
                    planes[u % s, v % s, lower, far : far + width],
                )
                f0, f1, f2, f3 = (
                    folded[even, a],
                    folded[across, a],
                    folded[along, a],
                    folded[both, a],
                )
                if tall and wide:
                    for b in range(width):
                        one, two = x0[b] + x1[b], x0[b] - x1[b]
                        three, four = x2[b] + x3[b], x2[b] - x3[b]
                        f0[b], f1[b], f2[b], f3[b] = (
                            one + three,
                            two + four,
                            one - three,
                            two - four,
                        )
                elif tall:
                    for b in range(width):
                        f0[b], f2[b] = x0[b] + x2[b], x0[b] - x2[b]
                elif wide:
                    for b in range(width):
                        f0[b], f1[b] = x0[b] + x1[b], x0[b] - x1[b]
                else:
                    for b in range(width):
                        f0[b] = x0[b]


@njit(nogil=True)
def add_folded(planes, top, size, folded, weights):
    """Add folded patches times their weights where they lie, in planes from row ``top`` on."""
    s = len(planes)
    _, height, width = folded.shape
    for i in range((size + 1) // 2):
        for j in range((size + 1) // 2):
            tall, wide, even, across, along, both = _blocks_of(size, i, j)
            u, v = size - 1 - i, size - 1 - j
            near, far = j // s, v // s
            for a in range(height):
                upper, lower, w = top + i // s + a, top + u // s + a, weights[a]
                x0, x1 = (
                    planes[i % s, j % s, upper, near : near + width],
                    planes[i % s, v % s, upper, far : far + width],
                )
                x2, x3 = (
                    planes[u % s, j % s, lower, near : near + width],
                    planes[u % s, v % s, lower, far : far + width],
                )
                f0, f1, f2, f3 = (
                    folded[even, a],
                    folded[across, a],
                    folded[along, a],
                    folded[both, a],
                )
                # Lines of the picture may overlap, so each has a loop of its own.
                for b in range(width):
                    more = (f1[b] if wide else 0.0) + (f2[b] if tall else 0.0)
                    x0[b] += w[b] * (f0[b] + more + (f3[b] if tall and wide else 0.0))
                if wide:
                    for b in range(width):
                        more = f2[b] - f3[b] if tall else 0.0
                        x1[b] += w[b] * (f0[b] - f1[b] + more)
                if tall:
                    for b in range(width):
                        more = f1[b] - f3[b] if wide else 0.0
                        x2[b] += w[b] * (f0[b] - f2[b] + more)
                if tall and wide:
                    for b in range(width):
                        x3[b] += w[b] * (f0[b] - f1[b] - (f2[b] - f3[b]))


@njit(nogil=True)
def add_patches(planes, top, patches):
    """Add ``patches`` (p, p, rows, columns) where they lie, in planes from row ``top`` on."""
    stride = len(planes)
    size, _, height, width = patches.shape
    for i in range(size):
        for j in range(size):
            plane, left = planes[i % stride, j % stride], j // stride
            for a in range(height):
                target, source = plane[top + i // stride + a], patches[i, j, a]
                for b in range(width):
                    target[left + b] += source[b]
