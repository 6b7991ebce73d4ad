"""What a kernel machine offers, from what its kernel compares."""

from collections.abc import Callable
from typing import Any

from isthmus._parameters import Constraint, condition, resolved_by
from isthmus.kernels.resolve import as_kernel
from isthmus.typing import OBJECT_KINDS


def named_or(resolve: Callable[[Any], Any], text: str) -> Constraint:
    """What ``resolve`` takes, and any name: ``fit`` says which names there are.

    >>> named_or(as_kernel, "a kernel or its name").accepts("gausian")
    True
    """
    known = resolved_by(resolve, text)
    return condition(text, lambda value: isinstance(value, str) or known.accepts(value))


def kinds_of_objects(kernel: Any) -> frozenset[str]:
    """Words for what a kernel, a name or every one of several compares.

    What cannot be used offers nothing; ``fit`` says what is wrong with it.

    >>> sorted(kinds_of_objects("gaussian")), sorted(kinds_of_objects("no such kernel"))
    (['vectors'], [])
    """
    several = kernel if isinstance(kernel, (list, tuple)) else [kernel]
    try:
        offered = [as_kernel(one).provides for one in several]
    except (TypeError, ValueError):
        return frozenset()
    return OBJECT_KINDS.intersection(*offered) if offered else frozenset()
