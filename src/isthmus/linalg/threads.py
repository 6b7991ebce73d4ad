"""How many threads BLAS may use in a section of code, by the size of its calls."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ContextDecorator, contextmanager
from contextvars import copy_context
from functools import cache
from pathlib import Path
from threading import RLock, get_ident, local
from time import perf_counter
from typing import Any

# Operations of one call to BLAS, a few milliseconds of one thread, below which a second thread
# gains little: it waits by spinning, for the next call and for other libraries' threads, and where
# another process has the processor the first one waits for it, for as long as the system likes.
LEAST_OPERATIONS = 1e8
# Seconds of work below which it is not shared with other threads.
LEAST_SECONDS = 5e-4


@cache
def _pools() -> tuple[Any, ...]:
    """Every BLAS with threads in this process."""
    import scipy.linalg.blas  # noqa: F401  its pool is to be among those found
    from threadpoolctl import ThreadpoolController  # which scikit-learn requires

    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


@cache
def _second_pools() -> tuple[bool, ...]:
    """Which of them NumPy has for itself beside SciPy's, as both come from the package index."""
    ours = ["numpy" in Path(pool.filepath).parent.name for pool in _pools()]
    return tuple(ours) if not all(ours) else (False,) * len(ours)


def _set_threads(pool: Any, n: int) -> None:
    """Set the threads of a pool, whichever Python thread this is.

    From release 3.8 of threadpoolctl, calls of any thread but the one that called first do nothing,
    without a word. Who may call is decided here, by one account; nobody is in control afterwards.
    """
    release = getattr(pool, "clear_controlling_thread", lambda *, force: None)
    release(force=True)
    pool.set_num_threads(n)
    release(force=True)


class _Limits:
    """One account for all who limit threads: the last to leave restores what the first found.

    The number of threads belongs to the process. If two sections in two Python threads each
    restored what they had found, the later one would restore the limit of the other.

    Sections are known by name, not counted, and every step may be taken twice: one that Ctrl-C cuts
    short is made good by the next, and a section that is not left is taken off as it is deleted.
    """

    def __init__(self) -> None:
        self.lock = RLock()  # a section may be deleted while its own thread is here
        self.sections: dict[int, tuple[str, int]] = {}  # what each is, and whose thread's
        self.found: list[int] = []
        self.now: list[int | None] = []  # None while a pool is being set
        self.resting = True  # whether no pool is limited
        self.forked = False  # whether this process is the fork of one with threads

    def begin(self, section: "_Section") -> None:
        with self.lock:
            if self.resting and not self.sections:
                self.found = [pool.get_num_threads() for pool in _pools()]
                self.now = list(self.found)
            self.sections[id(section)] = section.kind, get_ident()
            self._apply()

    def end(self, section: "_Section") -> None:
        with self.lock:
            if id(section) in self.sections:
                self._apply(without=id(section))
                # Last, so that an interrupt before it leaves the section to be ended again.
                self.sections.pop(id(section), None)

    def after_fork(self) -> None:
        """Of a child, in which only the thread that forked goes on: sections of others are gone.

        What they had limited is given back with the end of the next section.
        """
        self.lock, self.forked, me = RLock(), True, get_ident()
        self.sections = {key: one for key, one in self.sections.items() if one[1] == me}

    def _apply(self, without: int | None = None) -> None:
        kinds = [kind for key, (kind, _) in self.sections.items() if key != without]
        single = kinds.count("single") > kinds.count("outer")
        for i, second in enumerate(_second_pools()):
            wanted = 1 if single or (second and "one pool" in kinds) else self.found[i]
            if wanted != self.now[i]:
                self.now[i], self.resting = None, False
                _set_threads(_pools()[i], wanted)
                self.now[i] = wanted
        self.resting = self.now == self.found

    def outside(self) -> int:
        """Threads that BLAS may have outside all sections: what the user has set."""
        with self.lock:
            if self.sections:
                return max(self.found, default=1)
            return max((pool.get_num_threads() for pool in _pools()), default=1)


class _Section(ContextDecorator):
    """A part of the code with other limits; as a decorator, a new one for each call.

    ``kind`` is ``"single"`` for one thread, ``"outer"`` for those outside of a single section, and
    ``"one pool"`` for SciPy's threads alone; an empty one changes nothing.
    """

    kind = ""

    def __init__(self, kind: str):
        self.kind = kind

    def _recreate_cm(self) -> "_Section":
        return _Section(self.kind)

    def __enter__(self) -> None:
        if self.kind:
            try:
                _limits.begin(self)
            except BaseException:  # Ctrl-C, perhaps as the section had begun
                _limits.end(self)
                raise

    def __exit__(self, *_: object) -> None:
        if self.kind:
            _limits.end(self)

    def __del__(self) -> None:
        if self.kind and id(self) in _limits.sections:
            _limits.end(self)


