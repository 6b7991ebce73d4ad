"""Slow feature analysis: what changes slowly is what matters."""

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils import check_array, check_random_state, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_choice, check_float, check_int, check_length, former_fit_kept
from isthmus.features.kernel_pca.estimator import KernelPCA
from isthmus.features.slow.episodes import (
    are_episodes,
    checked_episodes,
    concatenated,
    episodes_by_id,
    expanded,
    expanded_blocks,
    last_rows,
)
from isthmus.features.slow.formulas import (
    Roots,
    SlowAxes,
    class_roots,
    finish,
    forgotten,
    map_block,
    merge,
    target_roots,
)
from isthmus.features.slow.online import OnlineState
from isthmus.kernels.objects import check_objects, n_objects, take
from isthmus.kernels.resolve import as_kernel
from isthmus.typing import OBJECT_KINDS, Array, IntArray

GRAPHS = ("time", "classes", "target")


class SlowFeatureAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Instantaneous functions of a signal whose output varies as slowly as possible.

    Among functions :math:`g(x)=w^\top(\phi(x)-\bar\phi)` of an expansion :math:`\phi`, those
    with unit variance, uncorrelated with each other, and the least
    :math:`\Delta(g)=\langle(g(x_{t+1})-g(x_t))^2\rangle`: the smallest generalised
    eigenvalues of :math:`\dot Cw=\Delta Cw`, with the covariances of the signal and of
    its differences [Wiskott2002]_.

    Parameters
    ----------
    n_components : int or None, default=None
        How many features, slowest first; None keeps all.
    expansion : int, kernel or name of a kernel, default=1
        An int is the degree of the monomials that are the inputs' expansion: 1 is linear, 2
        quadratic. A kernel makes features of the objects it compares, through landmarks.
    lag : int or sequence of int, default=1
        Over how many steps a difference is taken; of several, :math:`\Delta` is the mean.
    graph : {"time", "classes", "target"}, default="time"
        What is to be near what. "time" ignores ``y``. "classes" joins all rows of a
        class, which is linear discriminant analysis of the expansion. "target" joins
        rows that are neighbours in the order of ``y``.
    method : {"exact", "online"}, default="exact"
        "exact" keeps square roots of the two covariances, in a stream as well: O(K²) numbers
        for K expanded inputs. "online" is the published way without covariances (CCIPCA and
        minor components): O(K n_whitened) numbers, many passes, approximate.
    ridge : float or "auto", default="auto"
        Penalty on the length of :math:`w`, as a share of the mean variance. "auto" is 0 for
        monomials and 1e-6 for kernels.
    rcond : float or "auto", default="auto"
        Directions with less than this share of the largest standard deviation are left out.
        "auto" is 1e-10 for ``expansion=1``, otherwise 1e-7.
    n_landmarks : int, default=200
        With a kernel, so many training objects span the functions.
    forgetting : float in (0, 1], default=1.0
        Weight of the past at each further row, in :meth:`partial_fit` of the exact method.
    learning_rate : float, default=0.01
        Of the minor components of the online method.
    n_whitened : int or None, default=None
        Principal directions that the online method keeps; None is all.
    n_passes : int, default=10
        How often :meth:`fit` of the online method goes over the data.
    random_state : int, RandomState or None
        Draws the landmarks, and the start of the online method.

    Attributes
    ----------
    slowness_ : ndarray of shape (n_components,)
        :math:`\Delta` of each feature on the training signal, ascending. White noise has 2.
    components_ : ndarray of shape (n_components, n_expanded)
    mean_ : ndarray of shape (n_expanded,)
    expander_ : the fitted expansion, or None where it is linear.
    n_components_ : int
    rank_ : int
        Number of directions in which the expanded signal varies.

    See Also
    --------
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : ``graph="classes"``, linear.

    Notes
    -----
    With as many independent functions as rows the answer is a cosine whatever the data. The
    estimator warns of it; believe :meth:`slowness` on data that was not trained on.

    Examples
    --------
    A slow sine hides in two fast signals; the quadratic function that finds it is
    :math:`x_1-x_2^2`.

    >>> import numpy as np
    >>> from isthmus.features import SlowFeatureAnalysis
    >>> t = np.linspace(0, 2 * np.pi, 2000)
    >>> X = np.column_stack([np.sin(t) + np.cos(11 * t) ** 2, np.cos(11 * t)])
    >>> slowest = SlowFeatureAnalysis(1, expansion=2).fit_transform(X)[:, 0]
    >>> round(float(abs(np.corrcoef(slowest, np.sin(t))[0, 1])), 6)
    1.0
    """

    __module__ = "isthmus.features"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        expansion: Any = 1,
        lag: Any = 1,
        graph: str = "time",
        method: str = "exact",
        ridge: Any = "auto",
        rcond: Any = "auto",
        n_landmarks: int = 200,
        forgetting: float = 1.0,
        learning_rate: float = 0.01,
        n_whitened: int | None = None,
        n_passes: int = 10,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.expansion = expansion
        self.lag = lag
        self.graph = graph
        self.method = method
        self.ridge = ridge
        self.rcond = rcond
        self.n_landmarks = n_landmarks
        self.forgetting = forgetting
        self.learning_rate = learning_rate
        self.n_whitened = n_whitened
        self.n_passes = n_passes
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = self.graph != "time"
        return tags

    @property
    def provides(self) -> frozenset[str]:
        """Coordinates; by a kernel of whatever it compares."""
        words = {"transform"} if self.graph == "time" else {"transform", "supervised"}
        if isinstance(self.expansion, Integral):
            return frozenset(words | {"vectors"})
        return frozenset(words) | (as_kernel(self.expansion).provides & OBJECT_KINDS)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    # Fitting ------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, episodes: Any = None) -> "SlowFeatureAnalysis":
        """Learn the slow features; return self.

        Parameters
        ----------
        X : array of shape (n_steps, n_features), or a list of such arrays, one an episode
            With a kernel, any collection of objects in the order of time.
        y : labels or targets of the rows, for the graphs that need them.
        episodes : array of shape (n_steps,) or None
            Which episode a row belongs to; no difference is taken where it changes.
        """
        return self._fit(X, y, episodes, check_int(self.n_passes, "n_passes", self, low=1))

    def _fit(self, X: Any, y: Any, episodes: Any, n_passes: int) -> "SlowFeatureAnalysis":
        settings = self._settings()
        with former_fit_kept(self):
            pieces = self._episodes(X, episodes, reset=True)
            if self.graph != "time" and len(pieces) > 1:
                raise ValueError(
                    f"SlowFeatureAnalysis(graph={self.graph!r}) joins rows by y and knows no "
                    f"episodes: expected one table. Got {len(pieces)} episodes instead."
                )
            expansion = self._fitted_expansion(pieces)
            if self.graph != "time":
                roots, state = self._graph_roots(expanded(expansion, pieces[0]), y), None
            elif self.method == "exact":
                roots, state = self._time_roots(expansion, pieces, settings["lags"]), None
            else:
                roots, state = None, self._online_state(expansion, pieces, settings, n_passes)
            self._set(expansion, roots, state, settings)
        if self.graph == "time":
            end = last_rows(pieces[-1], max(settings["lags"]))
            self._tail = expanded(expansion, end).copy()
        return self

    @available_if(lambda self: self.graph == "time")
    def partial_fit(
        self, X: Any, y: Any = None, *, new_episode: bool = False
    ) -> "SlowFeatureAnalysis":
        """Learn from the next rows of the signal; return self. There with ``graph="time"``.

        The rows go on where the last ones ended, unless ``new_episode`` says that they do not.
        A kernel takes its landmarks from the first block.
        """
        if not hasattr(self, "_tail"):
            return self._fit(X, None, None, 1)
        settings = self._settings()
        lags = settings["lags"]
        (piece,) = self._episodes(X, None, reset=False, single=True)
        tail = self._tail[:0] if new_episode else self._tail
        Phi = np.vstack([tail, expanded(self.expander_, piece)])
        roots, state = self._roots, self._state
        if roots is not None:
            past = forgotten(roots, self.forgetting ** n_objects(piece))
            roots = merge(past, map_block(Phi, lags, overlap=len(tail)))
        else:
            starts = np.zeros(n_objects(piece), dtype=bool)
            starts[0] = new_episode
            assert state is not None  # of the two methods one was fitted
            state = state.copy()
            state.update(Phi[len(tail) :], starts, rate=self.learning_rate, rcond=settings["rcond"])
        self._set(self.expander_, roots, state, settings)
        self._tail = last_rows(Phi, max(lags)).copy()
        return self

    def _settings(self) -> dict[str, Any]:
        """The parameters, checked and with their defaults filled in."""
        check_choice(self.graph, "graph", self, GRAPHS)
        check_choice(self.method, "method", self, ("exact", "online"))
        linear = (
            isinstance(self.expansion, Integral)
            and check_int(self.expansion, "expansion", self, low=1) == 1
        )
        kernel = not isinstance(self.expansion, Integral)
        check_float(self.forgetting, "forgetting", self, low=0.0, high=1.0, include_low=False)
        check_float(self.learning_rate, "learning_rate", self, low=0.0, high=1.0, include_low=False)
        lags: list[Any] = list(self.lag) if np.iterable(self.lag) else [self.lag]
        whole = all(
            isinstance(v, Integral) and not isinstance(v, bool) and int(v) >= 1 for v in lags
        )
        if not len(lags) or not whole:
            raise ValueError(
                "The 'lag' parameter of SlowFeatureAnalysis must be an int in [1, inf) or a "
                f"sequence of such. Got {self.lag!r} instead."
            )
        if self.method == "online" and (lags != [1] or self.graph != "time"):
            raise ValueError(
                "SlowFeatureAnalysis(method='online') compares each row with the one before it: "
                f"expected lag=1 and graph='time'. Got lag={self.lag!r}, graph={self.graph!r}."
            )
        return {
            "lags": [int(v) for v in lags],
            "ridge": (1e-6 if kernel else 0.0)
            if isinstance(self.ridge, str) and self.ridge == "auto"
            else check_float(self.ridge, "ridge", self),
            "rcond": (1e-10 if linear else 1e-7)
            if isinstance(self.rcond, str) and self.rcond == "auto"
            else check_float(self.rcond, "rcond", self, high=1.0),
            "scaled": not kernel,
        }

    def _episodes(self, X: Any, ids: Any, *, reset: bool, single: bool = False) -> list[Any]:
        """The episodes of ``X``, checked, each a collection of rows or objects."""
        name = type(self).__name__
        if are_episodes(X) and not single:
            if ids is not None:
                raise ValueError(f"{name} got a list of episodes and ids of episodes: give one.")
            return checked_episodes(self, X, reset=reset)
        if isinstance(self.expansion, Integral):
            X = validate_data(
                self, X, dtype=[np.float64, np.float32], reset=reset, ensure_min_samples=1
            )
        else:
            X = check_objects(self, X, as_kernel(self.expansion), reset=reset)
        if ids is None:
            return [X]
        check_length(self, n_objects(X), len(ids), what="ids of episodes as rows")
        return episodes_by_id(X, np.asarray(ids))

    def _fitted_expansion(self, pieces: list[Any]) -> Any:
        if not isinstance(self.expansion, Integral):
            low = check_int(self.n_landmarks, "n_landmarks", self, low=1)
            objects = pieces[0] if len(pieces) == 1 else concatenated(pieces)
            return KernelPCA(
                kernel=self.expansion,
                n_landmarks=min(low, n_objects(objects)),
                random_state=self.random_state,
            ).fit(objects)
        if self.expansion == 1:
            return None
        return PolynomialFeatures(int(self.expansion), include_bias=False).fit(pieces[0][:1])

    def _time_roots(self, expansion: Any, pieces: list[Any], lags: list[int]) -> Roots:
        total: Roots | None = None
        for piece in pieces:
            tail: Array | None = None
            for Phi in expanded_blocks(expansion, piece):
                overlap = 0 if tail is None else len(tail)
                rows = Phi if tail is None else np.vstack([tail, Phi])
                block = map_block(rows, lags, overlap=overlap)
                total = block if total is None else merge(total, block)
                tail = last_rows(rows, max(lags))
        assert total is not None  # there is at least one episode with a row
        for lag, count in zip(lags, total.counts, strict=True):
            if not count:
                longest = max(n_objects(piece) for piece in pieces)
                raise ValueError(
                    f"SlowFeatureAnalysis takes differences over lag = {lag} rows: expected an "
                    f"episode of at least {lag + 1} rows. Got n_samples = {longest} in the longest."
                )
        return total

    def _graph_roots(self, Phi: Array, y: Any) -> Roots:
        if y is None:
            raise ValueError(
                f"SlowFeatureAnalysis(graph={self.graph!r}) requires y to be passed, but the "
                "target y is None."
            )
        y = column_or_1d(y, warn=True)
        check_length(self, len(Phi), len(y), what="targets as rows")
        if self.graph == "classes":
            check_classification_targets(y)
        else:
            y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y", estimator=self)
        values, groups = np.unique(y, return_inverse=True)
        if len(values) < 2:
            raise ValueError(
                f"SlowFeatureAnalysis(graph={self.graph!r}) needs at least 2 different values in "
                f"y: expected some that differ. Got {len(values)} class, {values[0]!r}."
            )
        build: Callable[[Array, IntArray], Roots]
        build = class_roots if self.graph == "classes" else target_roots
        return build(Phi, groups)

    def _online_state(
        self, expansion: Any, pieces: list[Any], settings: dict[str, Any], n_passes: int
    ) -> OnlineState:
        rng = check_random_state(self.random_state)
        n_inputs = expanded(expansion, take(pieces[0], slice(0, 1))).shape[1]
        n_whitened = n_inputs
        if self.n_whitened is not None:
            n_whitened = check_int(
                self.n_whitened, "n_whitened", self, low=1, high=n_inputs, why="expanded inputs"
            )
        n_components = n_whitened
        if self.n_components is not None:
            n_components = check_int(
                self.n_components, "n_components", self, low=1, high=n_whitened, why="whitened"
            )
        state = OnlineState.new(n_inputs, n_whitened, n_components, rng)
        for _ in range(n_passes):
            for piece in pieces:
                first = True
                for Phi in expanded_blocks(expansion, piece):
                    starts = np.zeros(len(Phi), dtype=bool)
                    starts[0] = first
                    first = False
                    state.update(Phi, starts, rate=self.learning_rate, rcond=settings["rcond"])
        return state

    def _set(
        self, expansion: Any, roots: Roots | None, state: OnlineState | None, settings: Any
    ) -> None:
        """Find the axes and keep everything; nothing is changed if that fails."""
        keys = ("rcond", "ridge", "scaled")
        if roots is not None:
            found = finish(roots, **{key: settings[key] for key in keys})
        else:
            assert state is not None
            found = state.axes(settings["rcond"])
        if found.rank == 0:
            raise ValueError(
                "SlowFeatureAnalysis found no variance: expected a signal that changes. Got "
                "constant columns only, n_samples = 1 or the like."
            )
        n = found.rank if roots is not None else found.axes.shape[1]
        if self.n_components is not None:
            n = check_int(
                self.n_components,
                "n_components",
                self,
                low=1,
                high=n,
                why="rank of the expanded signal",
            )
        if roots is not None and self.graph == "time" and not settings["ridge"]:
            _warn_of_too_many_functions(found, roots)
        self.expander_ = expansion
        self._roots, self._state = roots, state
        self.mean_, self.rank_ = found.mean, found.rank
        # In one piece, as it comes back from disk: products then round the same.
        self.components_ = np.ascontiguousarray(found.axes[:, :n].T)
        self.slowness_ = found.slowness[:n]
        self.patterns_ = found.patterns[:n]
        self.n_components_ = n

    # Use ----------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Return the slow features of each row, ``(n, n_components_)``; of a list, a list."""
        check_is_fitted(self)
        pieces = self._episodes(X, None, reset=False)
        features = [self._features(piece) for piece in pieces]
        return features if are_episodes(X) else features[0]

    def _features(self, piece: Any) -> Array:
        dtype = getattr(piece, "dtype", np.float64)
        axes = self.components_.T.astype(dtype, copy=False)
        offset = (self.mean_ @ self.components_.T).astype(dtype, copy=False)
        parts = [Phi @ axes - offset for Phi in expanded_blocks(self.expander_, piece, dtype=dtype)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    @available_if(lambda self: isinstance(self.expansion, Integral) and self.expansion == 1)
    def inverse_transform(self, X: Any) -> Array:
        """Return the inputs that linear features speak for: the best linear guess."""
        check_is_fitted(self)
        X = check_array(X, dtype=[np.float64, np.float32], estimator=self)
        if X.shape[1] != self.n_components_:
            raise ValueError(
                f"SlowFeatureAnalysis has {self.n_components_} features: expected an array of "
                f"shape (n, {self.n_components_}). Got shape {X.shape} instead."
            )
        return X @ self.patterns_.astype(X.dtype) + self.mean_.astype(X.dtype)

    def slowness(self, X: Any, *, episodes: Any = None) -> Array:
        r"""Return :math:`\Delta` of each feature on the signal ``X``, in units of its variance.

        On new data this says whether a feature is slow, or was only slow in training.
        """
        check_is_fitted(self)
        lags = self._settings()["lags"]
        features = [self._features(p) for p in self._episodes(X, episodes, reset=False)]
        changes = []
        for lag in lags:
            steps = [f[lag:] - f[:-lag] for f in features if len(f) > lag]
            if not steps:
                raise ValueError(
                    f"SlowFeatureAnalysis.slowness takes differences over lag = {lag} rows: "
                    f"expected an episode of at least {lag + 1} rows. Got none."
                )
            changes.append(np.mean(np.concatenate(steps) ** 2, axis=0))
        variances = np.var(np.concatenate(features), axis=0)
        ratio = np.full(len(variances), np.nan)
        return np.divide(np.mean(changes, axis=0), variances, out=ratio, where=variances > 0)

    def score(self, X: Any, y: Any = None, *, episodes: Any = None) -> float:
        """Return the negative mean :meth:`slowness`, so that more is better."""
        return -float(np.mean(self.slowness(X, episodes=episodes)))


def _warn_of_too_many_functions(found: SlowAxes, roots: Roots) -> None:
    rows = roots.level[0, 0] ** 2
    if found.rank > rows / 10:
        warnings.warn(
            f"SlowFeatureAnalysis has {found.rank} independent functions for {rows:.0f} rows: with "
            "more than a tenth as many, slow outputs can be had from any data. Use fewer inputs, "
            "a lower degree or a ridge, and look at slowness() on other data.",
            UserWarning,
            stacklevel=4,
        )
