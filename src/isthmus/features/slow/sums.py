r"""Products of rows that are not in the roots yet: a stream of many blocks factors now and then.

With the root :math:`T` of the scatter of m former rows about their mean c, and n rows :math:`A`
about c whose own mean is d, the scatter of all is
:math:`T^\top T+A^\top A-\frac{n^2}{m+n}dd^\top`. While :math:`n\le m`, the last term takes no more
than half of what :math:`A^\top A` adds, so that nothing cancels. What is small in a root must not
be lost beside what is large: where its columns are close to dependent, rows are brought to the
coordinates :math:`AT^{-1}`, in which the former ones have the scatter :math:`I`. Since products
only add to it, their diagonal alone says for how long squares cost no digits, and rows need not be
kept until then.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.features.components.roots import (
    DEPENDENT,
    WELL_CONDITIONED,
    add_products,
    certain_factor,
    inverse_condition,
)
from isthmus.features.components.scatter import (
    fits_registers,
    scatter_about,
    scatter_of_changes,
)
from isthmus.features.slow.formulas import Roots
from isthmus.linalg.scratch import scratch
from isthmus.linalg.threads import threads_for
from isthmus.typing import Array


class Part(NamedTuple):
    """Products of further rows beside a root, whose upper triangles count.

    The rows are multiplied by the ``inverse`` of the root, unless that is None. The diagonal may
    grow up to the ``limit``.
    """

    root: Array
    inverse: Array | None
    limit: Array
    products: Array

    def plus(self, rows: Array, room: Array) -> "Part | None":
        """With the products of further rows; None where squares might cost digits."""
        if self.inverse is not None:
            rows = np.matmul(rows, self.inverse, out=room)
        return self._with(add_products(self.products.copy(order="F"), rows))

    def plus_products(self, products: Array) -> "Part | None":
        """The same of products of rows that need no inverse."""
        return self._with(self.products + products)

    def _with(self, S: Array) -> "Part | None":
        fits = (S.diagonal() <= self.limit).all()  # which no sum is that is not finite
        return self._replace(products=S) if fits else None

    def factor(self, corrections: Sequence[tuple[float, Array]] = ()) -> Array:
        """The root of all rows, to whose products some multiples of ``x x'`` are added."""
        S = self.products.copy(order="F")
        if self.inverse is None:
            S += self.root.T @ self.root
        else:
            S.flat[:: len(S) + 1] += 1.0
        for weight, x in corrections:
            x = x if self.inverse is None else x @ self.inverse
            S += np.outer(x, weight * x)
        R = certain_factor(S)
        return R if self.inverse is None else np.triu(R @ self.root)


class Sums(NamedTuple):
    """Parts of the rows about the ``center`` and of their differences, per lag.

    Without a center, they are taken about the origin.
    ``total`` is the sum of the ``n_rows`` rows about the center, of which there may be ``most``.
    """

    center: Array | None
    most: float
    n_rows: int
    total: Array
    level: Part
    changes: tuple[Part, ...]


def opened(roots: Roots) -> Sums | None:
    """Empty sums; None where columns are dependent."""
    weight, k = roots.level[0, 0], len(roots.shift)
    if roots.level.shape != (k + 1, k + 1) or weight == 0:
        return None
    parts = []
    for R in (roots.level[1:, 1:], *roots.changes):
        part = _part(R) if len(R) == k else None
        if part is None:
            return None
        parts.append(part)
    center = roots.shift + roots.level[0, 1:] / weight
    variances = np.einsum("ij,ij->j", parts[0].root, parts[0].root) / weight**2
    if np.all(center**2 <= variances):  # rows lie about the origin: read them as they are
        center = None
    return Sums(center, weight**2, 0, np.zeros(k), parts[0], tuple(parts[1:]))


def _part(R: Array) -> Part | None:
    k, empty = len(R), np.zeros(R.shape, order="F")
    share = inverse_condition(R)
    if share > 2 * WELL_CONDITIONED**2:
        # Of a sum, the least eigenvalue in units of its columns' lengths is at least what it was
        # times the least ratio of former and present squared lengths.
        growth = share / WELL_CONDITIONED**2 - 1.0
        return Part(R, None, growth * np.einsum("ij,ij->j", R, R), empty)
    if share < DEPENDENT:
        return None
    inverse, _ = linalg.lapack.dtrtri(np.asfortranarray(R))
    # The least eigenvalue is one at least, the largest at most the trace.
    return Part(R, np.ascontiguousarray(inverse), np.full(k, WELL_CONDITIONED**-2 / k - 1), empty)


def added(sums: Sums, tail: Array, rows: Array, lags: Sequence[int]) -> Sums | None:
    """The sums with further rows, which follow those of the tail.

    None where squares might cost digits, and where a number is not finite; the sums are not
    changed.
    """
    n, k = rows.shape
    if sums.n_rows + n > sums.most or max(lags) > min(n, len(tail)):
        return None
    if fits_registers(rows) and all(part.inverse is None for part in (sums.level, *sums.changes)):
        return _added_in_registers(sums, tail, rows, lags)
    changes = []
    with (
        scratch(n, k) as room,
        scratch(n, k) as moved,
        threads_for(n * k**2),
        np.errstate(invalid="ignore", over="ignore"),
    ):
        about = rows if sums.center is None else np.subtract(rows, sums.center, out=room)
        total = sums.total + np.ones(n) @ about
        level = sums.level.plus(about, moved)
        if level is None:
            return None
        for part, lag in zip(sums.changes, lags, strict=True):
            np.subtract(rows[:lag], tail[len(tail) - lag :], out=room[:lag])
            np.subtract(rows[lag:], rows[: n - lag], out=room[lag:])
            change = part.plus(room, moved)
            if change is None:
                return None
            changes.append(change)
    return sums._replace(n_rows=sums.n_rows + n, total=total, level=level, changes=tuple(changes))


def _added_in_registers(sums: Sums, tail: Array, rows: Array, lags: Sequence[int]) -> Sums | None:
    """The same by compiled loops, which centre rows and take differences as they go."""
    center = np.zeros(rows.shape[1]) if sums.center is None else sums.center
    products, total = scatter_about(center, rows)
    level = sums.level.plus_products(products)
    if level is None:
        return None
    changes = []
    for part, lag in zip(sums.changes, lags, strict=True):
        change = part.plus_products(scatter_of_changes(rows, tail, lag))
        if change is None:
            return None
        changes.append(change)
    n_rows = sums.n_rows + len(rows)
    return sums._replace(
        n_rows=n_rows, total=sums.total + total, level=level, changes=tuple(changes)
    )


def closed(sums: Sums, roots: Roots) -> Roots:
    """The roots of all rows."""
    if not sums.n_rows:
        return roots
    m, n = sums.most, sums.n_rows
    mean, own = roots.level[0, 1:] / roots.level[0, 0], sums.total / n
    # The center is rounded, far from the origin by more than differences may be.
    center = np.zeros_like(own) if sums.center is None else sums.center
    d = own + ((center - roots.shift) - mean)
    level = np.zeros_like(roots.level)
    level[0, 0] = np.sqrt(m + n)
    level[0, 1:] = level[0, 0] * (mean + n / (m + n) * d)
    level[1:, 1:] = sums.level.factor([(m * n / (m + n), d), (-n, own)])
    changes = tuple(part.factor() for part in sums.changes)
    return Roots(roots.shift, level, changes, tuple(count + n for count in roots.counts))
