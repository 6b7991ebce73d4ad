"""Files that are written completely or not at all."""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EDQUOT, EFBIG, ENOSPC
from pathlib import Path
from typing import Any, BinaryIO

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be removed anyway
    fcntl = None

_FULL = {ENOSPC, EDQUOT, EFBIG}


class CannotWriteError(OSError):
    """A file cannot be written; the message names it and the reason in one line."""

    def __str__(self) -> str:
        return str(self.args[0])


def writable_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that writing to ``path`` would replace; a symbolic link is followed.

    Raises
    ------
    CannotWriteError
        If it could not be written, so that this is known before the work whose result it holds.
    """
    try:
        target = Path(path).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # links in a circle, a NUL in the name
        raise CannotWriteError(f"cannot write {path}: {_reason(error)}") from error
    try:
        is_folder, has_folder = target.is_dir(), target.parent.is_dir()
    except (OSError, ValueError) as error:
        raise CannotWriteError(f"cannot write {path}: {_reason(error)}") from error
    if not has_folder:
        raise CannotWriteError(f"cannot write {path}: the folder {target.parent} does not exist")
    if is_folder:
        raise CannotWriteError(f"cannot write {path}: it is a folder, expected a file name")
    if not os.access(target.parent, os.W_OK):
        raise CannotWriteError(f"cannot write {path}: the folder {target.parent} is not writable")
    return target


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary name; after success it becomes ``path`` in one step.

    An error, a crash or a full disk leaves the former file as it was. Several processes may write
    to one path: each has a temporary file of its own, and the last one to finish wins. What a
    killed process left behind is removed by the next one that writes to the same path.
    """
    target = writable_target(path)
    _remove_stale(target)
    try:
        temporary, lock = _new_temporary(target)
    except OSError as error:
        raise CannotWriteError(f"cannot write {path}: {_reason(error)}") from error
    try:
        yield temporary
        _publish(temporary, target, lock)
    except CannotWriteError:
        raise
    except OSError as error:
        kept = "; the former file is kept" if target.exists() else ""
        raise CannotWriteError(f"cannot write {path}: {_reason(error)}{kept}") from error
    finally:
        lock.close()
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _publish(temporary: Path, target: Path, lock: BinaryIO) -> None:
    with suppress(FileNotFoundError):
        shutil.copymode(target, temporary)
    with open(temporary, "rb+") as written:
        os.fsync(written.fileno())  # else a power cut could leave the new name on an empty file
    if fcntl is None:
        lock.close()
    os.replace(temporary, target)


# A temporary file is locked as long as its process lives. Neither a process number, which another
# container counts anew, nor an age, which a clock that jumps spoils, would tell the dead from the
# living; the kernel drops a lock with its process, however that ends.


def _new_temporary(target: Path) -> tuple[Path, BinaryIO]:
    while True:
        # The suffix stays last, because writers choose the format by it.
        name = f".{uuid.uuid4().hex[:12]}.tmp.{target.name}"
        temporary = target.with_name(name)
        stream = open(temporary, "xb")  # noqa: SIM115
        if fcntl is None or _lock_own(stream, temporary):
            return temporary, stream
        stream.close()


def _lock_own(stream: BinaryIO, temporary: Path) -> bool:
    """Lock a new file; False if a neighbour's cleaning removed it in the moment before."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX)
    except OSError:
        return True  # a file system without locks: nothing is cleaned there either
    try:
        return os.stat(temporary).st_ino == os.fstat(stream.fileno()).st_ino
    except FileNotFoundError:
        return False


def _remove_stale(target: Path) -> None:
    """Remove the temporary files of ``target`` that no living process holds."""
    if fcntl is None:
        return
    ending = f".tmp.{target.name}"
    with suppress(OSError):
        for name in os.listdir(target.parent):
            if name.startswith(".") and name.endswith(ending) and len(name) == len(ending) + 13:
                _remove_if_unlocked(target.with_name(name))


def _remove_if_unlocked(temporary: Path) -> None:
    with suppress(OSError), open(temporary, "rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        temporary.unlink()


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in _FULL:
        return f"the disk is full or the file too large ({error.strerror})"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[:1].lower() + error.strerror[1:]
    return " ".join(str(error).split())
