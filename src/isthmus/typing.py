"""The contracts of the square: which parts fit which slot, what they offer and what they need.

A part declares what it can do, on the unfitted instance, as a set of words: ``provides``. A part
that works with another declares what it asks of it: ``needs``. Both are words of
:data:`CAPABILITIES`; :func:`missing` compares them and :func:`require` refuses with the words that
are missing. Nothing else decides whether a part fits a slot: neither its class nor an attribute
that happens to have the right name. A class that is written to one of the protocols below works in
every slot that asks for no more; ``isthmus.testing`` checks it.
"""

from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
# What a kernel compares: a 2-D array, a list of strings, of series, of graphs.
Objects: TypeAlias = Any

#: Words for what a part can do, with what an error message says of them.
CAPABILITIES = {
    # feature maps
    "transform": "coordinates of new objects (a method transform)",
    "inverse": "objects from coordinates (a method inverse_transform)",
    "expansion": "axes and an origin as expansions over objects (axes_, origin_, expand)",
    "supervised": "outputs to learn from (fit(X, y))",
    "crossfit": "left-out coordinates of its training objects (a parameter crossfit)",
    "embedding": "coordinates it found for some training rows (embedding_ and rows_)",
    "posterior": "latent points that are probable, not nearest (methods responsibilities, "
    "score_samples)",
    # kernels, and feature maps with such a kernel
    "vectors": "objects that are rows of numbers",
    "objects": "objects that need not be rows of numbers",
    "pairwise": "objects given as rows of a Gram matrix",
    "sequences": "objects that are sequences of symbols",
    "series": "objects that are time series",
    "graphs": "objects that are labelled graphs",
    "gradient": "a kernel with a gradient with respect to its first argument",
    "radial": "a kernel that depends on the distance of two vectors alone",
    "stationary": "a kernel that depends on the difference of two vectors alone",
    "distances": "a kernel from whose values the distances of vectors follow",
    "inner_product": "a kernel f(x'z) with an invertible f",
    "linear": "the linear kernel",
    "explicit": "explicit features whose inner product is the kernel",
    "sparse": "sparse rows that are not made dense",
    # regressors
    "predict": "predictions (a method predict)",
    "several_outputs": "several outputs at once",
    "settled": "an unfitted copy with its choices fixed (a method settled)",
    "left_out": "predictions of rows left out in folds, with the fit (a method fit_left_out)",
    "weights": "weights over the training outputs (methods smooth and weights)",
    # pre-images
    "solve": "objects for coordinates (a method solve)",
    "learned": "a fit on pairs of coordinates and objects",
}

#: Words that say what an object is.
OBJECT_KINDS = frozenset({"vectors", "objects", "pairwise", "sequences", "series", "graphs"})


class Kernel(Protocol):
    """Similarity of objects; :class:`isthmus.kernels.Kernel` is the base that ours share."""

    @property
    def provides(self) -> frozenset[str]: ...

    def __call__(self, X: Objects, Z: Objects = None) -> Array: ...

    def gram(self, X: Objects, Z: Objects) -> Array: ...

    def diag(self, X: Objects) -> Array: ...


class FeatureMap(Protocol):
    """φ: objects to coordinates. A supervised one is given the coordinates of the outputs."""

    def fit(self, X: Objects, y: Any = None) -> Any: ...

    def transform(self, X: Objects) -> Array: ...


class KernelFeatureMap(FeatureMap, Protocol):
    """A feature map whose points are expansions over its objects; provides ``"expansion"``.

    ``axes_`` and ``origin_`` are :class:`isthmus.kernels.Expansion` over one set of objects:
    calling ``axes_`` on objects gives their coordinates. ``axes_gram_`` holds the inner products
    of the axes, or None where they are orthonormal. ``expand`` turns coordinates (n, r) into
    weights over the objects (n, n_objects).
    """

    axes_: Any
    origin_: Any
    axes_gram_: Array | None

    def expand(self, coordinates: Array) -> Array: ...


class Smoother(Protocol):
    """T that is linear in the training outputs; provides ``"weights"``.

    ``smooth(X, G)`` applies the weights to any columns ``G`` (n_train, p); ``weights(X)`` are the
    weights themselves, (n, n_train). ``sums_to_one`` says whether each row of them does.
    """

    sums_to_one: bool

    def smooth(self, X: Objects, G: Array) -> Array: ...

    def weights(self, X: Objects) -> Array: ...


class LeavesOut(Protocol):
    """T that predicts its training rows without their outputs; provides ``"left_out"``.

    ``fit_left_out(X, y, n_folds)`` returns the regressor, fitted on all rows, and a prediction of
    every row by a fit without its fold, of the shape of ``y``. Kernel and penalty may be those of
    all rows; then it provides ``"settled"`` too.
    """

    def fit(self, X: Objects, y: Any) -> Any: ...

    def predict(self, X: Objects) -> Array: ...

    def fit_left_out(self, X: Objects, y: Any, n_folds: int) -> tuple[Any, Array]: ...


class Preimage(Protocol):
    """Γ: coordinates to objects. ``needs`` says what it asks of the feature map.

    One that needs ``"weights"`` is given, in place of coordinates, the weights of a smoother over
    the training outputs.
    """

    @property
    def needs(self) -> frozenset[str]: ...

    def fit(self, objects: Objects, feature_map: Any, coordinates: Array | None = None) -> Any: ...

    def solve(self, coordinates: Array, start: Objects = None) -> Objects: ...

    def objective(self, coordinates: Array, objects: Objects) -> Array: ...


