"""The base of every estimator: a fit changes all of its attributes or none."""

import copy
import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from isthmus._checks import check_slot_is_filled
from isthmus._door import check_arguments
from isthmus._parameters import Constraint, check_parameters, check_parameters_once
from isthmus._rewording import reword
from isthmus._view import SquareView
from isthmus.blocks.containers import in_blocks
from isthmus.linalg.threads import one_pool

# How the names of methods begin that learn something.
LEARNING = ("fit", "partial_fit")
# Methods that are given data and learn nothing.
ANSWERS = frozenset(
    {"predict", "predict_proba", "predict_coordinates", "decision_function", "score"}
    | {"score_samples", "transform", "inverse_transform", "reconstruct", "reconstruction_error"}
    | {"complete", "project", "smooth", "weights", "solve", "objective", "distances", "contains"}
    | {"responsibilities", "memberships", "landscape", "magnification", "jacobian"}
)

Model = TypeVar("Model")

_running = threading.local()


class Estimator(SquareView, BaseEstimator):
    """Base of every estimator, instead of scikit-learn's, which it extends.

    Each ``fit``, ``partial_fit`` and other method whose name begins so is all or nothing: before it
    begins, the parameters are held against the class's table; where it does not end, because of
    bad data, an error in somebody's kernel or Ctrl-C, the object is left as it was before,
    to the last attribute, so that a former fit can be used on. These and the methods that answer
    refuse masked arrays and numbers of unusable size at the door.

    Examples
    --------
    >>> from isthmus._parameters import integer
    >>> class Doubling(Estimator):
    ...     _constraints = {"times": integer(1)}
    ...
    ...     def __init__(self, times=1):
    ...         self.times = times
    ...
    ...     def fit(self, X, y=None):
    ...         self.result_ = 2 * self.times * X
    ...         if X < 0:
    ...             raise ValueError("negative")
    ...         return self
    >>> model = Doubling().fit(3)
    >>> model.fit(-1)
    Traceback (most recent call last):
    ValueError: negative
    >>> model.result_
    6
    >>> Doubling(times=0).fit(3)
    Traceback (most recent call last):
    isthmus._parameters.ParameterError: The 'times' parameter of Doubling must be an int in [1, inf). Got 0 instead.
    """  # noqa: E501

    #: What each constructor parameter may be; tables of parent classes are extended.
    _constraints: ClassVar[dict[str, Constraint]] = {}
    #: Whether ``partial_fit`` changes fitted arrays where they lie.
    _steps_in_place: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        ours = [c for c in cls.__mro__ if c is cls or not issubclass(c, Estimator)]
        # Mixins of scikit-learn call what is guarded here.
        names = {n for c in ours if c is cls or c.__module__.startswith("isthmus") for n in vars(c)}
        for name in sorted(names & ANSWERS | {n for n in names if n.startswith(LEARNING)}):
            guard = all_or_nothing if name.startswith(LEARNING) else _with_door
            method = inspect.getattr_static(cls, name)
            if inspect.isfunction(method) and not hasattr(method, "guards"):
                setattr(cls, name, guard(method))
            # Behind ``available_if``.
            function = getattr(method, "fn", None)
            if inspect.isfunction(function) and not hasattr(function, "guards"):
                method.fn = guard(function)
        super().__init_subclass__(**kwargs)

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of parts as ``part__name``; return self."""
        own = self.get_params(deep=False)
        for key in params:
            name, _, inner = key.partition("__")
            if inner and name in own:
                check_slot_is_filled(self, name, inner, params.get(name, own[name]))
        super().set_params(**params)
        return self


def altered(model: Model, **attributes: Any) -> Model:
    """A shallow copy of which some attributes are others.

    >>> class Mean(Estimator):
    ...     mean_ = 1.0
    >>> altered(Mean(), mean_=2.0).mean_
    2.0
    """
    twin = copy.copy(model)
    for name, value in attributes.items():
        setattr(twin, name, value)
    return twin


def all_or_nothing(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that leaves its object untouched where it does not end; its data are looked at."""
    # A step in a stream may update sums and factors in place, so that these have to be copied
    # unless the class says that it does not; a fit makes new ones.
    copies = method.__name__.startswith("partial_fit")

    @functools.wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        running = _running.__dict__.setdefault("objects", set())
        if id(self) in running:  # a fit that calls another of the same object
            return _learn(self, method, args, kwargs)
        (check_parameters_once if copies else check_parameters)(self)
        check_arguments(self, method, args, kwargs)
        copied = copies and self._steps_in_place
        before = _fitted_copy(self) if copied else dict(vars(self))
        running.add(id(self))
        try:
            with one_pool():
                return _learn(self, method, args, kwargs)
        except BaseException as error:
            self.__dict__ = before  # one step: a second interrupt finds the old state or the new
            if isinstance(error, (TypeError, ValueError)):
                reword(self, error, [*args, *kwargs.values()])
            wrapped = isinstance(error, SystemError) and _is_interrupt(error)
            # NumPy compares structured arrays by a call of Python, whose interrupt it wraps.
            if wrapped or isinstance(error.__cause__, KeyboardInterrupt):
                raise KeyboardInterrupt from error
            raise
        finally:
            running.discard(id(self))

    guarded.guards = True  # type: ignore[attr-defined]
    return guarded


def _learn(self: Any, method: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a method that learns; rows that come in blocks are given to the estimator's fold."""
    if any(map(in_blocks, args)) or any(map(in_blocks, kwargs.values())):
        from isthmus.blocks.fitting import comes_in_blocks, fit_blocks

        if comes_in_blocks(args, kwargs):
            return fit_blocks(self, method, args, kwargs)
    return method(self, *args, **kwargs)


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: numba turns one that comes between two calls into such."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _with_door(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args and in_blocks(args[0]) and not isinstance(args[0], np.memmap):
            return _answer_blocks(self, method.__name__, *args, **kwargs)
        # Coordinates may be zero but for rounding.
        check_arguments(self, method, args, kwargs, smallest=0.0)
        try:
            return method(self, *args, **kwargs)
        except (TypeError, ValueError) as error:
            reword(self, error, [*args, *kwargs.values()])
            raise

    guarded.guards = True  # type: ignore[attr-defined]
    return guarded


def _answer_blocks(self: Any, name: str, X: Any, *args: Any, **kwargs: Any) -> Any:
    """What a method answers to rows in blocks: block by block, and lazily where they are lazy."""
    from isthmus.blocks.mapping import answer

    if name == "score":
        raise TypeError(
            f"{type(self).__name__}.score takes rows in memory. Got {type(X).__name__}; score a "
            "sample of them, as isthmus.blocks.draw_rows gives."
        )
    return answer(self, getattr(self, name), X, args, kwargs)


def _fitted_copy(owner: Any) -> dict[str, Any]:
    """The attributes of ``owner``: constructor parameters themselves, learned ones copied."""
    parameters = owner.get_params(deep=False)
    learned = {name: value for name, value in vars(owner).items() if name not in parameters}
    kept = {name: value for name, value in vars(owner).items() if name in parameters}
    # What was learned may hold a parameter, as a model holds its kernel: it stays that very object.
    known = {id(value): value for value in kept.values()}
    return kept | copy.deepcopy(learned, known)
