"""Fitted attributes that are computed when they are first asked for."""

from typing import Any


class Deferred:
    """A fitted attribute that the object's ``_settle`` sets, called when it is first read.

    A stream of small blocks then pays for its sums alone. An object that has nothing to settle has
    no such attribute; one that has been set is read like any other.

    >>> class Sums:
    ...     mean_ = Deferred()
    ...
    ...     def partial_fit(self, x):
    ...         self._pending = getattr(self, "_pending", 0) + x
    ...         vars(self).pop("mean_", None)
    ...
    ...     def _settle(self):
    ...         self.mean_ = self._pending / 2
    >>> sums = Sums()
    >>> hasattr(sums, "mean_")
    False
    >>> sums.partial_fit(3)
    >>> sums.mean_
    1.5
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        if owner is None:
            return self
        if vars(owner).get("_pending") is None:
            raise AttributeError(f"{type(owner).__name__!r} object has no attribute {self._name!r}")
        owner._settle()
        return vars(owner)[self._name]
