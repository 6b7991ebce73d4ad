"""Merging in a tree whose shape depends on the number of blocks and on nothing else."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

Statistics = TypeVar("Statistics")
Merge = Callable[[Any, Any], Any]

# Statistics that one node of the tree takes together. Few: a worker holds them all at once.
# Many: the tree is deep, and each level waits for the slowest.
FAN_IN = 8
# Portions of the rest that each thread is to have when one is handed out: workers end together.
PORTIONS = 3


def merge_group(merge: Merge, group: Iterable[Any]) -> Any:
    """Merge from left to right; None stands for a block without rows."""
    total = None
    for found in group:
        if total is None:
            total = found
        elif found is not None:
            total = merge(total, found)
    return total


class TreeMerge:
    """The tree for statistics that come one after the other, in memory for one per level.

    Groups of :data:`FAN_IN` neighbours are merged from left to right, then groups of the results,
    and so on. :func:`levels` is the same tree where all leaves are known beforehand, so that a
    stream and a cluster give the same bits.

    >>> tree = TreeMerge(lambda a, b: f"({a} {b})")
    >>> for letter in "abcdefghij":
    ...     tree.push(letter)
    >>> tree.total()
    '((((((((a b) c) d) e) f) g) h) (i j))'
    """

    def __init__(self, merge: Merge):
        self._merge = merge
        self._totals: list[Any] = []
        self._counts: list[int] = []

    def push(self, found: Any, level: int = 0) -> None:
        """Take in the statistics of the next block; None for a block without rows."""
        if level == len(self._totals):
            self._totals.append(None)
            self._counts.append(0)
        self._totals[level] = merge_group(self._merge, (self._totals[level], found))
        self._counts[level] += 1
        if self._counts[level] == FAN_IN:
            full, self._totals[level], self._counts[level] = self._totals[level], None, 0
            self.push(full, level + 1)

    def total(self) -> Any:
        """What all of them merge to; None where no block had a row."""
        carried = None
        for total in self._totals:
            carried = merge_group(self._merge, (total, carried))
        return carried


def levels(
    leaves: Sequence[Any], node: Callable[[Sequence[Any]], Any], *, fan_in: int = FAN_IN
) -> Any:
    """The root of the tree over ``leaves``, of which ``node`` makes one of each group.

    >>> levels(list("abcdefghij"), lambda group: "(" + " ".join(group) + ")")
    '((a b c d e f g h) (i j))'
    """
    nodes = list(leaves)
    while len(nodes) > 1:
        groups = [nodes[i : i + fan_in] for i in range(0, len(nodes), fan_in)]
        nodes = [node(group) if len(group) > 1 else group[0] for group in groups]
    return nodes[0]


def portions(n_leaves: int, n_threads: int | None) -> list[list[slice]]:
    """Neighbouring leaves that one thread takes at a time: many at first, one by one in the end.

    One list for each group of the tree's first level; None leaves all leaves by themselves.

    >>> [len(parts) for parts in portions(40, 2)]
    [2, 2, 2, 4, 8]
    """
    found = []
    for start in range(0, n_leaves, FAN_IN):
        size = FAN_IN if n_threads else 1
        while size > 1 and size * PORTIONS * (n_threads or 1) > n_leaves - start:
            size //= 2
        stop = min(start + FAN_IN, n_leaves)
        found.append([slice(i, min(i + size, stop)) for i in range(start, stop, size)])
    return found


def depth(n_leaves: int, *, fan_in: int = FAN_IN) -> int:
    """Number of levels of nodes above ``n_leaves`` leaves.

    >>> depth(1), depth(8), depth(9)
    (0, 1, 2)
    """
    n_levels = 0
    while n_leaves > 1:
        n_leaves = -(-n_leaves // fan_in)
        n_levels += 1
    return n_levels
