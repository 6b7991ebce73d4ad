"""Errors that the user can fix, and files that are written completely or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class UserError(Exception):
    """An error that the user can fix; the command line shows it as one line."""


def one_line(message: object) -> str:
    """Return the message without line breaks."""
    return " ".join(str(message).split())


def check_folder_of(path: Path) -> None:
    """Refuse a file that could not be written, before the work whose result it would hold."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise UserError(f"cannot write {path}: the folder {folder} does not exist")
    if not os.access(folder, os.W_OK):
        raise UserError(f"cannot write {path}: the folder {folder} is not writable")
    if path.is_dir():
        raise UserError(f"cannot write {path}: it is a folder, expected a file name")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary name; after success it becomes ``path`` in one step.

    A crash or a full disk leaves the old file as it was.
    """
    check_folder_of(path)
    # The suffix stays last, because writers choose the format by it.
    temporary = path.with_name(f".{os.getpid()}.tmp.{path.name}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
