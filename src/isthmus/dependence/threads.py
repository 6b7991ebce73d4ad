"""Work in threads, or without them where they would only cost."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from isthmus.linalg.threads import rest_in_threads

# Parts of work that is shared among threads, whatever their number: so many that none waits long
# for another, and few enough to hold a result of each.
PARTS = 16


def map_in_threads(
    function: Callable[..., Any], items: Iterable[Any], n_jobs: int | None, *, ours: bool = False
) -> Iterator[Any]:
    """``function`` of each item, in order.

    Without ``n_jobs`` it is called in one thread, unless it is ``ours``: such functions release the
    interpreter's lock, call nothing of a stranger's, and share the threads that BLAS has.

    >>> list(map_in_threads(abs, [-1, 2], n_jobs=2))
    [1, 2]
    >>> list(map_in_threads(abs, [-1, 2], n_jobs=None, ours=True))
    [1, 2]
    """
    if n_jobs is None and ours:
        parts = list(items)
        found: list[Any] = [None] * len(parts)

        def work(i: int) -> None:
            found[i] = function(parts[i])

        rest_in_threads(work, range(len(parts)))
        return iter(found)
    if effective_n_jobs(n_jobs) == 1:
        return map(function, items)
    calls = (delayed(function)(item) for item in items)
    return iter(Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(calls))
