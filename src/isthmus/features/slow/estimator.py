"""Slow feature analysis: what changes slowly is what matters."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_int, check_length
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, choice, integer, none, real, seed, several
from isthmus.blocks.fitting import open_fit, refuse_blocks
from isthmus.features.components.base import is_alike, is_finite
from isthmus.features.slow.episodes import (
    are_episodes,
    check_episodes,
    episodes_by_id,
    join_episodes,
    last_rows,
    slowness_of,
)
from isthmus.features.slow.expander import expand, expand_blocks, fit_expander
from isthmus.features.slow.in_blocks import expander_in_blocks, signal_roots
from isthmus.features.slow.neighborhoods import graph_roots, time_roots
from isthmus.features.slow.online import new_state
from isthmus.features.slow.settings import (
    check_settings,
)
from isthmus.features.slow.stream import Stream
from isthmus.kernels.objects import check_objects, n_objects
from isthmus.kernels.resolve import A_KERNEL, as_kernel, kernel_parameter
from isthmus.typing import OBJECT_KINDS, Array


class SlowFeatureAnalysis(Stream, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    r"""Functions of single rows of a signal whose values change as slowly as possible.

    Among functions :math:`g(x)=w^\top(\phi(x)-\bar\phi)` of an expansion :math:`\phi`, it finds
    those with unit variance, uncorrelated with each other, and the smallest
    :math:`\Delta(g)=\langle(g(x_{t+1})-g(x_t))^2\rangle`: the smallest generalised
    eigenvalues of :math:`\dot Cw=\Delta Cw`, with the covariances of the signal and of
    its differences [Wiskott2002]_.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of features, slowest first; None keeps all.
    expansion : int, kernel or name of a kernel, default=1
        An int is the degree of the monomials of the inputs: 1 is linear, 2 quadratic. A kernel
        makes features of the objects it compares, through landmarks.
    lag : int or sequence of int, default=1
        Number of steps over which a difference is taken; for several, :math:`\Delta` is the mean.
    graph : {"time", "classes", "target"}, default="time"
        Which rows should get similar features. "time" joins successive rows and ignores ``y``.
        "classes" joins all rows of a class, which is linear discriminant analysis of the
        expansion. "target" joins rows that are neighbours in the order of ``y``.
    solver : {"exact", "online"}, default="exact"
        "exact" keeps square roots of the two covariances, also in a stream: O(K²) numbers for K
        expanded inputs. "online" is the published method without covariances (CCIPCA and minor
        components): O(K n_whitened) numbers, many passes, approximate.
    alpha : float or "auto", default="auto"
        Penalty on the length of :math:`w`, as a share of the mean variance. "auto" is 0 for
        monomials, as published, and 1e-6 for kernels, whose functions would overfit without.
    rcond : float or "auto", default="auto"
        Directions with less than this share of the largest standard deviation are left out.
        "auto" is 1e-10 for ``expansion=1``, otherwise 1e-7: near the rounding error, so that no
        slow but weak direction is lost (deeptime's ``TICA`` cuts variances below 1e-6).
    n_landmarks : int, default=200
        With a kernel, the number of training objects that span the functions.
    forgetting : float in (0, 1], default=1.0
        Factor by which each further row reduces the weight of the past, in :meth:`partial_fit` of
        the exact solver.
    learning_rate : float, default=0.01
        Learning rate of the minor components of the online solver.
    n_whitened : int or None, default=None
        Number of principal directions that the online solver keeps; None keeps all.
    max_iter : int, default=10
        Number of passes over the data in :meth:`fit` of the online solver.
    random_state : int, RandomState or None
        Draws the landmarks and the start of the online solver.

    Attributes
    ----------
    slowness_ : ndarray of shape (n_components,)
        :math:`\Delta` of each feature on the training signal, ascending. White noise has 2.
    components_ : ndarray of shape (n_components, n_expanded)
    mean_ : ndarray of shape (n_expanded,)
    expander_ : the fitted expansion, or None if it is linear.
    n_components_ : int
    rank_ : int
        Number of directions in which the expanded signal varies.
    n_iter_ : int
        Number of passes over the signal.

    See Also
    --------
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : ``graph="classes"``, linear.

    Notes
    -----
    With as many independent functions as rows, the result is a cosine whatever the data. The
    estimator warns about this; trust :meth:`slowness` on data it was not trained on.

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

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1) | none,
        "expansion": integer(1) | A_KERNEL,
        "lag": integer(1) | several(integer(1)),
        "graph": choice("time", "classes", "target"),
        "solver": choice("exact", "online"),
        "alpha": real(0) | choice("auto"),
        "rcond": real(0, 1) | choice("auto"),
        "n_landmarks": integer(1),
        "forgetting": real(0, 1, include_low=False),
        "learning_rate": real(0, 1, include_low=False),
        "n_whitened": integer(1) | none,
        "max_iter": integer(1),
        "random_state": seed,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        expansion: Any = 1,
        lag: Any = 1,
        graph: str = "time",
        solver: str = "exact",
        alpha: Any = "auto",
        rcond: Any = "auto",
        n_landmarks: int = 200,
        forgetting: float = 1.0,
        learning_rate: float = 0.01,
        n_whitened: int | None = None,
        max_iter: int = 10,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.expansion = expansion
        self.lag = lag
        self.graph = graph
        self.solver = solver
        self.alpha = alpha
        self.rcond = rcond
        self.n_landmarks = n_landmarks
        self.forgetting = forgetting
        self.learning_rate = learning_rate
        self.n_whitened = n_whitened
        self.max_iter = max_iter
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = self.graph != "time"
        return tags

    @property
    def provides(self) -> frozenset[str]:
        """Coordinates; with a kernel, of whatever it compares. Linear ones can be inverted."""
        words = {"transform"} if self.graph == "time" else {"transform", "supervised"}
        if isinstance(self.expansion, Integral):
            return frozenset(words | {"vectors"} | ({"inverse"} if self.expansion == 1 else set()))
        return frozenset(words) | (as_kernel(self.expansion).provides & OBJECT_KINDS)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    # Fitting ------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, episodes: Any = None) -> "SlowFeatureAnalysis":
        """Learn the slow features; return self.

        Parameters
        ----------
        X : array of shape (n_steps, n_features), or a list of such arrays, one per episode
            With a kernel, any collection of objects in the order of time.
        y : labels or targets of the rows, for the graphs that need them.
        episodes : array of shape (n_steps,) or None
            The episode each row belongs to; no difference is taken where it changes.
        """
        return self._fit(X, y, episodes, check_int(self.max_iter, "max_iter", self, low=1))

    def _fit(
        self, X: Any, y: Any, ids: Any, n_passes: int, *, later: bool = False
    ) -> "SlowFeatureAnalysis":
        settings = check_settings(self)
        episodes = self._episodes(X, ids, reset=True)
        if self.graph != "time" and len(episodes) > 1:
            raise ValueError(
                f"SlowFeatureAnalysis(graph={self.graph!r}) joins rows by y and takes no "
                f"episodes: expected one table. Got {len(episodes)} episodes instead."
            )
        expander = self._fit_expander(episodes)
        roots, state = None, None
        if self.graph != "time":
            roots = graph_roots(self, expand(expander, episodes[0]), y)
        elif self.solver == "exact":
            roots = time_roots(expander, episodes, settings.lags)
        else:
            state = new_state(self, expander, episodes[0])
            control = {"rate": self.learning_rate, "rcond": settings.rcond}
            for _ in range(n_passes):
                state.update_by_episodes(expander, episodes, **control)
        self._store(expander, roots, state, settings, later=later and self.graph == "time")
        self.n_iter_ = 1 if state is None else n_passes
        if self.graph == "time":
            end = last_rows(episodes[-1], max(settings.lags))
            self._tail = expand(expander, end).copy()
        return self

    def _fit_blocks(self, X: Any, y: Any = None, *, episodes: Any = None) -> "SlowFeatureAnalysis":
        """The same, of a signal that comes in blocks."""
        settings = check_settings(self)
        if self.graph != "time" or self.solver != "exact":
            refuse_blocks(
                self,
                f"graph={self.graph!r} with solver={self.solver!r} has no sum over blocks",
                instead='graph="time" with solver="exact"',
            )
        rows = open_fit(self, X, episodes, names=("X", "episodes"), raw=("episodes",))
        expander = expander_in_blocks(self, rows, X)
        roots, self._tail = signal_roots(rows, expander, settings.lags)
        self._store(expander, roots, None, settings)
        self.n_iter_ = 1
        return self

    @available_if(lambda self: self.graph == "time")
    def partial_fit(
        self, X: Any, y: Any = None, *, new_episode: bool = False
    ) -> "SlowFeatureAnalysis":
        """Learn from the next rows of the signal; return self. Only with ``graph="time"``.

        The rows continue the previous ones, unless ``new_episode`` says that they do not. A kernel
        takes its landmarks from the first block.
        """
        if not hasattr(self, "_tail"):
            return self._fit(X, None, None, 1, later=True)
        settings = check_settings(self)
        plain = self.expander_ is None and is_alike(self, X)
        sums = self._roots is not None and not new_episode
        if plain and sums and self._sum(X, settings):
            return self
        block = (
            X if plain and is_finite(X) else self._episodes(X, None, reset=False, single=True)[0]
        )
        Phi = expand(self.expander_, block)
        if self._roots is not None:
            if plain or not sums or not self._sum(Phi, settings):
                self._add(Phi, settings, new_episode=new_episode)
        else:
            starts = np.zeros(len(Phi), dtype=bool)
            starts[0] = new_episode
            assert self._state is not None  # one of the two solvers was fitted
            state = self._state.copy()
            state.update(Phi, starts, rate=self.learning_rate, rcond=settings.rcond)
            self._store(self.expander_, None, state, settings)
            self._tail = last_rows(Phi, max(settings.lags)).copy()
        return self

    def _episodes(self, X: Any, ids: Any, *, reset: bool, single: bool = False) -> list[Any]:
        """The episodes of ``X``, checked, each a collection of rows or objects."""
        if are_episodes(X) and not single:
            if ids is not None:
                raise ValueError(
                    "SlowFeatureAnalysis got a list of episodes and ids of episodes: give one."
                )
            return check_episodes(self, X, reset=reset)
        if isinstance(self.expansion, Integral):
            X = validate_data(
                self, X, dtype=[np.float64, np.float32], reset=reset, ensure_min_samples=1
            )
        else:
            X = check_objects(self, X, kernel_parameter(self, "expansion"), reset=reset)
        if ids is None:
            return [X]
        check_length(self, n_objects(X), len(ids), what="ids of episodes as rows")
        return episodes_by_id(X, np.asarray(ids))

    def _fit_expander(self, episodes: list[Any]) -> Any:
        n_landmarks, rows = 0, episodes[0]
        if not isinstance(self.expansion, Integral):
            n_landmarks = check_int(self.n_landmarks, "n_landmarks", self, low=1)
            rows = join_episodes(episodes)
        return fit_expander(
            self.expansion, rows, n_landmarks=n_landmarks, random_state=self.random_state
        )

    # Use ----------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Return the slow features of each row, ``(n, n_components_)``; a list for a list."""
        check_is_fitted(self)
        episodes = self._episodes(X, None, reset=False)
        features = [self._features(episode) for episode in episodes]
        return features if are_episodes(X) else features[0]

    def _features(self, rows: Any) -> Array:
        dtype = getattr(rows, "dtype", np.float64)
        axes = self.components_.T.astype(dtype, copy=False)
        offset = (self.mean_ @ self.components_.T).astype(dtype, copy=False)
        parts = [Phi @ axes - offset for Phi in expand_blocks(self.expander_, rows, dtype=dtype)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    @available_if(lambda self: isinstance(self.expansion, Integral) and self.expansion == 1)
    def inverse_transform(self, X: Any) -> Array:
        """Return the best linear estimate of the inputs from linear features."""
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

        On new data this tells whether a feature is slow, or was slow in training only.
        """
        check_is_fitted(self)
        lags = check_settings(self).lags
        features = [self._features(p) for p in self._episodes(X, episodes, reset=False)]
        return slowness_of(features, lags)

    def score(self, X: Any, y: Any = None, *, episodes: Any = None) -> float:
        """Return the negative mean :meth:`slowness`, so that larger is better."""
        return -float(np.mean(self.slowness(X, episodes=episodes)))
