"""Pieces: small parts with parameters, which scikit-learn can clone and search."""

from dataclasses import fields
from typing import Any, ClassVar, Self

from isthmus._checks import check_slot_is_filled
from isthmus._parameters import Constraint


class Piece:
    """Base of dataclasses that behave like scikit-learn's parameter holders.

    A piece is neither an estimator nor fitted; it only has parameters. That is
    enough for ``sklearn.base.clone`` and for ``GridSearchCV`` over names such as
    ``kernel__gamma``.
    """

    #: What each parameter may be; an estimator that holds the piece checks it at fit.
    _constraints: ClassVar[dict[str, Constraint]] = {}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; nested ones as ``part__name``."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        if not deep:
            return own
        nested = {
            f"{name}__{inner}": value
            for name, part in own.items()
            if hasattr(part, "get_params") and not isinstance(part, type)
            for inner, value in part.get_params().items()
        }
        return own | nested

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, nested ones as ``part__name``; return self."""
        known = self.get_params(deep=False)
        inner: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for {type(self).__name__}. "
                    f"Valid parameters are: {sorted(known)}."
                )
            if rest:
                inner.setdefault(name, {})[rest] = value
            else:
                setattr(self, name, value)
        for name, rest_params in inner.items():
            part = getattr(self, name)
            check_slot_is_filled(self, name, next(iter(rest_params)), part)
            part.set_params(**rest_params)
        return self
