"""How many threads BLAS may use in a section of code, by the size of its calls."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

# Operations of one call to BLAS, a few milliseconds of one thread, below which a second thread
# gains little: it waits by spinning, for the next call and for other libraries' threads, and where
# another process has the processor the first one waits for it, for as long as the system likes.
LEAST_OPERATIONS = 1e8


@cache
def _pools() -> Any:
    import scipy.linalg.blas  # noqa: F401  its pool is to be among those found
    from threadpoolctl import ThreadpoolController  # which scikit-learn requires

    return ThreadpoolController().select(user_api="blas")


class _Limit:
    """One limit for all who ask: the first sets it, the last takes it back.

    The number of threads belongs to the process. If two sections in two Python threads each
    restored what they had found, the later one would restore the limit of the other.
    """

    def __init__(self) -> None:
        self.lock, self.users, self.limiter = Lock(), 0, None

    def set(self) -> None:
        with self.lock:
            if self.users == 0:
                self.limiter = _pools().limit(limits=1)
            self.users += 1

    def unset(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                limiter: Any = self.limiter
                self.limiter = None
                limiter.restore_original_limits()


_limit = _Limit()


@contextmanager
def threads_for(operations: float) -> Iterator[None]:
    """Limit BLAS to one thread in a section whose calls take fewer than ``1e8`` operations each.

    Sections may be nested, and entered by several Python threads at once.

    >>> with threads_for(500**3 / 3):  # many Cholesky factorisations of 500 rows
    ...     pass
    """
    if operations >= LEAST_OPERATIONS:
        yield
        return
    _limit.set()
    try:
        yield
    finally:
        _limit.unset()
