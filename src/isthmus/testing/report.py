"""What a check has verified, and how it says that a fact does not hold."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._checks import shortened


@dataclass(frozen=True)
class CheckReport:
    """The facts that a check has verified.

    Attributes
    ----------
    contract : str
        Which contract, such as ``"kernel"``.
    part : str
        What was checked.
    facts : tuple of str
        What holds for it, in the order in which it was checked.

    Examples
    --------
    >>> from isthmus.losses import Huber
    >>> from isthmus.testing import check_loss
    >>> report = check_loss(Huber(1.0))
    >>> report.contract, len(report.facts) > 5
    ('loss', True)
    """

    __module__ = "isthmus.testing"

    contract: str
    part: str
    facts: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([f"{self.part} keeps the contract of a {self.contract}:", *self.facts])


class BrokenContract(AssertionError):
    """A fact that does not hold, told already."""


class Facts:
    """Facts about one part, collected one after the other; the first that fails is raised."""

    def __init__(self, contract: str, part: Any):
        self.contract, self.part = contract, shortened(part)
        self.found: list[str] = []

    def report(self) -> CheckReport:
        """What was verified."""
        return CheckReport(self.contract, self.part, tuple(self.found))

    def broken(self, fact: str, detail: str) -> BrokenContract:
        """The error that says which fact does not hold."""
        return BrokenContract(
            f"{self.part} breaks the contract of a {self.contract}. Expected: {fact}. {detail}"
        )

    def holds(self, fact: str, condition: Any, detail: str = "") -> None:
        """Add a fact, or raise where its condition is false."""
        if not condition:
            raise self.broken(fact, detail)
        self._add(fact)

    def agree(self, fact: str, got: Any, expected: Any, *, tol: float, size: float = 0.0) -> None:
        """Add the fact that two arrays agree, up to ``tol`` times their largest entry.

        ``size`` is that of the numbers they were made of, where these may cancel.
        """
        got, expected = np.asarray(got), np.asarray(expected)
        if got.shape != expected.shape:
            raise self.broken(fact, f"Found shape {got.shape} where {expected.shape} is right.")
        size = max(size, float(np.max(np.abs(expected), initial=0.0)))
        error = float(np.max(np.abs(got - expected), initial=0.0))
        detail = f"Found a difference of {error:.3g} between numbers of size {size:.3g}."
        self.holds(fact, error <= tol * max(size, np.finfo(float).tiny), detail)

    @contextmanager
    def works(self, fact: str) -> Iterator[None]:
        """Add a fact if the body raises nothing."""
        try:
            yield
        except BrokenContract:
            raise
        except Exception as error:
            raise self.broken(fact, f"Found {type(error).__name__}: {error}") from error
        self._add(fact)

    def needs_methods(self, part: Any, *names: str) -> None:
        """Refuse a class in place of an object, and an object without these methods."""
        if isinstance(part, type):
            raise TypeError(
                f"{part.__name__} is a class, and a {self.contract} is an object. "
                f"Call it to make one: {part.__name__}()."
            )
        lacking = [name for name in names if not callable(getattr(part, name, None))]
        if lacking:
            raise TypeError(
                f"{self.part} is not a {self.contract}: it has no method {', '.join(lacking)}."
            )

    def _add(self, fact: str) -> None:
        if fact not in self.found:
            self.found.append(fact)
