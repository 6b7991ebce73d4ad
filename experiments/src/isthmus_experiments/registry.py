"""The register of experiments: the file of an id is found by its name and registers itself.

The id ``RED-boston`` stands in ``experiments/red_boston.py``, so that one experiment is looked up
without loading the others.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from isthmus_experiments.coverage.declaration import Covers
from isthmus_experiments.outcome import Outcome

__all__ = ["Experiment", "Progress", "experiment", "get", "list_experiments", "list_ids"]

FOLDER = "isthmus_experiments.experiments"


class Progress(Protocol):
    """How an experiment reports its progress: ``progress(0.4, "learned pre-image")``."""

    def __call__(self, share: float, message: str = "") -> None: ...


Run = Callable[[Mapping[str, Any], int, Progress], Outcome]


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a source document and the function that computes it again.

    Parameters
    ----------
    id : str
        Short name, for example ``"E-08"`` or ``"RED-boston"``: the first word in capitals, the
        others not, joined by hyphens.
    document : str
        Document and section, for example ``"[000] 3.3"``.
    title : str
        One line.
    published : str
        What the document reports, in words.
    run : callable ``(settings, seed, progress) -> Outcome``
        All randomness comes from ``seed``.
    quick, full : dict
        The two sets of settings; ``quick`` takes seconds.
    seed : int
        Given to ``run``.
    needs_data : bool
        Whether the experiment needs the data folder; if a file is missing, ``run`` raises
        ``FileNotFoundError`` and the experiment counts as skipped.
    covers : sequence of Covers
        The published tables and figures that it remakes, and how much of each.
    draws : dict
        The settings that count draws, with the published numbers; a run whose result is kept
        takes these.
    readings : dict
        Words of a row's quantity, and our reading of why ours differs from what was published;
        for rows whose verdict, made from the numbers alone, gives no reason.
    in_short : str
        Why some rows of a kept run differ, in one line.
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
    covers: Sequence[Covers] = ()
    draws: Mapping[str, int] = field(default_factory=dict)
    readings: Mapping[str, str] = field(default_factory=dict)
    in_short: str = ""

    def reading_of(self, quantity: str) -> str:
        """Return our reading of a difference in this quantity; empty if none is declared."""
        return next((why for words, why in self.readings.items() if words in quantity), "")

    @property
    def kept_settings(self) -> dict[str, Any]:
        """The full settings with as many draws as were published."""
        return {**self.full, **self.draws}


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
    covers: Sequence[Covers] = (),
    draws: Mapping[str, int] | None = None,
    readings: Mapping[str, str] | None = None,
    in_short: str = "",
) -> Callable[[Run], Run]:
    """Return a decorator that registers ``run(settings, seed, progress)`` under ``id``.

    The parameters are those of :class:`Experiment`; the function itself is unchanged. In the
    folder of experiments the file must bear the id: ``E-08`` stands in ``e_08.py``.
    """

    def register(run: Run) -> Run:
        folder, _, file = run.__module__.rpartition(".")
        if folder == FOLDER and _id_of(file) != id:
            raise ValueError(
                f"The file {file}.py must hold the experiment {_id_of(file)!r}. Got {id!r}."
            )
        known = _REGISTER.get(id)
        # A module that is loaded again may register its own function again.
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
        counts = dict(draws or {})
        if not set(counts) <= set(full):
            raise ValueError(
                f"Experiment {id!r} must count its draws by one of its settings, {sorted(full)}. "
                f"Got {sorted(counts)}."
            )
        _REGISTER[id] = Experiment(
            id,
            document,
            title,
            published,
            run,
            dict(quick),
            dict(full),
            seed,
            needs_data,
            tuple(covers),
            counts,
            dict(readings or {}),
            in_short,
        )
        return run

    return register


def list_ids() -> list[str]:
    """Return the ids of all experiments in order (E-8 before E-10), without loading them.

    >>> from isthmus_experiments import list_ids
    >>> list_ids()[:3]
    ['CORE-ball', 'CORE-further', 'CORE-machine']
    """
    return sorted({*map(_id_of, _files()), *_REGISTER}, key=_natural)


def list_experiments() -> list[Experiment]:
    """Load all experiments and return them in the order of :func:`list_ids`."""
    return [_load(id) for id in list_ids()]


def get(id: str) -> Experiment:
    """Return the experiment named ``id``, in upper or lower case; no other one is loaded.

    Raises
    ------
    ValueError
        If there is none; the message names the closest ids and all of them.
    """
    known = {name.lower(): name for name in list_ids()}
    name = known.get(id.lower())
    if name is None:
        close = difflib.get_close_matches(id.lower(), known, n=3, cutoff=0.5)
        hint = f" Did you mean {' or '.join(known[c] for c in close)}?" if close else ""
        raise ValueError(
            f"There is no experiment {id!r}.{hint} Known: {', '.join(known.values())}."
        )
    return _load(name)


def _load(id: str) -> Experiment:
    if id not in _REGISTER:
        importlib.import_module(f"{FOLDER}.{id.lower().replace('-', '_')}")
    if id not in _REGISTER:
        raise ValueError(f"The file of the experiment {id!r} does not register it.")
    return _REGISTER[id]


def _files() -> list[str]:
    """Return the names of the files that hold experiments; helpers begin with an underscore."""
    paths = importlib.import_module(FOLDER).__path__
    return [m.name for m in pkgutil.iter_modules(paths) if not m.name.startswith("_")]


def _id_of(file: str) -> str:
    first, *others = file.split("_")
    return "-".join([first.upper(), *others])


def _natural(id: str) -> list[tuple[int, int, str]]:
    parts = re.findall(r"\d+|\D+", id.lower())
    return [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in parts]
