"""Every public estimator."""

import inspect
from importlib import import_module
from typing import NamedTuple

from sklearn.base import BaseEstimator

import isthmus

# Data, figures and these checks: nothing in them is fitted.
WITHOUT_ESTIMATORS = {"datasets", "files", "plotting", "testing"}


class PublicEstimator(NamedTuple):
    """An estimator's family, name and class."""

    family: str
    name: str
    cls: type[BaseEstimator]


PublicEstimator.__module__ = "isthmus.testing"


def all_estimators(family: str | None = None) -> list[PublicEstimator]:
    """Every public estimator class of a family, or of all.

    Parameters
    ----------
    family : str or None, default=None
        Such as ``"features"``.

    Returns
    -------
    list of PublicEstimator
        Named tuples ``(family, name, cls)``, in alphabetical order. Abstract classes are left out.

    Examples
    --------
    >>> from isthmus.testing import all_estimators
    >>> [name for _, name, _ in all_estimators("structured")][:2]
    ['ConformalSets', 'DependencyClassifier']
    """
    families = [name for name in isthmus._FAMILIES if name not in WITHOUT_ESTIMATORS]
    if family is not None and family not in families:
        raise ValueError(
            f"The 'family' parameter of all_estimators must be one of {', '.join(families)} or "
            f"None. Got {family!r} instead."
        )
    return [
        PublicEstimator(name, public, thing)
        for name in (families if family is None else [family])
        for public, thing in sorted(_public_things(name).items())
        if inspect.isclass(thing)
        and issubclass(thing, BaseEstimator)
        and not inspect.isabstract(thing)
    ]


def _public_things(family: str) -> dict[str, object]:
    module = import_module(f"isthmus.{family}")
    return {name: getattr(module, name) for name in module.__all__}
