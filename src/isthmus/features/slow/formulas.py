r"""Slow feature analysis from square roots of moments.

The problem needs two second moments of the expanded signal :math:`\Phi`: its scatter about the
mean and that of its differences. Both are kept as triangular roots :math:`R` with
:math:`R^\top R=\sum_t\phi_t\phi_t^\top`, found by QR decomposition of blocks of rows. The root of
the union of two blocks is the root of the stacked roots, so a stream needs constant memory; and a
root has the condition number of the data and not its square, which matters because whitening
divides by small numbers, and slow features are what is small.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.features.components.roots import (
    Level,
    extended_level,
    extended_root,
    level_root,
    merge_levels,
    root,
    whiten_level,
)
from isthmus.linalg.scratch import scratch
from isthmus.linalg.signs import fix_signs
from isthmus.typing import Array, IntArray


class Roots(NamedTuple):
    """The moments of a training signal.

    ``level`` is a root of the moments of ``[1, Φ - shift]``; for each lag, ``changes`` holds a root
    of the moments of the differences and ``counts`` their number.
    """

    shift: Array
    level: Array
    changes: tuple[Array, ...]
    counts: tuple[float, ...]


def map_block(Phi: Array, lags: Sequence[int], *, overlap: int = 0) -> Roots:
    """Roots of a block of one episode, whose first ``overlap`` rows were counted before.

    Differences reach back into the overlap, so blocks of an episode lose none of them.
    """
    # Relative to one of their own rows the columns are small, and constant ones exactly zero.
    shift = Phi[overlap].copy()
    changes = [_differences(Phi, lag, overlap) for lag in lags]
    return Roots(
        shift,
        level_root(Phi[overlap:], shift),
        tuple(root(change) for change in changes),
        tuple(float(len(change)) for change in changes),
    )


def _differences(Phi: Array, lag: int, overlap: int, out: Array | None = None) -> Array:
    later = Phi[max(lag, overlap) :]
    earlier = Phi[max(lag, overlap) - lag : len(Phi) - lag][: len(later)]
    return np.asarray(np.subtract(later, earlier, out=out))


def merge(a: Roots, b: Roots, seam: Sequence[Array] | None = None) -> Roots:
    """Roots of two disjoint sets of rows together, with differences, per lag, between them."""
    seam = [R[:0] for R in a.changes] if seam is None else seam
    return Roots(
        a.shift,
        merge_levels(Level(a.shift, a.level), Level(b.shift, b.level)).root,
        tuple(root(np.vstack(parts)) for parts in zip(a.changes, b.changes, seam, strict=True)),
        tuple(x + y + len(d) for x, y, d in zip(a.counts, b.counts, seam, strict=True)),
    )


def extended(past: Roots, Phi: Array, lags: Sequence[int], *, overlap: int) -> Roots:
    """The same as ``merge(past, map_block(Phi, lags, overlap=overlap))``, in less time."""
    changes, counts = [], []
    for R, n, lag in zip(past.changes, past.counts, lags, strict=True):
        size = max(len(Phi) - max(lag, overlap), 0)
        with scratch(size, Phi.shape[1]) as rows:
            changes.append(extended_root(R, _differences(Phi, lag, overlap, out=rows)))
        counts.append(n + size)
    level = extended_level(Level(past.shift, past.level), Phi[overlap:])
    return Roots(past.shift, level.root, tuple(changes), tuple(counts))


def discount(roots: Roots, factor: float) -> Roots:
    """The same roots with every row weighted by ``factor``."""
    weight = np.sqrt(factor)
    return Roots(
        roots.shift,
        roots.level * weight,
        tuple(R * weight for R in roots.changes),
        tuple(factor * n for n in roots.counts),
    )


def class_roots(Phi: Array, classes: IntArray) -> Roots:
    r"""Roots for the complete graph within each class.

    With edge weights :math:`1/N_c` the sum over edges is
    :math:`\sum_c\frac1{N_c}\sum_{i,j\in c}(y_i-y_j)^2=2\sum_c\sum_{i\in c}(y_i-\bar y_c)^2`:
    twice the scatter within classes. Its slowest features are therefore those of linear
    discriminant analysis, and a feature that knows nothing of the classes has slowness 2.
    """
    shift = Phi[0].copy()
    within = np.sqrt(2.0) * (Phi - _group_means(Phi, classes)[classes])
    return Roots(shift, level_root(Phi, shift), (root(within),), (float(len(Phi)),))


def target_roots(Phi: Array, ranks: IntArray) -> Roots:
    r"""Roots for the chain of rows in the order of a target, given dense ranks.

    Rows with the same target have no order. Neighbouring groups g, h of them are joined by all
    pairs with weight :math:`1/(n_gn_h)`, and
    :math:`\frac1{n_gn_h}\sum_{i,j}(y_i-y_j)^2=(\bar y_g-\bar y_h)^2+\mathrm{var}_g
    +\mathrm{var}_h`; without ties this is the plain chain.
    """
    shift = Phi[0].copy()
    means, sizes = _group_means(Phi, ranks), np.bincount(ranks)
    neighbours = np.full(len(sizes), 2.0)
    neighbours[[0, -1]] = 1.0
    spread = (Phi - means[ranks]) * np.sqrt(neighbours / sizes)[ranks, None]
    rows = np.vstack([np.diff(means, axis=0), spread[sizes[ranks] > 1]])
    return Roots(shift, level_root(Phi, shift), (root(rows),), (float(len(sizes) - 1),))


def _group_means(Phi: Array, groups: IntArray) -> Array:
    sums = np.zeros((groups.max() + 1, Phi.shape[1]))
    np.add.at(sums, groups, Phi)
    return sums / np.bincount(groups)[:, None]


class SlowAxes(NamedTuple):
    """The map ``(Φ - mean) @ axes`` to features of unit variance, and their slowness.

    ``rank`` is that of the expanded signal; ``patterns`` holds the covariances of features and
    inputs, from which linear features are inverted.
    """

    mean: Array
    axes: Array
    slowness: Array
    rank: int
    patterns: Array


def finish(roots: Roots, *, rcond: float, alpha: float, standardize: bool) -> SlowAxes:
    r"""All slow axes, slowest first.

    Whitening and minor components: with the scatter's root :math:`S=U\,\mathrm{diag}(s)V^\top`,
    the axes are :math:`w=V\mathrm{diag}(s)^{-1}a`, where the :math:`a` are right singular vectors
    of the whitened root of the differences, smallest first. A penalty :math:`\kappa` makes it
    :math:`\min_w\,w^\top\dot Cw+\kappa\|w\|^2` under :math:`w^\top Cw=1`.

    Parameters
    ----------
    rcond : directions whose standard deviation is below this share of the largest are dropped.
    alpha : :math:`\kappa` as a share of the mean variance.
    standardize : whether the columns are brought to unit variance before ``rcond`` and ``alpha``
        are applied, so that neither depends on units; not for coordinates whose length matters.
    """
    level = whiten_level(Level(roots.shift, roots.level), rcond=rcond, standardize=standardize)
    mean, scale, s, Vt = level
    rank = len(s)
    if not rank:
        nothing = np.zeros((0, len(mean)))
        return SlowAxes(mean, nothing.T, np.zeros(0), 0, nothing)
    whitening = Vt.T / s
    pairs = zip(roots.changes, roots.counts, strict=True)
    per_lag = [R @ (whitening / scale[:, None]) / np.sqrt(n) for R, n in pairs]
    change = per_lag[0] if len(per_lag) == 1 else np.vstack(per_lag) / np.sqrt(len(per_lag))
    if alpha or len(change) < rank:
        # As in ridge regression, the penalty adds a few rows: √κ w = √κ V diag(1/s) a.
        penalty = np.diag(np.sqrt(alpha * np.mean(s**2)) / s)
        _, _, At = linalg.svd(np.vstack([change, penalty]), full_matrices=False, check_finite=False)
    else:
        _, _, At = linalg.svd(change, full_matrices=False, check_finite=False)
    A = At[::-1].T
    axes = fix_signs(whitening @ A)
    # Covariances of features with inputs, to invert linear features.
    patterns = ((axes.T @ Vt.T) * s**2) @ (Vt * scale)
    return SlowAxes(mean, axes / scale[:, None], np.sum((change @ A) ** 2, axis=0), rank, patterns)
