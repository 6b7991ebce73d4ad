"""Work in threads, or without them where they would only cost."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs


def map_in_threads(
    function: Callable[..., Any], items: Iterable[Any], n_jobs: int | None
) -> Iterator[Any]:
    """``function`` of each item, in order.

    >>> list(map_in_threads(abs, [-1, 2], n_jobs=2))
    [1, 2]
    """
    if effective_n_jobs(n_jobs) == 1:
        return map(function, items)
    calls = (delayed(function)(item) for item in items)
    return iter(Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(calls))
