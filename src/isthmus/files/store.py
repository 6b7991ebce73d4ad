"""Fitted models to disk and back: ``isthmus.save`` and ``isthmus.load``."""

import io
import json
import os
import platform
import sys
import time
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from isthmus import __version__
from isthmus._extras import load_extra
from isthmus.files.atomic import CannotWriteError, replacing, writable_target
from isthmus.files.contents import (
    FORMAT,
    HEADER,
    JSON_COST,
    MIN_LIMIT,
    SCHEMA,
    FileContents,
    ModelFileError,
    damage_error,
    open_model,
    read_contents,
    type_names,
)

_PACKAGES = ("numpy", "scipy", "scikit-learn", "skops")


def save(
    model: Any, path: str | os.PathLike[str], *, card: Mapping[str, Any] | None = None
) -> None:
    """Write a model to a file that :func:`isthmus.load` and the command line can read.

    Parameters
    ----------
    model : object
        A fitted estimator or pipeline, or any part of one.
    path : str or path
        The file. One that exists is replaced when the new one is complete; an error, a full disk or
        a crash leaves it as it was.
    card : mapping or None, default=None
        What the file should say about the model, as JSON can hold it: where the data came from, the
        error on new rows. ``isthmus info`` shows it.

    Raises
    ------
    TypeError
        If the model holds something that the format cannot, such as a lambda or an open file.
    OSError
        If the file cannot be written.

    Notes
    -----
    The file is a zip archive in the format of skops: arrays and names of classes, no code. Classes
    that are neither ours nor scikit-learn's are written by name, and refused by :func:`load`
    unless it is told to trust them.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import isthmus
    >>> from isthmus.regression import KernelRidgeCV
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> model = KernelRidgeCV().fit(X, X[:, 0] ** 2)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.isthmus")
    >>> isthmus.save(model, path)
    >>> bool(np.all(isthmus.load(path).predict(X) == model.predict(X)))
    True
    """
    load_extra("skops", "app", "isthmus.save")
    writable_target(path)
    _check_clock(path)
    header = json.dumps(_header(card), indent=1)
    content = _packed(model, header, zipfile.ZIP_DEFLATED)
    if _largest_cost(content) > MIN_LIMIT:
        # What compresses to nearly nothing could be refused as a bomb, what is stored cannot.
        content = _packed(model, header, zipfile.ZIP_STORED)
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def load(
    path: str | os.PathLike[str], *, trusted: Iterable[str] = (), max_bytes: int | None = None
) -> Any:
    """Read a model that :func:`isthmus.save` or ``isthmus fit`` wrote.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : iterable of str, default=()
        Names of classes and functions, other than those of Isthmus, scikit-learn and NumPy, that
        may be loaded. :func:`isthmus.files.list_contents` lists what a file asks for.
    max_bytes : int or None, default=None
        Refuse a file that would take more memory than this. None allows fifty times the size of
        the file, and at least 512 MB.

    Returns
    -------
    object
        The model. It predicts the same numbers as the one that was saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, holds anything that is not trusted, is too large when unpacked, or
        was written by a later version of Isthmus.
    """
    return read_model(path, trusted=trusted, max_bytes=max_bytes)[0]


def read_model(
    path: str | os.PathLike[str], *, trusted: Iterable[str] = (), max_bytes: int | None = None
) -> tuple[Any, FileContents]:
    """Return the model in a file and what the file says about it."""
    load_extra("skops", "app", "isthmus.load")
    import skops.io

    trusted = [trusted] if isinstance(trusted, str) else list(trusted)
    with closing(open_model(path)) as stream:
        contents, names = read_contents(stream, path, max_bytes)
        refused = [name for name in contents.foreign if name not in trusted]
        if refused:
            raise ModelFileError(
                f"model {path}: refused, it holds {refused[0][:200]!r}, which is not a part of "
                "Isthmus and could run foreign code; if you trust it, name it in "
                "isthmus.load(path, trusted=[...])"
            )
        try:
            return skops.io.load(stream, trusted=names), contents
        except Exception as error:
            raise damage_error(path, error) from error


def _packed(model: Any, header: str, compression: int) -> bytes:
    import skops.io
    from skops.io.exceptions import UnsupportedTypeException

    buffer = io.BytesIO()
    try:
        skops.io.dump(model, buffer, compression=compression)
    except (TypeError, AttributeError, UnsupportedTypeException, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise TypeError(
            f"{type(model).__name__} cannot be saved: {reason or type(error).__name__}"
        ) from error
    with zipfile.ZipFile(buffer, "a", compression=compression) as archive:
        _check_names(model, archive.read(SCHEMA))
        archive.writestr(HEADER, header)
    return buffer.getvalue()


def _check_names(model: Any, schema: bytes) -> None:
    """Refuse what a file would name but nobody could find again, such as a lambda."""
    for name in sorted(set(type_names(json.loads(schema)))):
        module, _, attribute = name.rpartition(".")
        if module in sys.modules and not hasattr(sys.modules[module], attribute):
            raise TypeError(
                f"{type(model).__name__} cannot be saved: it holds {name!r}, which is not defined "
                "at the top of a module"
            )


def _largest_cost(content: bytes) -> int:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return JSON_COST * sum(entry.file_size for entry in archive.infolist())


def _header(card: Mapping[str, Any] | None) -> dict[str, Any]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    saved = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    return {
        "format": FORMAT,
        "version": __version__,
        "card": {"saved": saved, "versions": versions, **dict(card or {})},
    }


def _check_clock(path: Any) -> None:
    year = time.localtime().tm_year
    if not 1980 <= year <= 2107:
        raise CannotWriteError(
            f"cannot write {path}: the clock of this machine says {year}, and archives can hold "
            "times from 1980 to 2107: set the clock"
        )
