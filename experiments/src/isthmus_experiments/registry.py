"""The register of experiments: a file in ``experiments/`` is found and registers itself."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from isthmus_experiments.outcome import Outcome

__all__ = ["Experiment", "Progress", "experiment", "get", "list_experiments"]


class Progress(Protocol):
    """How an experiment tells how far it is: ``progress(0.4, "learned pre-image")``."""

    def __call__(self, share: float, message: str = "") -> None: ...


Run = Callable[[Mapping[str, Any], int, Progress], Outcome]


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a source document and the function that remakes it.

    Parameters
    ----------
    id : str
        Short name, for example ``"E-08"``.
    document : str
        Document and section, for example ``"[000] 3.3"``.
    title : str
        One line.
    published : str
        What the document reports, in words.
    run : callable ``(settings, seed, progress) -> Outcome``
        All randomness comes from ``seed``.
    quick, full : dict
        The two sets of settings; ``quick`` ends in seconds.
    seed : int
        Given to ``run``.
    needs_data : bool
        True if nothing stands in for a missing data folder; ``run`` then raises
        ``FileNotFoundError``, which counts as skipped.
    """

    id: str
    document: str
    title: str
    published: str
    run: Run
    quick: Mapping[str, Any]
    full: Mapping[str, Any]
    seed: int = 0
    needs_data: bool = False


_REGISTER: dict[str, Experiment] = {}


def experiment(
    id: str,
    *,
    document: str,
    title: str,
    published: str,
    quick: Mapping[str, Any],
    full: Mapping[str, Any],
    seed: int = 0,
    needs_data: bool = False,
) -> Callable[[Run], Run]:
    """Return a decorator that registers ``run(settings, seed, progress)`` under ``id``.

    The parameters are those of :class:`Experiment`; the function itself is unchanged.
    """

    def register(run: Run) -> Run:
        known = _REGISTER.get(id)
        # A module that is loaded again may register its own function anew.
        if known is not None and known.run.__module__ != run.__module__:
            raise ValueError(
                f"Experiment id {id!r} is registered twice: "
                f"by {known.run.__module__} and by {run.__module__}."
            )
        if set(quick) != set(full):
            raise ValueError(
                f"Experiment {id!r} must have the same settings in quick and full. "
                f"Got {sorted(quick)} and {sorted(full)}."
            )
        _REGISTER[id] = Experiment(
            id, document, title, published, run, dict(quick), dict(full), seed, needs_data
        )
        return run

    return register


def list_experiments() -> list[Experiment]:
    """Return all experiments, ordered by id (E-8 before E-10)."""
    _discover()
    return sorted(_REGISTER.values(), key=lambda e: _natural(e.id))


def get(id: str) -> Experiment:
    """Return the experiment named ``id``, upper or lower case.

    Raises
    ------
    ValueError
        If there is none; the message names the closest ids and all of them.
    """
    by_lower = {e.id.lower(): e for e in list_experiments()}
    if id.lower() in by_lower:
        return by_lower[id.lower()]
    close = difflib.get_close_matches(id.lower(), by_lower, n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(by_lower[c].id for c in close)}?" if close else ""
    names = ", ".join(e.id for e in by_lower.values())
    raise ValueError(f"There is no experiment {id!r}.{hint} Known: {names}.")


def _discover() -> None:
    from isthmus_experiments import experiments

    for module in pkgutil.iter_modules(experiments.__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"{experiments.__name__}.{module.name}")


def _natural(id: str) -> list[tuple[int, int, str]]:
    parts = re.findall(r"\d+|\D+", id.lower())
    return [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in parts]