class LatentMap(Protocol):
    """φ and Γ at once; :class:`isthmus.manifold.BaseLatentMap` derives every verb from this.

    ``evaluate(Z, jacobian)`` returns an object with ``values`` (n, d), ``jacobian`` (n, d, q) or
    None, and ``feasible`` (n,), which says where projections may end. ``domain`` is an
    :class:`isthmus.manifold.Domain`; ``starts()`` are latent points and their images.
    """

    @property
    def domain(self) -> Any: ...

    def evaluate(self, Z: Array, jacobian: bool = False) -> Any: ...

    def starts(self) -> tuple[Array, Array]: ...


class Loss(Protocol):
    """What residuals cost: value and slope; :class:`isthmus.losses.Loss` is the base of ours."""

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]: ...


class TaskLoss(Protocol):
    """What an answer costs; :class:`isthmus.losses.TaskLoss` is the base of ours.

    ``cost(Y, Z)`` (n, m) is the cost of answering ``Y[i]`` where ``Z[j]`` is right.
    ``decode(weights, outputs)`` gives the answers of least weighted cost for rows of weights over
    training outputs; where it is an :class:`isthmus.losses.Decoded`, it says which are proved best.
    """

    def cost(self, Y: Objects, Z: Objects) -> Array: ...

    def decode(self, weights: Any, outputs: Any) -> Any: ...


class HoldsExpansion(Protocol):
    """A fitted machine whose functions are linear in features: what ``compress`` shortens."""

    expansion_: Any

    def with_expansion(self, expansion: Any) -> Any: ...


def provides(part: Any) -> frozenset[str]:
    """What a part offers: what it declares, or what scikit-learn's contract says of it.

    >>> from sklearn.preprocessing import StandardScaler
    >>> sorted(provides(StandardScaler()))
    ['inverse', 'transform']
    >>> class Lookalike:
    ...     expand = 3
    >>> sorted(provides(Lookalike()))
    []
    """
    declared = getattr(part, "provides", None)
    if declared is not None and not callable(declared):
        return _words(part, "provides", declared)
    steps = _steps(part)
    if steps:
        return _provides_of_chain(part, steps)
    found = {
        word
        for word, method in (
            ("transform", "transform"),
            ("inverse", "inverse_transform"),
            ("predict", "predict"),
            ("solve", "solve"),
        )
        if callable(getattr(part, method, None))
    }
    tags = _tags(part)
    # What predicts as well has learned from outputs, whether it insists on them or not.
    if "transform" in found and tags is not None:
        predicts = tags.estimator_type in ("regressor", "classifier")
        found |= {"supervised"} if predicts or tags.target_tags.required else set()
    if "predict" in found and (tags is None or tags.target_tags.multi_output):
        found.add("several_outputs")
    return frozenset(found)


def needs(part: Any) -> frozenset[str]:
    """What a part asks of the one it works with; nothing where it does not say."""
    declared = getattr(part, "needs", None)
    if declared is None or callable(declared):
        return frozenset()
    return _words(part, "needs", declared)


def missing(asked: Iterable[str], offered: Iterable[str]) -> list[str]:
    """The words asked for that are not offered, in alphabetical order."""
    return sorted(set(asked) - set(offered))


def require(part: Any, offered: Iterable[str], *, of: str, hint: str = "") -> None:
    """Refuse ``of``, which offers ``offered``, where it has not all that ``part`` needs."""
    lacking = missing(needs(part), offered)
    if lacking:
        words = "; ".join(f"{word!r}, that is, {CAPABILITIES[word]}" for word in lacking)
        message = f"{type(part).__name__} cannot use {of}, which does not provide {words}."
        raise TypeError(f"{message} {hint}".rstrip())


def _provides_of_chain(part: Any, steps: list[Any]) -> frozenset[str]:
    """A pipeline offers what its last step does, of the objects that its first one takes."""
    every = [provides(step) for step in steps]
    found = every[-1] & {"transform", "predict", "several_outputs", "weights"}
    if all("inverse" in words for words in every):
        found |= {"inverse"}
    if any("supervised" in words for words in every):
        found |= {"supervised"}
    return found | (every[0] & OBJECT_KINDS)


def _steps(part: Any) -> list[Any]:
    """The parts of a scikit-learn pipeline, without those that do nothing."""
    steps = getattr(part, "steps", None)
    if not isinstance(steps, list) or not all(isinstance(s, tuple) and len(s) == 2 for s in steps):
        return []
    return [step for _, step in steps if step is not None and not isinstance(step, str)]


def _tags(part: Any) -> Any:
    """What scikit-learn's contract says of an estimator; None where it says nothing."""
    tags = getattr(part, "__sklearn_tags__", None)
    return tags() if callable(tags) and not isinstance(part, type) else None


def _words(part: Any, name: str, declared: Any) -> frozenset[str]:
    if isinstance(declared, str) or not isinstance(declared, Iterable):
        raise TypeError(
            f"{type(part).__name__}.{name} must be a set of words. Got {declared!r:.60} instead."
        )
    words = frozenset(declared)
    unknown = sorted(str(word) for word in words if word not in CAPABILITIES)
    if unknown:
        raise ValueError(
            f"{type(part).__name__}.{name} has unknown words: {', '.join(unknown)}. "
            f"Known: {', '.join(CAPABILITIES)}."
        )
    return words
