"""Packages that only some functions need: loaded where they are used, or named with their extra."""

from importlib import import_module
from typing import Any


def load_extra(package: str, extra: str, owner: str) -> Any:
    """Return the module ``package``, which the optional dependencies ``extra`` install.

    Parameters
    ----------
    package : str
        For example ``"pandas"``.
    extra : str
        For example ``"app"``, as in ``pip install "isthmus[app]"``.
    owner : str
        What needs it, as the message names it.

    Raises
    ------
    ImportError
        If it is not installed.

    Examples
    --------
    >>> load_extra("no_such_package", "plot", "rank_curves")
    Traceback (most recent call last):
        ...
    ImportError: rank_curves needs no_such_package. Install it with: pip install "isthmus[plot]"
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as missing:
        # A package that is there but broken says so itself.
        if missing.name != package:
            raise
        raise ImportError(
            f'{owner} needs {package}. Install it with: pip install "isthmus[{extra}]"'
        ) from missing
