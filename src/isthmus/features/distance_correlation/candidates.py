"""Which columns and which kernel a regression takes: candidates judged on more and more rows."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from isthmus.features.distance_correlation.short import short_factor, short_left_out_errors
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import checked_gram
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.kernels.vectors.width import median_distance
from isthmus.regression.ridge.left_out import left_out_errors
from isthmus.regression.ridge.search import AS_GOOD
from isthmus.regression.selection import Selection, best
from isthmus.typing import Array

# Rows on which candidates are judged, one stage after the other, and how many the last one sees.
STAGES, LEFT = (128, 256, 512), 6
# As a rule errors of rows left out fall no faster than one over the number of rows: a candidate
# with four times the least error will not make that up on four times the rows.
FAR = 4.0
# Columns are left out where the error of rows left out falls by a tenth: what decided about the
# columns has seen these rows, which flatters it.
FLATTERED = 0.9
# Smallest penalty where columns are left out. In few columns a Gaussian with hardly any penalty is
# anything at a row beyond all others, and left-out rows, which lie among the others, do not tell.
LEAST_PENALTY = 1e-3


class Scale(NamedTuple):
    """What columns are multiplied by: a power of their weights, of some columns or of all."""

    power: float
    gated: bool
    factors: Array

    def penalties(self, alphas: Sequence[float]) -> list[float]:
        """Those that are offered with it."""
        return [a for a in alphas if a >= LEAST_PENALTY * self.gated] or [max(alphas)]


def scaled(X: Array, factors: Array) -> Array:
    """The columns times their factors, without those whose factor is zero.

    >>> scaled(np.array([[1.0, 2.0, 3.0]]), np.array([2.0, 0.0, 1.0]))
    array([[2., 3.]])
    """
    kept = np.flatnonzero(factors)
    return X * factors if len(kept) == len(factors) else X[:, kept] * factors[kept]


class Candidate(NamedTuple):
    """A scale and a kernel that is resolved on scaled columns."""

    scale: Scale
    kernel: Kernel


class Judged(NamedTuple):
    """A candidate, its handicapped error on rows left out, and the best penalty."""

    error: float
    candidate: Candidate
    alpha: float


def choose(
    X: Array, Y: Array, scales: Sequence[Scale], kernels: Sequence[Kernel], alphas: Sequence[float]
) -> Judged:
    """The candidate of least error on rows left out; Y is (n, outputs).

    All are judged on some rows, those that are not ``FAR`` behind on twice as many, and the best of
    these on twice as many again, where a judgement takes eight times as long. Of kernels that are
    as good with the same columns the last one is taken, the narrowest: far from all rows it falls
    back to the mean, where a wide one may be anything.
    """
    candidates = [Candidate(scale, kernel) for scale in scales for kernel in kernels]
    if len(candidates) == len(alphas) == 1:
        return Judged(np.nan, candidates[0], alphas[0])
    # Rows may come in an order of their own.
    order = np.random.default_rng(0).permutation(len(X))
    first, few, more = (np.sort(order[:size]) for size in STAGES)
    if len(few) < len(more):
        for rows, most in ((first, len(candidates)), (few, LEFT)):
            if len(candidates) > LEFT:
                found = list(judged(X[rows], Y[rows], candidates, alphas))
                candidates = in_the_race(found, most)
    found = list(judged(X[more], Y[more], candidates, alphas))
    best_one = min(found, key=lambda judgement: judgement.error)
    scale, allowed = best_one.candidate.scale, AS_GOOD * best_one.error
    return [j for j in found if j.candidate.scale is scale and j.error <= allowed][-1]


def in_the_race(found: Sequence[Judged], most: int) -> list[Candidate]:
    """The best ``most`` candidates but those ``FAR`` behind the first, in their order.

    >>> scale = Scale(0.0, False, np.ones(1))
    >>> found = [Judged(e, Candidate(scale, Gaussian(e)), 1.0) for e in (3.0, 1.0, 5.0, 2.0)]
    >>> [candidate.kernel.gamma for candidate in in_the_race(found, 2)]
    [1.0, 2.0]
    >>> [candidate.kernel.gamma for candidate in in_the_race(found, 4)]
    [3.0, 1.0, 2.0]
    """
    ranked = sorted(found, key=lambda j: j.error)[:most]
    kept = {id(j.candidate) for j in ranked if j.error <= FAR * ranked[0].error}
    # In their first order, by which ties are decided.
    return [j.candidate for j in found if id(j.candidate) in kept]


def judged(
    X: Array, Y: Array, candidates: Sequence[Candidate], alphas: Sequence[float]
) -> Iterator[Judged]:
    """Every candidate with the error of its best penalty, each row left out by itself."""
    for _, group in groupby(candidates, key=lambda candidate: id(candidate.scale)):
        same = list(group)
        scale = same[0].scale
        Z, offered = scaled(X, scale.factors), scale.penalties(alphas)
        for candidate, kernel in zip(same, resolved([c.kernel for c in same], Z), strict=True):
            # One half of the matrix is read, after its means: halves may differ by rounding.
            K = np.asarray(checked_gram(kernel, Z, Z, exact=False), dtype=np.float64)
            found = best(_errors(K, Y, offered, kernel))
            handicap = FLATTERED if scale.gated else 1.0
            yield Judged(found.error / handicap, candidate, found.value)


def _errors(
    K: Array, Y: Array, alphas: Sequence[float], kernel: Kernel
) -> Iterable[tuple[float, float]]:
    """Left-out errors and penalties, by a short factor of the matrix where there is one."""
    short = short_factor(K, alphas) if type(kernel) is Gaussian else None  # proven positive
    if short is None:
        return left_out_errors(K, Y, alphas, Selection(), fit_intercept=True)
    L, rows = short
    return short_left_out_errors(L, Y[rows], alphas)


def resolved(kernels: Sequence[Kernel], Z: Array) -> Iterator[Kernel]:
    """The kernels with numbers from the rows; a median that several ask for is computed once.

    >>> rows = np.array([[0.0], [1.0], [3.0]])
    >>> list(resolved([Gaussian(), Gaussian(width_factor=2.0)], rows))
    [Gaussian(gamma=0.125), Gaussian(gamma=0.03125)]
    """
    median: Any = None
    for kernel in kernels:
        if type(kernel) is Gaussian and kernel.gamma == "median":
            median = median_distance(Z) if median is None else median
            yield Gaussian(0.5 / (kernel.width_factor * median) ** 2)
        else:
            yield kernel.resolve(Z)
