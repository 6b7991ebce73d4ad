"""Model files of the command line: an estimator, its columns and what is known of it."""

from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from sklearn.base import is_classifier

from isthmus import __version__
from isthmus.cli.cells import KINDS
from isthmus.cli.columns import TASKS, TaskColumns
from isthmus.cli.scores import Scores
from isthmus.files.contents import ModelFileError
from isthmus.files.store import read_model, save


@dataclass(frozen=True)
class Model:
    """A fitted estimator and what is needed to apply it to another table."""

    estimator: Any
    name: str
    columns: TaskColumns
    scores: Scores
    n_rows: int
    version: str = __version__
    card: dict[str, Any] = field(default_factory=dict)


def save_model(model: Model, path: Path) -> None:
    """Write ``model``; an existing file is replaced only once the new one is complete."""
    card = {
        **model.card,
        "name": model.name,
        "columns": asdict(model.columns),
        "scores": asdict(model.scores),
        "n_rows": model.n_rows,
    }
    save(model.estimator, path, card=card)


def load_model(path: Path) -> Model:
    """Read a model file; one that ``isthmus.save`` wrote tells its columns by itself."""
    estimator, contents = read_model(path)
    card = contents.card
    if "columns" not in card:
        columns = _columns_of(estimator, path)
        return Model(estimator, type(estimator).__name__, columns, Scores([], [], float("nan")), 0)
    try:
        return Model(
            estimator=estimator,
            name=str(card["name"]),
            columns=columns_from(card["columns"]),
            scores=_checked(Scores, card["scores"]),
            n_rows=int(card["n_rows"]),
            version=contents.version,
            card=card,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ModelFileError(f"model {path}: damaged, its card is not complete ({reason})") from (
            error
        )


def columns_from(card: Any) -> TaskColumns:
    """Return the columns that a card describes, which may have been written by anybody."""
    columns = _checked(TaskColumns, card)
    for name in ("inputs", "outputs", "classes", "dates"):
        value = getattr(columns, name)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise TypeError(f"{name} is not a list of names")
    if not isinstance(columns.categories, dict):
        raise TypeError("categories is not a table")
    if columns.task not in (*TASKS, "manifold") or columns.objects not in ("", *KINDS):
        raise TypeError("the task is unknown")
    if columns.objects and len(columns.inputs) != 1:
        raise TypeError("objects are in one column")
    return columns


def _checked(cls: type, card: Any) -> Any:
    known = {f.name for f in fields(cls)}
    if not isinstance(card, dict) or not set(card) <= known:
        raise TypeError(f"{cls.__name__.lower()} has unknown entries")
    return cls(**card)


def _columns_of(estimator: Any, path: Path) -> TaskColumns:
    """Return the columns of a model that was fitted in Python, from the names that it has seen."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None or not hasattr(estimator, "predict"):
        kind = type(estimator).__name__
        raise ModelFileError(
            f"model {path}: {kind} was not fitted on a table with named columns and cannot be "
            "applied to one; fit it on a DataFrame or use isthmus fit"
        )
    task = "classification" if is_classifier(estimator) else "regression"
    return TaskColumns([str(name) for name in names], ["prediction"], task=task)
