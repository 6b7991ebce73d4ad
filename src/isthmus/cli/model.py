"""Model files: an estimator and its columns in the safe format of skops."""

import zipfile
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from packaging.version import Version

from isthmus import __version__
from isthmus.cli.columns import TaskColumns
from isthmus.cli.errors import UserError, one_line, replacing
from isthmus.cli.scores import Scores

_FORMAT = "isthmus model 1"

# Families whose objects can be part of an estimator.
_FAMILIES = (
    "blocks",
    "coreset",
    "features",
    "kernels",
    "linalg",
    "losses",
    "manifold",
    "preimage",
    "reduction",
    "regression",
    "robotics",
    "series",
    "smoothers",
    "sparse",
    "structured",
)


@dataclass(frozen=True)
class Model:
    """A fitted estimator and what is needed to apply it to another table."""

    estimator: Any
    name: str
    columns: TaskColumns
    scores: Scores
    n_rows: int
    version: str = __version__


def save_model(model: Model, path: Path) -> None:
    """Write ``model``; an existing file is replaced only once the new one is complete."""
    import skops.io

    content = {
        "format": _FORMAT,
        "version": model.version,
        "name": model.name,
        "columns": asdict(model.columns),
        "scores": asdict(model.scores),
        "n_rows": model.n_rows,
        "estimator": model.estimator,
    }
    with replacing(path) as temporary:
        skops.io.dump(content, temporary, compression=zipfile.ZIP_DEFLATED)


def load_model(path: Path) -> Model:
    """Read a model file after checking that it contains only known types."""
    import skops.io

    if not path.is_file():
        raise UserError(f"model {path}: there is no such file")
    # A damaged file can fail in any way, so every failure to read means the same.
    try:
        unknown = skops.io.get_untrusted_types(file=path)
    except Exception as error:
        raise _damage_error(path, error) from error
    trusted = [name for name in unknown if _is_ours(name)]
    foreign = sorted(set(unknown) - set(trusted))
    if foreign:
        raise UserError(
            f"model {path}: refused, it holds {foreign[0]!r}, which is not a part of an Isthmus "
            "model and could run foreign code"
        )
    try:
        content = skops.io.load(path, trusted=trusted)
    except Exception as error:
        raise _damage_error(path, error) from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise UserError(f"model {path}: not written by isthmus fit, expected format {_FORMAT!r}")
    return Model(
        estimator=content["estimator"],
        name=content["name"],
        columns=TaskColumns(**content["columns"]),
        scores=Scores(**content["scores"]),
        n_rows=content["n_rows"],
        version=content["version"],
    )


def is_newer_than_library(model: Model) -> bool:
    """Whether the model was written by a later version than this library."""
    return Version(model.version) > Version(__version__)


def _is_ours(name: str) -> bool:
    """Whether ``name`` is a class that Isthmus itself defines as a part of estimators.

    skops trusts by itself the estimators of scikit-learn and what holds data in
    NumPy and SciPy. A function, or a name that one of our modules only imports,
    is not trusted: it could be made to run foreign code.
    """
    module, _, attribute = name.rpartition(".")
    package, _, rest = module.partition(".")
    if package != "isthmus" or rest.split(".")[0] not in _FAMILIES:
        return False
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError:
        return False
    return isinstance(found, type) and found.__module__ == module


def _damage_error(path, error):
    return UserError(
        f"model {path}: damaged or not a model file ({type(error).__name__}: {one_line(error)})"
    )
