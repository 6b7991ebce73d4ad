"""Warnings that point to the line of the user's program that caused them."""

import inspect
import warnings

# A fit may have been called by a search or a pipeline: these are not the user's lines either.
_INSIDE = ("isthmus", "sklearn", "joblib")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the address of the first caller outside the library, however deep it is called."""
    frame = inspect.currentframe()
    level = 0
    while frame is not None and _is_inside(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)


def _is_inside(module: str) -> bool:
    return module.partition(".")[0] in _INSIDE
