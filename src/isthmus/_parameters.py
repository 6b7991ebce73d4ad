"""What a parameter may be: one line for each, which checks it and words the refusal."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from operator import is_
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.utils import check_random_state

from isthmus._checks import name_of, refusal


class ParameterError(ValueError, TypeError):
    """A parameter is of the wrong type or outside its range, whichever a caller catches."""


@dataclass(frozen=True)
class Constraint:
    """What a value may be, in words and as a test; ``a | b`` accepts either.

    Examples
    --------
    >>> rank = integer(1) | choice("cv") | none
    >>> rank.accepts(3), rank.accepts("cv"), rank.accepts(True), rank.accepts(0)
    (True, True, False, False)
    >>> rank.text
    "an int in [1, inf), 'cv' or None"
    """

    parts: tuple[tuple[str, Callable[[Any], bool]], ...]

    def accepts(self, value: Any) -> bool:
        """Whether the value may stand there."""
        return any(test(value) for _, test in self.parts)

    @property
    def text(self) -> str:
        """What is expected, as a message says it."""
        texts = [text for text, _ in self.parts]
        return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"

    def __or__(self, other: "Constraint") -> "Constraint":
        return Constraint(self.parts + other.parts)


def check_parameters(owner: Any) -> None:
    """Hold the parameters of an estimator or a piece against its table, and those of its pieces."""
    for name, constraint in constraints_of(type(owner)).items():
        value = getattr(owner, name)
        if not constraint.accepts(value):
            raise ParameterError(_refusal(owner, name, constraint, value))
    for name, value in vars(owner).items():
        piece = hasattr(type(value), "_constraints") and not hasattr(value, "fit")
        if piece and not name.endswith("_"):  # an estimator checks its own when it is fitted
            check_parameters(value)


# Parameters that a stream has been checked with, where nothing can change inside them.
_passed: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()
_PLAIN = frozenset({int, float, bool, str, type(None)})


def check_parameters_once(owner: Any) -> None:
    """The same, where an estimator is asked again and again: only what was set meanwhile counts."""
    values = [value for name, value in vars(owner).items() if name[0] != "_" and name[-1] != "_"]
    known = _passed.get(owner)
    if known is not None and len(known) == len(values) and all(map(is_, known, values)):
        return
    check_parameters(owner)
    if _PLAIN.issuperset(map(type, values)):
        _passed[owner] = values


def _refusal(owner: Any, name: str, constraint: Constraint, value: Any) -> str:
    """The message; where a name is unknown, the words of the function that knows all names."""
    for _, test in constraint.parts:
        if isinstance(value, str) and hasattr(test, "resolve"):
            try:
                test.resolve(value)
            except (TypeError, ValueError) as error:
                owner_name = name_of(owner)
                return f"The {name!r} parameter of {owner_name} cannot be used. {error}"
    return refusal(owner, name, constraint.text, value)


def constraints_of(kind: type) -> dict[str, Constraint]:
    """The table of a class: that of its parents, and its own lines."""
    table: dict[str, Constraint] = {}
    for parent in reversed(kind.__mro__):
        table |= vars(parent).get("_constraints", {})
    return table


def condition(text: str, test: Callable[[Any], bool]) -> Constraint:
    """Whatever a function says yes to, in words that follow "must be"."""
    return Constraint(((text, test),))


def integer(low: int | None = None, high: int | None = None) -> Constraint:
    """A whole number between two ends, both included; True and 3.0 are none."""

    def test(value: Any) -> bool:
        return (
            isinstance(value, Integral)
            and not isinstance(value, (bool, np.bool_))
            and (low is None or int(value) >= low)
            and (high is None or int(value) <= high)
            and abs(int(value)) < 2**63
        )

    first = "(-inf" if low is None else f"[{low}"
    return condition(f"an int in {first}, {'inf)' if high is None else f'{high}]'}", test)


def real(
    low: float | None = None,
    high: float | None = None,
    *,
    include_low: bool = True,
    include_high: bool = True,
) -> Constraint:
    """A finite number between two ends, which are included unless told otherwise."""

    def test(value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        return bool(
            np.isfinite(number)
            and (low is None or (number >= low if include_low else number > low))
            and (high is None or (number <= high if include_high else number < high))
        )

    first = "(-inf" if low is None else f"{'[' if include_low else '('}{low}"
    last = "inf)" if high is None else f"{high}{']' if include_high else ')'}"
    return condition(f"a float in {first}, {last}", test)


def choice(*names: str) -> Constraint:
    """One of some names."""
    text = repr(names[0]) if len(names) == 1 else f"one of {', '.join(map(repr, names))}"
    return condition(text, lambda value: isinstance(value, str) and value in names)


def instance(*kinds: type) -> Constraint:
    """An instance of one of some classes."""
    names = " or ".join(kind.__name__ for kind in kinds)
    return condition(f"an instance of {names}", lambda value: isinstance(value, kinds))


def having(*methods: str, text: str) -> Constraint:
    """An object with some methods; a class that has them is no object."""
    return condition(
        text,
        lambda value: (
            not isinstance(value, type) and all(callable(getattr(value, m, None)) for m in methods)
        ),
    )


def resolved_by(resolve: Callable[[Any], Any], text: str) -> Constraint:
    """What a function such as ``as_kernel`` can make something of."""

    def test(value: Any) -> bool:
        try:
            resolve(value)
        except (TypeError, ValueError):
            return False
        return True

    test.resolve = resolve  # type: ignore[attr-defined]
    return condition(text, test)


def several(each: Constraint, *, length: int | None = None) -> Constraint:
    """A list, a tuple or an array of one dimension of such values, not empty."""

    def test(value: Any) -> bool:
        if isinstance(value, np.ndarray):
            value = value.tolist() if value.ndim == 1 else None
        return (
            isinstance(value, (list, tuple))
            and (len(value) > 0 if length is None else len(value) == length)
            and all(each.accepts(v) for v in value)
        )

    count = "a list, not empty," if length is None else f"a list of {length}"
    return condition(f"{count} with each entry {each.text}", test)


def numbers(*n_dimensions: int) -> Constraint:
    """An array of finite numbers with one of some numbers of dimensions."""

    def test(value: Any) -> bool:
        if isinstance(value, (str, bytes, dict, set)) or not isinstance(value, Iterable):
            return False
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            return False
        return array.ndim in n_dimensions and array.size > 0 and bool(np.isfinite(array).all())

    sizes = " or ".join(map(str, n_dimensions))
    return condition(f"an array of finite numbers of {sizes} dimensions", test)


def _is_seed(value: Any) -> bool:
    if type(value) is int:  # the usual one, for which no generator need be made
        return 0 <= value < 2**32
    try:
        check_random_state(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, (bool, np.bool_))


def _is_boolean(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_, Integral)) and value in (0, 1)


def _is_jobs(value: Any) -> bool:
    return value is None or (integer().accepts(value) and value != 0)


none = condition("None", lambda value: value is None)
boolean = condition("True or False", _is_boolean)
function = condition("a callable", lambda v: callable(v) and not isinstance(v, type))
seed = condition(f"None, a RandomState or an int in [0, {2**32 - 1}]", _is_seed)
jobs = condition("None or an int other than 0 (-1 takes all processors)", _is_jobs)
verbosity = boolean | integer(0)
