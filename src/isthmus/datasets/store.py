"""Files of the data folder, read only if their checksum is right."""

import hashlib
import os
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isthmus._extras import load_extra

VARIABLE = "ISTHMUS_DATA"
SUMS = "SHA256SUMS"


class DataNotAvailable(FileNotFoundError):
    """A data set is not on this machine; the message says where it belongs."""

    __module__ = "isthmus.datasets"


class ChecksumMismatch(ValueError):
    """A data file does not have the published checksum."""

    __module__ = "isthmus.datasets"


def data_home() -> Path:
    """Folder of the real data sets, named by the environment variable ``ISTHMUS_DATA``.

    Returns
    -------
    pathlib.Path
        An existing folder.

    Raises
    ------
    DataNotAvailable
        Where the variable is not set or does not name a folder.
    """
    value = os.environ.get(VARIABLE, "")
    if not value:
        raise DataNotAvailable(
            f"The real data sets are not available: the environment variable {VARIABLE} is not "
            f"set. Set it to the folder that holds them and their {SUMS} file."
        )
    home = Path(value).expanduser()
    if not home.is_dir():
        raise DataNotAvailable(
            f"The real data sets are not available: {VARIABLE} is {value!r}, which is not a "
            f"folder. Set it to the folder that holds them and their {SUMS} file."
        )
    return home


def is_available(name: str) -> bool:
    """Whether the data folder has ``name``, a folder (``"usps"``) or a file (``"ida/banana.npz"``).

    >>> is_available("no such set")
    False
    """
    try:
        return (data_home() / name).exists()
    except DataNotAvailable:
        return False


@cache
def _digest(path: Path, mtime_ns: int, size: int) -> str:
    # The time stamp and the size are part of the key: a file is hashed once
    # in a process, and again when it changes.
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@cache
def _published_sums(path: Path, mtime_ns: int) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = (line.split(maxsplit=1) for line in lines if line.strip())
    return {name.removeprefix("*"): digest for digest, name in pairs}


def verified_path(name: str) -> Path:
    """Return the path of the data file ``name`` once its SHA-256 is found to be right."""
    home = data_home()
    path, sums = home / name, home / SUMS
    if not path.is_file():
        raise DataNotAvailable(
            f"The data file {name!r} is missing: there is no such file in the folder "
            f"that {VARIABLE} names ({home})."
        )
    if not sums.is_file():
        raise DataNotAvailable(
            f"The data file {name!r} cannot be verified: {SUMS} is missing in the folder "
            f"that {VARIABLE} names ({home})."
        )
    expected = _published_sums(sums, sums.stat().st_mtime_ns).get(name)
    if expected is None:
        raise ChecksumMismatch(
            f"The data file {name!r} cannot be verified: {SUMS} has no line for it."
        )
    stat = path.stat()
    got = _digest(path, stat.st_mtime_ns, stat.st_size)
    if got != expected:
        raise ChecksumMismatch(
            f"The data file {name!r} is damaged or of another version: "
            f"expected SHA-256 {expected}, got {got}. Copy it again."
        )
    return path


def load_npz(name: str) -> dict[str, NDArray]:
    """Return the arrays of the verified file ``name``; pickled objects are refused."""
    with np.load(verified_path(name), allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


def load_csv(name: str):
    """Return the verified file ``name`` as a :class:`pandas.DataFrame`."""
    pandas = load_extra("pandas", "app", f"Reading {name}")
    return pandas.read_csv(verified_path(name))
