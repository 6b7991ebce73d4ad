"""Copies of objects and of parts, and whether two of them are the same."""

import copy
import pickle
import re
from typing import Any

import numpy as np
from sklearn.base import clone

from isthmus.kernels.objects import n_objects
from isthmus.testing.report import Facts
from isthmus.typing import Array, Objects


def generator() -> np.random.Generator:
    """Random numbers that are the same in every check."""
    return np.random.default_rng(0)


def is_table(X: Objects) -> bool:
    """Whether objects are rows of an array of numbers."""
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub"


def in_double(X: Objects) -> Objects:
    """Vectors in double precision, in which facts can be told from rounding errors."""
    single = isinstance(X, np.ndarray) and X.dtype in (np.float16, np.float32)
    return X.astype(np.float64) if single else X


def same(a: Any, b: Any) -> bool:
    """Whether two things hold the same; things that cannot be compared count as the same."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.dtype == object:
            return all(same(x, y) for x, y in zip(a.ravel(), b.ravel(), strict=True))
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    comparable = (str, bytes, int, float, complex)
    return bool(a == b) if isinstance(a, comparable) and isinstance(b, comparable) else True


def check_untouched(facts: Facts, X: Objects, before: Objects) -> None:
    """The objects are still what they were."""
    facts.holds("the objects it is given are not changed", same(X, before))


def looks(part: Any) -> str:
    """How a part is printed, without the addresses of what has no other name."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(part))


def check_copies(facts: Facts, part: Any) -> None:
    """Parameters survive ``set_params`` and ``clone``."""
    facts.needs_methods(part, "get_params", "set_params")
    with facts.works("clone makes a copy with the same parameters"):
        twin = clone(part)
    facts.holds("clone makes a copy with the same parameters", type(twin) is type(part))
    before, after = part.get_params(deep=False), twin.get_params(deep=False)
    facts.holds(
        "clone makes a copy with the same parameters",
        before.keys() == after.keys() and looks(twin) == looks(part),
        f"Found {twin!r:.80} instead.",
    )
    with facts.works("set_params takes what get_params returns"):
        twin.set_params(**before)


def pickled(facts: Facts, part: Any) -> Any:
    """What comes back from a pickle; None where Python cannot find the class by its name.

    That is so for a class made within a function, and no fault of the part.
    """
    try:
        written = pickle.dumps(part)
    except (pickle.PicklingError, AttributeError):
        return None
    except TypeError as error:
        raise facts.broken("it can be pickled", f"Found {type(error).__name__}: {error}") from error
    with facts.works("it can be pickled"):
        return pickle.loads(written)


def settled_parameters(part: Any) -> dict[str, Any]:
    """Parameters as they are now, to be compared after a fit."""
    return dict(part.get_params(deep=False))


def check_parameters_kept(facts: Facts, part: Any, before: dict[str, Any]) -> None:
    """``fit`` has changed no constructor parameter."""
    after = part.get_params(deep=False)
    changed = [name for name, value in before.items() if after.get(name) is not value]
    facts.holds(
        "fit changes no constructor parameter", not changed, f"Changed: {', '.join(changed)}."
    )


def check_coordinates(facts: Facts, what: str, found: Any, n: int, width: int | None) -> Array:
    """A finite table with a row for each object, as an array."""
    table = np.asarray(found)
    facts.holds(
        f"{what} is a table of finite numbers, one row for each object",
        table.ndim == 2
        and len(table) == n
        and table.dtype.kind in "fiu"
        and np.isfinite(table).all()
        and (width is None or table.shape[1] == width),
        f"Found shape {table.shape} of {table.dtype} for {n} objects.",
    )
    return table


def copied(X: Objects) -> Objects:
    """A copy that nothing shares with the original."""
    return copy.deepcopy(X)


def halves(X: Objects) -> tuple[Any, Any]:
    """Numbers of the objects of one half, in mixed order, and of the other."""
    order = generator().permutation(n_objects(X))
    return order[: len(order) // 2], order[len(order) // 2 :]
