"""What trials of a choice have in common: one side of the pairs, while the other is changed."""

from collections.abc import Callable, Hashable
from typing import Any

# Most recent results that are kept for each name: the best so far and one step to either side.
N_KEPT = 3


class Recall:
    """Results of the newest keys under each name.

    >>> recall = Recall()
    >>> recall("root", 4, lambda: 2.0), recall("root", 4, lambda: 1 / 0)
    (2.0, 2.0)
    """

    def __init__(self, n_kept: int = N_KEPT):
        self.n_kept, self._found = n_kept, {}  # type: ignore[var-annotated]

    def __call__(self, name: str, key: Hashable, make: Callable[[], Any]) -> Any:
        """What ``make`` returned for the key, or returns now."""
        found = self._found.setdefault(name, {})
        # Taken out and put back: the order is that of use.
        value = found.pop(key) if key in found else make()
        found[key] = value
        while len(found) > self.n_kept:
            del found[next(iter(found))]
        return value
