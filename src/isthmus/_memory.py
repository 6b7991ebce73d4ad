"""Memory before it is taken: what there is, and a refusal that says what to do."""

from pathlib import Path
from typing import Any

from isthmus._checks import name_of

GIBIBYTE = 2**30


def available_bytes() -> int | None:
    """The least of what the machine, the container and the process's own limit still allow.

    None where no system file tells; then nothing is refused.
    """
    limits = [_machine(), *_containers(), _process()]
    known = [limit for limit in limits if limit is not None]
    return max(min(known), 0) if known else None


def fits_memory(n_bytes: float) -> bool:
    """Whether there is so much memory; True where no system file tells.

    >>> fits_memory(100), fits_memory(1e18)
    (True, False)
    """
    # Small work is not worth reading system files for.
    if n_bytes < GIBIBYTE / 8:
        return True
    free = available_bytes()
    return free is None or n_bytes <= free


def require_memory(owner: Any, n_bytes: float, *, what: str, avoid: str) -> None:
    """Refuse work that needs more memory than there is, before any of it is done.

    Parameters
    ----------
    owner : object or str
        Who needs it: an estimator, or the name of a function.
    n_bytes : float
        What all arrays that exist at once take.
    what : str
        What they hold, such as ``"the Gram matrix of 50000 rows"``.
    avoid : str
        What to do instead, as a sentence.

    Raises
    ------
    MemoryError
        With how much is needed, how much there is, and ``avoid``.

    Examples
    --------
    >>> require_memory("KernelPCA", 8 * 100**2, what="the Gram matrix of 100 rows", avoid="")
    >>> require_memory("KernelPCA", 1e18, what="a matrix", avoid="Set n_landmarks.")
    Traceback (most recent call last):
    MemoryError: KernelPCA needs 931322574.6 GiB of memory for a matrix, ... Set n_landmarks.
    """
    if not fits_memory(n_bytes):
        free = available_bytes() or 0
        raise MemoryError(
            f"{name_of(owner)} needs {n_bytes / GIBIBYTE:.1f} GiB of memory for {what}, but only "
            f"{free / GIBIBYTE:.1f} GiB are available. {avoid}".rstrip()
        )


def _machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        entry = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(entry.split()[1]) * 1024
    except (OSError, StopIteration, ValueError):
        return None


def _containers() -> list[int | None]:
    version_2 = _difference("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current")
    folder = "/sys/fs/cgroup/memory"
    version_1 = _difference(f"{folder}/memory.limit_in_bytes", f"{folder}/memory.usage_in_bytes")
    return [version_2, version_1]


def _difference(limit: str, used: str) -> int | None:
    try:
        return int(Path(limit).read_text()) - int(Path(used).read_text())
    except (OSError, ValueError):  # no such file, or the word "max"
        return None


def _process() -> int | None:
    try:
        import resource  # not on every system
    except ImportError:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        return None
    return limit - pages * resource.getpagesize()
