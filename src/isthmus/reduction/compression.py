"""Fitted models that predict with few kernel evaluations."""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import check_choice, check_float, check_int
from isthmus._warnings import warn
from isthmus.kernels.definiteness import check_gram, spread
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.objects import take
from isthmus.linalg.threads import one_pool
from isthmus.reduction.expansions import ReducedExpansion, reduce_expansion
from isthmus.reduction.gram import KernelGram
from isthmus.reduction.machines import CompressedClassifier
from isthmus.reduction.moving import move_points
from isthmus.reduction.sklearn_machines import as_machine
from isthmus.reduction.thresholds import set_thresholds
from isthmus.typing import BoolArray

CONFIDENT = 1.6449  # standard errors above which a twentieth of a normal distribution lies
_EXACT = 1e-9  # share of the squared length below which chosen points need not move


def compress(
    estimator: Any,
    n_points: int | None = None,
    *,
    max_error: float | None = None,
    X: Any = None,
    y: Any = None,
    max_loss: float = 0.005,
    select: str = "least_squares",
    points: str = "auto",
) -> Any:
    r"""Return a fitted model of the same kind that needs few kernel evaluations.

    The functions in the model, :math:`w^j=\sum_iA_{ij}\varphi(x_i)`, are replaced by expansions
    over a common small subset of their points, chosen by :func:`reduce_expansion`. If the kernel
    has a gradient, these points are then moved to better positions. The rest of the model stays the
    same.

    Parameters
    ----------
    estimator : fitted model
        Anything with an ``expansion_`` and ``with_expansion`` (see :mod:`isthmus.typing`): our
        ``KernelPCA``, ``KernelRidgeCV``, ``GaussianProcess`` (its mean), ``DependencyEstimator``,
        ``UnsupervisedKernelRegression`` with a data kernel, the core vector machines, or a class
        of your own. scikit-learn's ``SVC``, ``SVR`` (and their Nu forms), ``KernelRidge``,
        ``KernelPCA`` and ``GaussianProcessRegressor`` (its mean). A ``Pipeline`` that ends in one
        of them, a fitted search such as ``GridSearchCV`` over one, and a
        ``CalibratedClassifierCV`` around one, which keeps ``predict_proba``; so does an ``SVC``
        with ``probability=True``.
    n_points : int or None
        Maximum number of points to keep.
    max_error : float or None
        Alternatively, the maximum squared error of the functions, as a share of their squared
        length. Points whose move would exceed it stay where they are.
    X, y : validation data or None
        With neither of the two above, the result is the smallest model found whose score is at
        most ``max_loss`` worse than that of the full one. These data must be new to both. The
        thresholds of a support vector classifier are chosen again where rows left out of the
        choice say that it helps, and are judged on such rows.
    max_loss : float, default=0.005
        For a classifier, a bound for *new* rows of the same kind: what is compared is the upper
        end of a one-sided 95 % interval for the difference of the two accuracies, from the rows
        that only one of the two models has right [AgrestiMin2005]_. The smallest of many models
        looks better on these rows than it is, so that rather one compression in ten loses more
        (``python -m benchmarks --only compress-promise``); rows of another kind may lose more too.
        With few validation rows (below 327 for 0.005) even a model that loses none of them cannot
        show so little: there it must lose no more rows than it gains, and a warning says so.
        For other models, the difference of their scores on ``X``, as measured.
    select : {"least_squares", "matching"}, default="least_squares"
    points : {"auto", "kept", "moved"}, default="auto"
        "kept" leaves the chosen points where they are, as published; "moved" moves them to where
        the functions are approximated best, which takes seconds and needs a kernel of vectors with
        a gradient. "auto" moves them if possible.

    Returns
    -------
    A fitted model. Ours and pipelines are copies of the same class; a scikit-learn model
    becomes a compressed classifier, regressor or transformer with the same methods. It has
    ``n_points_``, the number of points kept, and ``compression_error_``.

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
    if n_points is None and max_error is None and (X is None or y is None):
        raise ValueError(
            "compress needs to know how small: give n_points, max_error, or validation data X, y."
        )
    check_choice(points, "points", "compress", ("auto", "kept", "moved"))
    if n_points is not None:
        check_int(n_points, "n_points", "compress", low=1)
    check_float(max_loss, "max_loss", "compress")
    request = CompressionRequest(n_points, max_error, select, points, max_loss)
    with one_pool():
        return _compress(estimator, request, X, y)


class CompressionRequest(NamedTuple):
    """How short the expansion should be."""

    n_points: int | None
    max_error: float | None
    select: str
    points: str
    max_loss: float

    @property
    def by_score(self) -> bool:
        """Whether validation data choose the size."""
        return self.n_points is None and self.max_error is None


def _compress(estimator: Any, request: CompressionRequest, X: Any, y: Any) -> Any:
    """Compress the part that holds an expansion, and put the rest around it again."""
    if isinstance(estimator, Pipeline):
        before, (name, last) = estimator.steps[:-1], estimator.steps[-1]
        inputs = X if X is None or not before else estimator[:-1].transform(X)
        small = _compress(last, request, inputs, y)
        return _replace_part(estimator, "steps", [*before, (name, small)], small)
    if isinstance(estimator, BaseSearchCV):
        check_is_fitted(estimator, "best_estimator_")
        small = _compress(estimator.best_estimator_, request, X, y)
        return _replace_part(estimator, "best_estimator_", small, small)
    if isinstance(estimator, CalibratedClassifierCV):
        return _compress_calibrated(estimator, request, X, y)
    return _shorten(_holder(estimator), estimator, request, X, y)


def _compress_calibrated(
    estimator: CalibratedClassifierCV, request: CompressionRequest, X: Any, y: Any
) -> Any:
    """Compress the classifiers inside and keep their calibration."""
    check_is_fitted(estimator, "calibrated_classifiers_")
    parts = []
    for part in estimator.calibrated_classifiers_:
        small = copy.copy(part)
        small.estimator = _compress(part.estimator, request, X, y)
        parts.append(small)
    model = copy.copy(estimator)
    model.calibrated_classifiers_ = parts
    found = [part.estimator for part in parts]
    return _record(
        model,
        max(small.n_points_ for small in found),
        max(small.compression_error_ for small in found),
    )


def _replace_part(whole: Any, name: str, part: Any, small: Any) -> Any:
    model = copy.copy(whole)
    setattr(model, name, part)
    return _record(model, small.n_points_, small.compression_error_)


def _record(model: Any, n_points: int, error: float) -> Any:
    model.n_points_, model.compression_error_ = n_points, error
    return model


def _holder(estimator: Any) -> Any:
    """The model itself if it holds an expansion, or a machine made from one of scikit-learn."""
    if isinstance(getattr(estimator, "expansion_", None), Expansion):
        return estimator
    if callable(getattr(estimator, "__sklearn_tags__", None)):
        check_is_fitted(estimator)
    machine = as_machine(estimator)
    if machine is None:
        raise TypeError(
            "compress takes a fitted model with an expansion_ (isthmus.kernels.Expansion) and "
            "with_expansion; SVC, NuSVC, SVR, NuSVR, KernelRidge, KernelPCA and "
            "GaussianProcessRegressor of scikit-learn; pipelines that end in one, searches over "
            "one and CalibratedClassifierCV around one. Got a fitted "
            f"{type(estimator).__name__} instead."
        )
    return machine


def _shorten(holder: Any, whole: Any, request: CompressionRequest, X: Any, y: Any) -> Any:
    """A copy of ``holder`` with a short expansion; ``whole`` scores the long one."""
    long = holder.expansion_
    if "pairwise" in long.kernel.provides:
        raise ValueError(
            f"{type(whole).__name__} was fitted on a Gram matrix and has no objects: use "
            "reduce_expansion on the matrix and the coefficients."
        )
    movable = request.points != "kept" and {"vectors", "gradient"} <= long.kernel.provides
    if request.points == "moved" and not movable:
        raise ValueError(
            "compress(points='moved') needs a kernel that compares vectors and has a gradient. "
            f"Got {long.kernel!r:.60}; use points='kept'."
        )
    if request.by_score and not hasattr(whole, "score"):
        raise ValueError(
            f"{type(whole).__name__} has no score by which validation data could choose a size: "
            "give n_points or max_error."
        )
    n = len(long.weights)
    size: dict[str, Any] = {"n_points": request.n_points, "max_error": request.max_error}
    if request.by_score:
        size = {"n_points": n, "max_error": 0.0}
    elif request.n_points is not None:
        size["n_points"] = min(request.n_points, n)
    some = take(long.objects, spread(n))
    check_gram(np.array(long.kernel.gram(some, some)), whole)
    gram = KernelGram(long.kernel, long.objects)
    path = reduce_expansion(gram, long.weights, select=request.select, **size)

    def model_at(n_points: int) -> tuple[Any, BoolArray | None]:
        reduced = path if n_points == len(path.indices) else path.at(n_points)
        short, error = _short_expansion(long, reduced, movable, request.max_error)
        model = _record(holder.with_expansion(short), len(reduced.indices), error)
        if X is not None and y is not None and isinstance(model, CompressedClassifier):
            return model, set_thresholds(model, X, y)
        return model, None

    if not request.by_score:
        return model_at(len(path.indices))[0]
    good = _allowance(whole, X, y, request.max_loss)
    return _smallest_good(len(path.indices), model_at, good)


def _short_expansion(
    long: Expansion, reduced: ReducedExpansion, movable: bool, max_error: float | None
) -> tuple[Expansion, float]:
    """The chosen points, moved if the functions then stay close enough, and the error."""
    Z, B, error = take(long.objects, reduced.indices), reduced.coefficients, reduced.error
    if movable and error > _EXACT:
        there, C, moved_error = move_points(long.kernel, long.objects, long.weights, Z)
        # Moved points are fitted to values; the functions themselves may then be farther off.
        if moved_error <= max(np.inf if max_error is None else max_error, error):
            Z, B, error = there, C, moved_error
    return long.over(Z, B.reshape(len(Z), -1)), error


def _allowance(whole: Any, X: Any, y: Any, max_loss: float) -> Callable[..., bool]:
    """Whether a model, and which rows it has right, is at most so much worse than ``whole``.

    A classifier is compared row by row, and by the upper end of an interval: the smallest of many
    models was chosen because it looked good on these rows.
    """
    if not (is_classifier(whole) and callable(getattr(whole, "predict", None))):
        full = whole.score(X, y)
        return lambda model, _: full - model.score(X, y) <= max_loss
    labels = np.asarray(y)
    before = np.asarray(whole.predict(X) == labels)
    least = upper_loss(before, before)
    if least > max_loss:
        warn(
            f"compress: {len(labels)} validation rows can show a loss of at most {least:.2g}, not "
            f"of max_loss={max_loss:g}. Give more rows or a larger max_loss.",
            UserWarning,
        )

    def good(model: Any, right: BoolArray | None) -> bool:
        after = np.asarray(model.predict(X) == labels) if right is None else right
        return upper_loss(before, after) <= max(max_loss, least)

    return good


def upper_loss(before: BoolArray, after: BoolArray) -> float:
    """Upper end of a one-sided interval for the accuracy lost between two models.

    Only rows that one model alone has right count; half a row is added to each of the four
    kinds, so that none lost is not taken for certainty [AgrestiMin2005]_.

    >>> import numpy as np
    >>> right = np.ones(1000, dtype=bool)
    >>> round(upper_loss(right, right), 5)
    0.00164
    """
    lost, gained = (0.5 + np.sum(a & ~b) for a, b in ((before, after), (after, before)))
    n, net = len(before) + 2, lost - gained
    spread = np.sqrt(lost + gained - net**2 / n)
    return float((net + CONFIDENT * spread) / n)


def _smallest_good(
    n: int,
    model_at: Callable[[int], tuple[Any, BoolArray | None]],
    good: Callable[[Any, BoolArray | None], bool],
) -> Any:
    """The model with the fewest of ``n`` points that is good enough."""
    # Scores along the path rise, if not strictly: double until good enough, then bisect.
    low, high = 0, 1
    while high < n and not good(*model_at(high)):
        low, high = high, min(2 * high, n)
    while high - low > 1:
        middle = (low + high) // 2
        if good(*model_at(middle)):
            high = middle
        else:
            low = middle
    return model_at(high)[0]
