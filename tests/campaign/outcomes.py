"""What a case came to: an answer, a clear refusal, or a defect."""

import traceback
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy.sparse import issparse

# What a refusal may be raised as, and by whose lines.
CLEAR = (ValueError, TypeError, MemoryError, NotImplementedError, AttributeError)
OURS = ("/isthmus/", "/sklearn/", "/tests/")


@dataclass
class Tally:
    """Counts of one part of the campaign, and what was wrong."""

    part: str
    answered: int = 0
    refused: int = 0
    defects: list[str] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """How many cases there were."""
        return self.answered + self.refused + len(self.defects)

    def add(self, case: str, outcome: str) -> None:
        """Count one case; anything that is neither an answer nor a refusal is a defect."""
        if outcome == "answered":
            self.answered += 1
        elif outcome == "refused":
            self.refused += 1
        else:
            self.defects.append(f"{case}: {outcome}")


def outcome_of(call: Callable[[], Any], *, names: Iterable[str] = ()) -> str:
    """Whether a call answers with finite numbers, refuses clearly, or neither.

    A refusal is clear where one of our lines, or of scikit-learn's checks, raised it on purpose, in
    one short message that holds one of ``names`` if any are given.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = call()
        except CLEAR as error:
            return _judge(error, tuple(names))
        except Exception as error:
            return f"raw {type(error).__name__}: {_short(error)}"
    return "answered" if is_finite(value) else "answered with NaN or infinity"


def _judge(error: BaseException, names: tuple[str, ...]) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    path = Path(last.filename).as_posix()
    on_purpose = (last.line or "").startswith("raise") or "msg" in (last.line or "")
    if not on_purpose or not any(part in path for part in OURS):
        return f"raw {type(error).__name__} at {Path(path).name}:{last.lineno}: {_short(error)}"
    text = str(error)
    if len(text) > 900:
        return f"a message of {len(text)} characters"
    if names and not any(name in text for name in names):
        return f"refused without {' or '.join(names)}: {_short(error)}"
    return "refused"


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:160]


def is_finite(value: Any) -> bool:
    """Whether numbers in a result are finite; other objects count as an answer."""
    if issparse(value):
        value = value.data
    if isinstance(value, (tuple, list)) and not all(np.isscalar(v) for v in value):
        return all(is_finite(v) for v in value)
    array = np.asarray(value) if not hasattr(value, "fit") else np.zeros(0)
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def state_of(model: Any) -> str:
    """A fingerprint of everything that an object holds."""
    return joblib.hash(model.__getstate__())  # without caches
