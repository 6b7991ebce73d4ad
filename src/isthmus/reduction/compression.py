"""Fitted models that predict with few kernel evaluations."""

import copy
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from isthmus.kernels.objects import take
from isthmus.reduction.expansions import ReducedExpansion, reduce_expansion
from isthmus.reduction.machines import pairs
from isthmus.reduction.moved import can_move, move_points
from isthmus.reduction.sklearn_machines import Held, held_expansion
from isthmus.typing import Array, BoolArray

_EXACT = 1e-9  # share of squared length below which chosen points need not move


def compress(
    estimator: Any,
    n_points: int | None = None,
    *,
    tolerance: float | None = None,
    X: Any = None,
    y: Any = None,
    max_loss: float = 0.005,
    select: str = "least_squares",
    points: str = "auto",
) -> Any:
    r"""Return a fitted model of the same kind that evaluates few kernels.

    The functions in the model, :math:`w^j=\sum_iA_{ij}\varphi(x_i)`, are
    replaced by expansions over a common small subset of their points, chosen by
    :func:`reduce_expansion`, and where the kernel has a gradient these points are then moved to
    better places; what the model does with the functions' values stays as it was.

    Parameters
    ----------
    estimator : fitted model
        scikit-learn's ``SVC``, ``SVR`` (and their Nu forms), ``KernelRidge``, ``KernelPCA``,
        ``GaussianProcessRegressor`` (its mean), a ``Pipeline`` that ends in one; our
        ``KernelPCA``, ``KernelRidgeCV``, ``GaussianProcess`` (its mean), ``DependencyEstimator``,
        ``UnsupervisedKernelRegression`` with a data kernel, and the core vector machines.
    n_points : int or None
        How many points to keep, at most.
    tolerance : float or None
        Instead, the squared error of the functions, as a share of their squared length. Points
        whose move would exceed it stay.
    X, y : validation data or None
        With neither of the two above, the smallest model whose score on these data is at most
        ``max_loss`` below that of the full one. With them the thresholds of a classifier are
        set anew as well, to make the fewest errors.
    max_loss : float, default=0.005
    select : {"least_squares", "matching"}, default="least_squares"
    points : {"auto", "kept", "moved"}, default="auto"
        "kept" leaves the chosen points where they are, as published; "moved" lets them go
        wherever the functions are met best, which takes seconds and needs a kernel of vectors
        with a gradient. "auto" moves them where it can.

    Returns
    -------
    A fitted model. Ours and pipelines are copies of the same class; a scikit-learn model
    becomes a compressed classifier, regressor or transformer with the same methods. It has
    ``n_points_``, how many points it kept, and ``compression_error_``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from isthmus.reduction import compress
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> full = SVC().fit(X, y)
    >>> small = compress(full, 20)
    >>> len(full.support_) > 80, small.n_points_, bool(small.score(X, y) > 0.9)
    (True, 20, True)
    """
    check_is_fitted(estimator)
    if n_points is None and tolerance is None and (X is None or y is None):
        raise ValueError(
            "compress needs to know how small: give n_points, tolerance, or validation data X, y."
        )
    if points not in ("auto", "kept", "moved"):
        raise ValueError(
            "The 'points' parameter of compress must be one of 'auto', 'kept', 'moved'. Got "
            f"{points!r} instead."
        )
    if n_points is not None:
        if isinstance(n_points, bool) or not isinstance(n_points, Integral):
            raise TypeError(
                f"The 'n_points' parameter of compress must be an int. Got {n_points!r} instead."
            )
        if n_points < 1:
            raise ValueError(
                "The 'n_points' parameter of compress must be an int in [1, inf). Got "
                f"{n_points!r} instead."
            )
    if not max_loss >= 0:
        raise ValueError(
            "The 'max_loss' parameter of compress must be a float in [0, inf). Got "
            f"{max_loss!r} instead."
        )
    wanted: dict[str, Any] = {
        "n_points": n_points,
        "tolerance": tolerance,
        "select": select,
        "points": points,
    }
    if isinstance(estimator, Pipeline):
        before, (name, last) = estimator.steps[:-1], estimator.steps[-1]
        inputs = X if X is None or not before else estimator[:-1].transform(X)
        small = compress(last, X=inputs, y=y, max_loss=max_loss, **wanted)
        model = _copy_with(estimator, "steps", [*before, (name, small)])
        return _marked(model, small.n_points_, small.compression_error_)
    if hasattr(estimator, "_compressible_part"):
        model, name = estimator._compressible_part()
        return _compressed(
            getattr(model, name),
            lambda small: _copy_with(model, name, small),
            estimator,
            wanted,
            X,
            y,
            max_loss,
        )
    return _compressed(estimator, lambda small: small, estimator, wanted, X, y, max_loss)


def _copy_with(estimator: Any, name: str, part: Any) -> Any:
    model = copy.copy(estimator)
    setattr(model, name, part)
    return model


def _marked(model: Any, n_points: int, error: float) -> Any:
    model.n_points_, model.compression_error_ = n_points, error
    return model


