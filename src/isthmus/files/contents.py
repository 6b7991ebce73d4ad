"""What a model file holds, found without building anything of it."""

import json
import os
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from isthmus import _FAMILIES, __version__
from isthmus._extras import load_extra

FORMAT = "isthmus model 2"
HEADER = "isthmus.json"
SCHEMA = "schema.json"

# Our own files stay below both, see isthmus.files.store.save.
MIN_LIMIT = 512 * 2**20
RATIO = 50
# Parsed JSON takes up to twenty times its text in memory.
JSON_COST = 20

# Families whose objects can be part of an estimator: not functions, data, figures and checks.
FAMILIES = frozenset(_FAMILIES) - {"datasets", "dependence", "files", "plotting", "testing"}

# Plain data that skops does not know; the second is a list of columns of scikit-learn 1.5 and 1.6.
_DATA = {"numpy.dtype", "sklearn.compose._column_transformer._RemainderColsList"}
_SPARSE = {f"{kind}_array" for kind in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")}


class ModelFileError(ValueError):
    """A model file that cannot be read or is refused; the message is one line."""

    __module__ = "isthmus.files"


@dataclass(frozen=True)
class FileContents:
    """What a model file would load.

    Attributes
    ----------
    types : tuple of str
        Every class and function in the file, in alphabetical order.
    foreign : tuple of str
        Those of ``types`` that :func:`isthmus.load` refuses unless they are in ``trusted``.
    version : str
        The version of Isthmus that wrote the file.
    n_bytes : int
        An upper estimate of the memory that reading the file takes.
    card : dict
        What :func:`isthmus.save` was told about the model, and the versions of the packages.
    """

    types: tuple[str, ...]
    foreign: tuple[str, ...]
    version: str
    n_bytes: int
    card: dict[str, Any] = field(repr=False)


FileContents.__module__ = "isthmus.files"


def list_contents(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> FileContents:
    """List what a model file would load, without importing, building or running any of it.

    Parameters
    ----------
    path : str or path
        A file that :func:`isthmus.save` or ``isthmus fit`` wrote.
    max_bytes : int or None, default=None
        Refuse a file that would take more memory than this. None allows fifty times the size of
        the file, and at least 512 MB.

    Returns
    -------
    FileContents

    Raises
    ------
    ModelFileError
        If the file is damaged, too large when unpacked, or of a later version of Isthmus.

    Examples
    --------
    >>> import os, tempfile
    >>> import isthmus
    >>> from isthmus.losses import Huber
    >>> path = os.path.join(tempfile.mkdtemp(), "loss.isthmus")
    >>> isthmus.save(Huber(), path)
    >>> isthmus.files.list_contents(path).types
    ('isthmus.losses.Huber',)
    """
    with open_model(path) as stream:
        return read_contents(stream, path, max_bytes)[0]


def open_model(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a model file for reading. What is checked is then also what is loaded."""
    try:
        if not Path(path).is_file():
            raise ModelFileError(f"model {path}: there is no such file")
        return open(path, "rb")
    except (OSError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"model {path}: cannot be read ({reason})") from error


def read_contents(
    stream: BinaryIO, path: Any, max_bytes: int | None
) -> tuple[FileContents, list[str]]:
    """Check an open model file; list what it holds, and of this what skops has to be told of."""
    load_extra("skops", "app", "isthmus.load")
    import skops.io

    # A damaged file can fail in any way, so every failure to read means the same.
    try:
        with zipfile.ZipFile(stream) as archive:
            header, schema, n_bytes = _read_entries(archive, path, _limit(stream, max_bytes))
        unknown = skops.io.get_untrusted_types(file=stream)
        types = tuple(sorted({*type_names(schema), *unknown}))
    except ModelFileError:
        raise
    except Exception as error:
        raise damage_error(path, error) from error
    foreign = tuple(name for name in unknown if not is_ours(name))
    card = header.get("card")
    contents = FileContents(
        types=types,
        foreign=foreign,
        version=header["version"],
        n_bytes=n_bytes,
        card=card if isinstance(card, dict) else {},
    )
    return contents, unknown


def damage_error(path: Any, error: Exception) -> ModelFileError:
    """Return the error for a file that failed in whatever way."""
    reason = " ".join(str(error).split())[:200]
    return ModelFileError(
        f"model {path}: damaged or not a model file ({type(error).__name__}: {reason})"
    )


def is_ours(name: str) -> bool:
    """Whether ``name`` is a class that Isthmus defines as a part of estimators, or plain data.

    skops trusts by itself the estimators of scikit-learn and what holds data in
    NumPy and SciPy, but for types of numbers and sparse arrays. A function, or a name that one
    of our modules only imports, is not trusted: it could be made to run foreign code.
    """
    module, _, attribute = name.rpartition(".")
    if name in _DATA or (module.startswith("scipy.sparse._") and attribute in _SPARSE):
        return True
    package, _, rest = module.partition(".")
    if package != "isthmus" or rest.split(".")[0] not in FAMILIES:
        return False
    try:
        found = getattr(import_module(module), attribute, None)
    except (ImportError, ValueError):
        return False
    return isinstance(found, type) and found.__module__ == module


def _limit(stream: BinaryIO, max_bytes: int | None) -> int:
    if max_bytes is not None:
        return max_bytes
    return max(MIN_LIMIT, RATIO * os.fstat(stream.fileno()).st_size)


def _read_entries(
    archive: zipfile.ZipFile, path: Any, limit: int
) -> tuple[dict[str, Any], Any, int]:
    """Return the header, the schema and the memory that the file takes, if within ``limit``."""
    sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    for needed in (HEADER, SCHEMA):
        if needed not in sizes:
            raise ModelFileError(
                f"model {path}: not written by isthmus: it has no entry {needed!r}"
            )
    _refuse_large(path, JSON_COST * (sizes[HEADER] + sizes[SCHEMA]), limit)
    header = json.loads(archive.read(HEADER))
    _check_header(header, path)
    schema = json.loads(archive.read(SCHEMA))
    # An entry is read once for each object that names it, so it counts that often.
    cost = JSON_COST * (sizes[HEADER] + sizes[SCHEMA])
    named = Counter(name for name in _file_names(schema) if name in sizes)
    cost += sum(times * sizes[name] for name, times in named.items())
    _refuse_large(path, cost, limit)
    cost += sum(times * _nested_size(archive, name) for name, times in named.items())
    _refuse_large(path, cost, limit)
    return header, schema, cost


def _nested_size(archive: zipfile.ZipFile, name: str) -> int:
    """Return what an archive inside the archive unpacks to: sparse matrices are such."""
    with archive.open(name) as inner:
        if inner.read(4) != b"PK\x03\x04":
            return 0
    with archive.open(name) as inner, zipfile.ZipFile(inner) as nested:
        return sum(entry.file_size for entry in nested.infolist())


def _refuse_large(path: Any, n_bytes: int, limit: int) -> None:
    if n_bytes > limit:
        raise ModelFileError(
            f"model {path}: refused, unpacked it would take {n_bytes / 2**20:.0f} MB or more of "
            f"memory, and the limit for it is {limit / 2**20:.0f} MB; if you trust it, use "
            "isthmus.load(path, max_bytes=...)"
        )


def _check_header(header: Any, path: Any) -> None:
    from packaging.version import InvalidVersion, Version

    if not isinstance(header, dict) or header.get("format") != FORMAT:
        found = header.get("format") if isinstance(header, dict) else header
        raise ModelFileError(
            f"model {path}: expected the format {FORMAT!r}, got {str(found)[:60]!r}"
        )
    version = header.get("version")
    try:
        written = Version(version)  # type: ignore[arg-type]
    except (InvalidVersion, TypeError) as error:
        raise ModelFileError(
            f"model {path}: damaged, its version is {str(version)[:60]!r}"
        ) from error
    if written > Version(__version__):
        raise ModelFileError(
            f"model {path}: refused, it was written by isthmus {written}, which is later than "
            f"this one, {__version__}: update with pip install -U isthmus"
        )


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every node of a schema; without recursion, because it may be nested to any depth."""
    open_nodes: list[Any] = [schema]
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, dict):
            yield node
            open_nodes.extend(node.values())
        elif isinstance(node, list):
            open_nodes.extend(node)


def _file_names(schema: Any) -> Iterator[str]:
    return (node["file"] for node in _nodes(schema) if isinstance(node.get("file"), str))


_PLAIN = ("builtins", "numpy")


def type_names(schema: Any) -> Iterable[str]:
    """Yield the classes and functions in a schema, without plain Python objects and arrays."""
    for node in _nodes(schema):
        module, name = node.get("__module__"), node.get("__class__")
        if isinstance(module, str) and isinstance(name, str):
            function = node.get("__loader__") in ("FunctionNode", "TypeNode", "MethodNode")
            if module not in _PLAIN or (function and module != "builtins"):
                yield f"{module}.{name}"