_limits = _Limits()
_mine = local()  # of a thread: whether it is one of several that share some work


def _after_fork() -> None:
    # Another thread that held the lock does not exist in the child, and would never give it back.
    _limits.after_fork()
    _helpers.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def threads_for(operations: float) -> _Section:
    """Limit BLAS to one thread in a section whose calls take fewer than ``1e8`` operations each.

    Sections may be nested, and entered by several Python threads at once.

    >>> with threads_for(500**3 / 3):  # many Cholesky factorisations of 500 rows
    ...     pass
    """
    return _Section("" if operations >= LEAST_OPERATIONS else "single")


def outer_threads() -> _Section:
    """Within one section of :func:`threads_for`, the threads that there were outside of it.

    >>> with threads_for(0), outer_threads():
    ...     pass
    """
    return _Section("outer")


@contextmanager
def openmp() -> Iterator[None]:
    """A section that uses threads of OpenMP, as scikit-learn's k-means does: one in a fork.

    GNU's OpenMP waits in a fork for threads that were not copied, without end.

    >>> with openmp():
    ...     pass
    """
    if not _limits.forked:
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="openmp"):
        yield


def in_threads(work: Callable[[Any], None], parts: Sequence[Any]) -> None:
    """Do the work on every part, on as many Python threads as BLAS has, each with one of BLAS.

    For what releases the interpreter's lock and writes to places of its own: products into a
    block of a matrix, and functions of its entries.

    >>> seen = []
    >>> in_threads(seen.append, [1, 2, 3])
    >>> sorted(seen)
    [1, 2, 3]
    """
    _share(work, parts, most_threads())


def most_threads() -> int:
    """Threads that a call to BLAS may have here.

    >>> most_threads() >= 1
    True
    """
    return max((pool.get_num_threads() for pool in _pools()), default=1)


def is_shared() -> bool:
    """Whether this thread is one of those that share some work, each with one of BLAS.

    >>> is_shared()
    False
    """
    return bool(getattr(_mine, "shared", False))


@cache
def _helpers(n: int) -> ThreadPoolExecutor:
    """Threads that wait, without spinning, for work to share; kept, since starting them costs."""
    return ThreadPoolExecutor(n, thread_name_prefix="isthmus")


def _share(work: Callable[[Any], None], parts: Sequence[Any], n: int) -> None:
    """Do the work on ``n`` threads, of which the caller's is one; an error ends all of them."""
    todo, n = deque(parts), min(n, len(parts))

    def take_parts() -> None:
        before, _mine.shared = is_shared(), True
        try:
            while todo:
                try:
                    part = todo.popleft()
                except IndexError:  # another thread has just taken the last
                    break
                work(part)
        finally:
            todo.clear()
            _mine.shared = before

    if n <= 1:
        take_parts()
        return
    with threads_for(0):
        # What is known within the caller's section is known to all.
        others = [_helpers(n - 1).submit(copy_context().run, take_parts) for _ in range(n - 1)]
        try:
            take_parts()
        finally:
            wait([other for other in others if not other.cancel()])
    for other in others:
        if not other.cancelled():
            other.result()


def rest_in_threads(
    work: Callable[[Any], None], parts: Sequence[Any], *, least: float | None = None
) -> None:
    """The same for parts of about equal length: on one thread, unless the first part was long.

    What is compiled is compiled once, by the first part, and short work starts no threads. Inside
    a section of :func:`threads_for` there are as many as outside: BLAS is limited there because
    its threads go on spinning for some time after a call, which these would have to pay for.
    Work of many short calls, between which threads wait for the interpreter, asks for more seconds
    than the ``least`` that are worth it by default.

    >>> seen = []
    >>> rest_in_threads(seen.append, [1, 2, 3])
    >>> sorted(seen)
    [1, 2, 3]
    """
    if len(parts) < 3:
        for part in parts:
            work(part)
        return
    with threads_for(0):  # as the others have it, so that all bits are the same
        start = perf_counter()
        work(parts[0])
        is_long = (perf_counter() - start) * (len(parts) - 1) >= (
            LEAST_SECONDS if least is None else least
        )
        alone = is_shared() or not is_long
        _share(work, parts[1:], 1 if alone else _limits.outside())


def one_pool() -> _Section:
    """Limit NumPy's BLAS to one thread in a section where SciPy's does the large work.

    Each has a pool of threads, and those of the one that has just worked spin, waiting for more,
    while the other begins: two threads in both are slower than one in each, often by far. What is
    large goes through :mod:`isthmus.linalg.products` and keeps its threads.

    >>> with one_pool():
    ...     pass
    """
    return _Section("one pool")