def _compressed(
    holder: Any,
    rebuilt: Callable[[Any], Any],
    whole: Any,
    wanted: dict[str, Any],
    X: Any,
    y: Any,
    max_loss: float,
) -> Any:
    """Shorten the expansion in ``holder`` and put it back into ``whole``."""
    kernel, objects, A, make = _expansion_in(holder)
    points = wanted["points"]
    wanted = {name: value for name, value in wanted.items() if name != "points"}
    movable = points != "kept" and can_move(kernel, objects)
    if points == "moved" and not movable:
        raise ValueError(
            "compress(points='moved') needs a kernel that compares vectors and has a gradient. "
            f"Got {kernel!r:.60}; use points='kept'."
        )
    by_score = wanted["n_points"] is None and wanted["tolerance"] is None
    if by_score and not hasattr(whole, "score"):
        raise ValueError(
            f"{type(whole).__name__} has no score by which validation data could choose a size: "
            "give n_points or tolerance."
        )
    if wanted["n_points"] is not None:
        wanted = {**wanted, "n_points": min(wanted["n_points"], len(A))}
    bound = np.inf if wanted["tolerance"] is None else wanted["tolerance"]
    if by_score:
        wanted = {**wanted, "n_points": len(A), "tolerance": 0.0}
    path = reduce_expansion((kernel, objects), A, **wanted)

    def model_at(reduced: ReducedExpansion) -> Any:
        Z, B, error = take(objects, reduced.indices), reduced.coefficients, reduced.error
        if movable and error > _EXACT:
            there, C, moved_error = move_points(kernel, objects, A.reshape(len(A), -1), Z)
            # Moved points are fitted to values; the functions may then be further off.
            if moved_error <= max(bound, error):
                Z, B, error = there, C.reshape(B.shape), moved_error
        short = make(Z, B)
        if X is not None and y is not None and is_classifier(short):
            _set_thresholds(short, X, y)
        return _marked(rebuilt(short), len(reduced.indices), error)

    if not by_score:
        return model_at(path)
    goal = whole.score(X, y) - max_loss
    # Scores along the path rise, if not strictly: double until good enough, then bisect.
    low, high = 0, 1
    while high < len(path.indices) and model_at(path.at(high)).score(X, y) < goal:
        low, high = high, min(2 * high, len(path.indices))
    while high - low > 1:
        middle = (low + high) // 2
        if model_at(path.at(middle)).score(X, y) >= goal:
            high = middle
        else:
            low = middle
    return model_at(path.at(high))


def _expansion_in(holder: Any) -> tuple[Any, Any, Array, Callable[[Any, Array], Any]]:
    """Kernel, objects and coefficients in a model, and how to make one of fewer."""
    if hasattr(holder, "_kernel_expansion"):
        kernel, objects, A = holder._kernel_expansion()
        return kernel, objects, A, holder._with_kernel_expansion
    held = held_expansion(holder)
    if held is None:
        raise TypeError(
            "compress knows SVC, NuSVC, SVR, NuSVR, KernelRidge, KernelPCA and "
            "GaussianProcessRegressor of scikit-learn; KernelPCA, KernelRidgeCV, GaussianProcess, "
            "DependencyEstimator, UnsupervisedKernelRegression and the core vector machines of "
            f"isthmus; and pipelines that end in one. Got a fitted {type(holder).__name__} instead."
        )
    return held.kernel, held.objects, held.coefficients, lambda Z, B: _machine(held, holder, Z, B)


def _machine(held: Held, holder: Any, Z: Any, B: Array) -> Any:
    machine = copy.copy(held.machine)
    machine.kernel_, machine.objects_ = held.kernel, Z
    machine.coefficients_, machine.intercept_ = B, np.array(held.intercept, dtype=float)
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(holder, name):
            setattr(machine, name, getattr(holder, name))
    return machine


def _set_thresholds(machine: Any, X: Any, y: Any) -> None:
    """Move every intercept to where its two classes are told apart with the fewest errors."""
    if not hasattr(machine, "classes_") or not hasattr(machine, "coefficients_"):
        return
    values, y = machine._values(X), np.asarray(y)
    n = len(machine.classes_)
    for column, (i, j) in enumerate(pairs(n)):
        # A positive value speaks for the second of two classes, but for the first of a pair.
        yes = j if n == 2 else i
        of_pair = np.isin(y, machine.classes_[[i, j]])
        machine.intercept_[column] -= best_threshold(
            values[of_pair, column], y[of_pair] == machine.classes_[yes]
        )


def best_threshold(values: Array, positive: BoolArray) -> float:
    """The number t nearest to 0 such that ``values > t`` errs least often.

    >>> import numpy as np
    >>> best_threshold(np.array([-1.0, 1.0, 2.0]), np.array([False, False, True]))
    1.5
    """
    v = np.sort(values)
    between = (v[:-1] + v[1:])[v[1:] > v[:-1]] / 2
    ends = [v[0] - 1.0, v[-1] + 1.0] if len(v) else []
    cuts = np.concatenate([[0.0], between, ends])
    # Wrong at a cut: positives not above it, and negatives above it.
    yes, no = np.sort(values[positive]), np.sort(values[~positive])
    errors = np.searchsorted(yes, cuts, "right") + len(no) - np.searchsorted(no, cuts, "right")
    best = np.flatnonzero(errors == errors.min())
    return float(cuts[best[np.abs(cuts[best]).argmin()]])
