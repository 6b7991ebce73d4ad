"""A fit that fails leaves its estimator as it was."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

Options = ParamSpec("Options")
Estimator = TypeVar("Estimator")
Result = TypeVar("Result")


def all_or_nothing(
    fit: Callable[Concatenate[Estimator, Options], Result],
) -> Callable[Concatenate[Estimator, Options], Result]:
    """Let ``fit`` set all its attributes or, where it raises, none.

    scikit-learn's ``validate_data`` notes the number of columns before the outputs are looked
    at, and a solver may fail late: without this, a failed fit would leave half of a model, or
    spoil the one that was there. Attributes are put back, not copied: a ``fit`` that writes
    into arrays of a former fit is not undone.
    """

    @wraps(fit)
    def guarded(self: Estimator, *args: Options.args, **kwargs: Options.kwargs) -> Result:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return guarded
