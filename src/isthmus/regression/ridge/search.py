"""Where the kernel of a regression is looked for when none is named."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from isthmus.kernels.base import Kernel
from isthmus.kernels.vectors.dot import Linear
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.linalg.threads import rest_in_threads
from isthmus.regression.selection import Choice

Group = TypeVar("Group")

AUTO = "auto"
# Multiples of the median distance. Much wider kernels are linear ones but for rounding.
WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
START = WIDTHS.index(1.0)
KERNELS: tuple[Kernel, ...] = (*(Gaussian(width_factor=width) for width in WIDTHS), Linear())
# Kernels whose errors on left-out rows are less than this apart pass for equally good.
AS_GOOD = 1.02
# Seconds of scores that are worth threads, and rows up to which several matrices may be held.
LONG_SCORES, MOST_SHARED = 0.02, 2000


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to us."""
    return isinstance(value, str) and value == AUTO


def explore_widths(
    groups: Sequence[Group], score: Callable[[Group], Choice], *, side_by_side: bool = False
) -> list[tuple[Choice, Group]]:
    """The group to take of some that are ordered like widths, the last one for no width.

    A walk from the middle goes on as long as the error falls, so it ends at a local minimum
    with both neighbours known: four scores at least, where all would be nine. Of what it has seen
    the first group is taken whose error is less than 2 % above the least. Far from all rows a
    Gaussian falls back to the mean, the sooner the narrower it is; a wide one with a small penalty
    is a polynomial there, and left-out rows, which lie among the others, do not tell. The first
    scores can be computed side by side, each with one thread of BLAS.
    """
    ladder = list(range(len(groups) - 1))
    known: dict[int, Choice] = {}

    def look_at(places: Sequence[int]) -> None:
        new = [i for i in places if i not in known]
        share = rest_in_threads if side_by_side else _one_by_one
        share(lambda i: known.update({i: score(groups[i])}), new, least=LONG_SCORES)

    here = START
    look_at([here, *(i for i in (here - 1, here + 1) if i in ladder), len(groups) - 1])
    while True:
        look_at([i for i in (here - 1, here + 1) if i in ladder])
        best = min((i for i in ladder if i in known), key=lambda i: known[i].error)
        if best == here:
            break
        here = best
    allowed = AS_GOOD * min(choice.error for choice in known.values())
    taken = next(i for i in sorted(known) if known[i].error <= allowed)
    return [(known[taken], groups[taken])]


def _one_by_one(work: Callable[[int], None], parts: Sequence[int], *, least: float) -> None:
    for part in parts:
        work(part)
