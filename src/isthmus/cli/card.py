"""The card of a model: what it learned from, how it was chosen, how far it is off."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.cli.compare import Comparison
from isthmus.cli.errors import printable
from isthmus.cli.scores import ERRORS
from isthmus.cli.tables.table import Table
from isthmus.files.contents import FileContents
from isthmus.structured.conformal.ranks import rank

COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99)


def data_card(table: Table, n_used: int, parts: Sequence[Path] | None = None) -> dict[str, Any]:
    """Describe a table: its name, its size, and the digest by which it can be known again."""
    digest = hashlib.sha256()
    for path in (table.path,) if parts is None else parts:
        with open(path, "rb") as stream:
            while block := stream.read(2**20):
                digest.update(block)
    return {
        "file": table.path.name,
        "sha256": digest.hexdigest(),
        "n_rows": len(table),
        "n_used": n_used,
        "n_columns": len(table.names),
    }


def comparison_card(
    results: list[Comparison], n_folds: int, seed: int, n_rows: int
) -> dict[str, Any]:
    """Describe how a model was chosen."""
    return {
        "folds": n_folds,
        "seed": seed,
        "rows": n_rows,
        "quality": {r.candidate.name: round(r.scores.quality, 4) for r in results},
    }


def residual_quantiles(task: str, Y: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
    r"""Return the half-widths of intervals, from the residuals of rows that were left out.

    For the coverage c this is the :math:`\lceil(n+1)c\rceil`-th smallest residual, as in
    :class:`isthmus.structured.ConformalSets`; a coverage that so few rows cannot tell is left out.
    """
    if task != "regression":
        return {}
    residuals = np.sort(np.abs(Y - predicted), axis=0)
    n = len(residuals)
    ranks = {c: rank(n, c) for c in COVERAGES}
    widths = {f"{c:g}": residuals[k - 1].tolist() for c, k in ranks.items() if k <= n}
    return {"intervals": widths} if widths else {}


# Parts of a card that have lines of their own.
_TOLD = {
    "columns",
    "comparison",
    "data",
    "intervals",
    "n_rows",
    "name",
    "scores",
    "versions",
}


def card_lines(contents: FileContents) -> Iterator[str]:
    """Yield what ``isthmus info`` prints."""
    card = contents.card
    if isinstance(card.get("columns"), dict):
        yield from _task_lines(card)
    elif "name" in card:
        yield f"model: {card['name']}"
    for key, value in card.items():
        if key not in _TOLD:
            yield f"{key}: {value}"
    versions = card.get("versions")
    if isinstance(versions, dict):
        others = ", ".join(f"{name} {number}" for name, number in versions.items())
        yield f"versions: isthmus {contents.version}, {others}"
    yield f"memory to read it: at most {contents.n_bytes / 2**20:.1f} MB"
    ours = [name for name in contents.types if name not in contents.foreign]
    yield f"classes: {', '.join(ours) or 'none'}"
    yield f"foreign classes: {', '.join(contents.foreign) or 'none'}"


def _task_lines(card: dict[str, Any]) -> Iterator[str]:
    columns = card["columns"]
    yield f"model: {card.get('name')}"
    yield f"task: {columns.get('task')}"
    if columns.get("outputs"):
        yield f"inputs: {_names(columns.get('inputs'))}"
        yield f"outputs: {_names(columns['outputs'])}"
    else:  # a manifold, which fills in any of its columns
        yield f"columns: {_names(columns.get('inputs'))}"
    if columns.get("classes"):
        yield f"labels: {_names(columns['classes'])}"
    data = card.get("data")
    if isinstance(data, dict):
        yield f"learned from: {data.get('file')}, {data.get('n_used')} of {data.get('n_rows')} rows"
        yield f"sha256 of the table: {data.get('sha256')}"
    yield from _error_lines(card, columns)
    chosen = card.get("comparison")
    if isinstance(chosen, dict) and isinstance(chosen.get("quality"), dict):
        quality = "; ".join(f"{name} {value}" for name, value in chosen["quality"].items())
        yield f"compared ({chosen.get('folds')} folds, {chosen.get('rows')} rows): {quality}"
    if isinstance(card.get("intervals"), dict):
        yield f"intervals: {', '.join(card['intervals'])} (isthmus predict --intervals)"


def _error_lines(card: dict[str, Any], columns: dict[str, Any]) -> Iterator[str]:
    scores = card.get("scores")
    if not isinstance(scores, dict):
        return
    task = columns.get("task")
    if task in ERRORS:
        yield f"error on rows left out: {ERRORS[task]} {scores.get('error_rate')}"
    elif isinstance(scores.get("rmse"), list):
        names = columns.get("outputs") or columns.get("inputs") or []
        pairs = zip(names, scores["rmse"], strict=False)
        shown = ", ".join(f"{name} {value:.4g}" for name, value in list(pairs)[:8])
        yield f"error on rows left out: RMSE {shown}"


def _names(names: Any) -> str:
    if not isinstance(names, list):
        return "?"
    shown = ", ".join(printable(name)[:60] for name in names[:12])
    return f"{shown} and {len(names) - 12} more" if len(names) > 12 else shown
