"""The base of manifolds: every verb, derived from a map and its starting points."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_int, check_length, check_scale
from isthmus._estimator import Estimator
from isthmus.kernels.objects import check_list
from isthmus.manifold.domain import Domain
from isthmus.manifold.projection import Ends, Projection, Search, all_ends, best_ends, goals
from isthmus.typing import Array, BoolArray, LatentMap, Objects

# Points of a finite domain that searches may start from where a map names none.
N_STARTS = 256


class MapValues(NamedTuple):
    """A map at n latent points.

    Attributes
    ----------
    values : ndarray of shape (n, d)
    jacobian : ndarray of shape (n, d, q), or None
        Derivatives of the values by the latent coordinates, where they were asked for.
    feasible : ndarray of bool of shape (n,)
        Whether projections may end at the point.
    """

    values: Array
    jacobian: Array | None
    feasible: BoolArray


MapValues.__module__ = "isthmus.manifold"


def _has_density(model: Any) -> bool:
    if type(model).sample_latent is BaseLatentMap.sample_latent:
        raise AttributeError(f"{type(model).__name__} has no latent density to sample from.")
    return True


class BaseLatentMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator, ABC):
    r"""A smooth map :math:`f` from a few latent coordinates to data, usable in every direction.

    A member implements ``fit`` and :meth:`evaluate`; it has a ``domain``, and :meth:`starts`
    where the domain is not finite. Rows that are not vectors are turned into such by
    :meth:`encode` and back by :meth:`decode`. From these the base derives ``transform`` and
    ``project`` (data to latent points), ``inverse_transform`` (latent points to data),
    ``reconstruct``, ``reconstruction_error``, ``complete``, ``jacobian`` and ``score``; with
    :meth:`sample_latent` also ``sample``.

    Attributes
    ----------
    domain : Domain
        Where latent points may lie; by default everywhere.

    Examples
    --------
    A circle, in closed form:

    >>> import numpy as np
    >>> from isthmus.manifold import BaseLatentMap, Domain, MapValues
    >>> class Circle(BaseLatentMap):
    ...     domain = Domain(0.0, 2 * np.pi, periodic=True)
    ...
    ...     def fit(self, X, y=None):
    ...         self.radius_, self.n_features_in_ = np.linalg.norm(X, axis=1).mean(), 2
    ...         return self
    ...
    ...     def evaluate(self, Z, jacobian=False):
    ...         x, y = self.radius_ * np.cos(Z), self.radius_ * np.sin(Z)
    ...         slope = np.stack([-y, x], axis=1) if jacobian else None
    ...         return MapValues(np.hstack([x, y]), slope, np.ones(len(Z), dtype=bool))
    >>> circle = Circle().fit([[2.0, 0.0], [0.0, 2.0]])
    >>> circle.transform([[0.0, 3.0]]).round(4), circle.reconstruct([[0.0, 3.0]]).round(4)
    (array([[1.5708]]), array([[0., 2.]]))
    >>> circle.project([[1.0, np.nan]]).ends.round(3)  # two points of the circle have x = 1
    array([[[1.047],
            [5.236]]])
    """

    __module__ = "isthmus.manifold"

    domain: Any = Domain()

    # What a member implements ------------------------------------------------------------

    @abstractmethod
    def evaluate(self, Z: Array, jacobian: bool = False) -> MapValues:
        """Return the map at latent points ``Z`` (n, q), with Jacobians if asked for.

        An object with ``values`` (n, d), ``jacobian`` (n, d, q) or None, and ``feasible`` (n,).
        Nothing is checked here, and values are in the space of :meth:`encode`.
        """

    def starts(self) -> tuple[Array, Array]:
        """Return latent points from which searches may start, and their images.

        By default a lattice of a finite domain.
        """
        ends = np.broadcast_arrays(self.domain.low, self.domain.high)
        if not np.all(np.isfinite(ends)):
            raise NotImplementedError(
                f"{type(self).__name__} must implement starts: its domain is not finite."
            )
        places = self.domain.lattice(max(1, ends[0].size), N_STARTS)
        return places, self.evaluate(places).values

    def encode(self, X: Objects) -> Array:
        """Return the rows of ``X`` in the space of the map's values, (n, d); NaN stays NaN."""
        return np.asarray(X)

    def decode(self, values: Array) -> Any:
        """Return rows, or objects, for values of the map: the inverse of :meth:`encode`."""
        return values

    def encoding_error(self, X: Objects, codes: Array) -> Any:
        """Return the squared distances of ``X`` from its codes, where codes do not hold all."""
        return 0.0

    def sample_latent(self, n_samples: int, rng: np.random.RandomState) -> Array:
        """Return latent points drawn from the density of the map, (n_samples, q)."""
        raise NotImplementedError(f"{type(self).__name__} has no latent density.")

    def search_settings(self, *, gaps: bool) -> Search:
        """Return how rows are projected: whole rows, or such as have ``gaps`` or weights."""
        return Search()

    @property
    def provides(self) -> frozenset[str]:
        """What the map can do, see :data:`isthmus.typing.CAPABILITIES`."""
        return frozenset({"transform", "inverse", "vectors"})

    # From data to latent space ------------------------------------------------------------

    def transform(self, X: Any, *, start: Any = None, return_error: bool = False) -> Any:
        """Return the latent points whose images come nearest to the rows of ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or objects
        start : None, "previous" or array-like of shape (n_samples, n_components)
            Where the search begins; see :meth:`project`.
        return_error : bool, default=False
            Return also the squared distance of each row from its image.

        Returns
        -------
        ndarray of shape (n_samples, n_components), and the distances if asked for
            The first ends in the order of :meth:`project`.
        """
        check_is_fitted(self)
        X, dtype = self._rows(X)
        codes = self.encode(X)
        found = self._search(codes, None, start)
        latent = found.latent.astype(dtype, copy=False)
        if not return_error:
            return latent
        error = found.error + self.encoding_error(X, codes)
        return latent, error.astype(dtype, copy=False)

    def reconstruct(self, X: Any) -> Any:
        """Return the nearest point of the manifold for each row of ``X``."""
        check_is_fitted(self)
        X, dtype = self._rows(X)
        found = self._search(self.encode(X), None, None)
        return _in_precision(self.decode(self.evaluate(found.latent).values), dtype)

    def reconstruction_error(self, X: Any) -> Array:
        """Return the squared distance of each row of ``X`` from the manifold, shape (n,)."""
        error: Array = self.transform(X, return_error=True)[1]
        return error

    def score(self, X: Any, y: Any = None) -> float:
        """Return the negative mean squared distance of the rows of ``X`` from the manifold."""
        return -float(np.mean(self.reconstruction_error(X)))

    def complete(
        self, X: Any, *, weights: Any = None, start: Any = None, return_error: bool = False
    ) -> Any:
        """Return ``X`` with every NaN filled in by the map; known entries come back unchanged.

        A row is projected by the components it has, and the others are those of the point found:
        the first end in the order of :meth:`project`. A row that knows nothing gets a point in
        the middle of the manifold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN marks what is to be recalled; rows may differ in what they know.
        weights, start :
            How much each component counts, and where the search begins; see :meth:`project`.
        return_error : bool, default=False
            Return also the weighted squared distance from the known entries, 0 where the map
            meets them. A known entry out of reach comes back unchanged, so look at this number.
        """
        check_is_fitted(self)
        self._check_gaps()
        X, dtype = self._rows(X, gaps=True)
        found = self._search(self.encode(X), weights, start, gaps=True)
        recalled = self.decode(self.evaluate(found.latent).values)
        filled = np.where(np.isnan(X), recalled, X).astype(dtype, copy=False)
        return (filled, found.error.astype(dtype, copy=False)) if return_error else filled

    def project(self, X: Any, *, weights: Any = None, start: Any = None) -> Projection:
        r"""Find :math:`\arg\min_x\sum_kp_k(y_k-f_k(x))^2` in the domain for each row of ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or objects
            NaN has weight 0.
        weights : array-like of shape (n_features,) or (n_samples, n_features), optional
            :math:`p_k\ge0`, by default 1. A small weight makes a component a wish rather than a
            demand: a cost that is kept near its target as far as the others allow.
        start : None, "previous" or array-like of shape (n_samples, n_components)
            None searches from the starting points whose images are nearest to a row. An array
            starts there alone, so a redundant arm moves as little as it must. ``"previous"``
            takes the rows as a path: each starts from the solution of the one before.

        Returns
        -------
        Projection
            Latent points, all components there, the squared distance, and flags for targets that
            could not be reached and searches that did not converge; always in double precision.
            ``ends`` has all distinct ends of a row, ordered by error. Among equally good ones the
            end nearest to the start comes first (the starting point whose image is nearest to
            the row, or the one given); the end of that start itself precedes all others where it
            meets the row. ``transform`` and ``complete`` take the first end.
        """
        check_is_fitted(self)
        X, _ = self._rows(X, gaps=True)
        codes = self.encode(X)
        whole = not np.isnan(codes).any() and weights is None
        P = None if whole else self._check_weights(weights, codes)
        search = self.search_settings(gaps=not whole).check()
        if isinstance(start, str):
            ends = self._follow(codes, P, start, search)
        else:
            ends = self._all_ends(codes, P, search, self._check_start(start, len(codes)))
        latent, error = ends.latent[:, 0], ends.error[:, 0]
        beside = np.broadcast_to(self.encoding_error(X, codes), error.shape)
        return Projection(
            latent=latent,
            values=self.decode(self.evaluate(latent).values),
            error=error + beside,
            reached=error <= goals(self.starts()[1], P),
            converged=ends.converged[:, 0],
            ends=ends.latent,
            end_errors=ends.error + beside[:, None],
        )

    # From latent space to data ------------------------------------------------------------

    def inverse_transform(self, Z: Any) -> Any:
        """Return the images of latent points, shape (n_samples, n_features), or objects."""
        check_is_fitted(self)
        Z, dtype = self._check_latent(Z)
        return _in_precision(self.decode(self.evaluate(Z).values), dtype)

    def jacobian(self, Z: Any) -> Array:
        """Return the derivatives of the map, shape (n_samples, n_features, n_components).

        Where rows are encoded (:meth:`encode`), the features are those of the codes.
        """
        check_is_fitted(self)
        Z, dtype = self._check_latent(Z)
        found = self.evaluate(Z, jacobian=True).jacobian
        assert found is not None
        return found.astype(dtype, copy=False)

    @available_if(_has_density)
    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """Draw points of the manifold, dense where training rows are."""
        check_is_fitted(self)
        n = check_int(n_samples, "n_samples", self, low=1)
        places = self.sample_latent(n, check_random_state(random_state))
        return self.decode(self.evaluate(places).values)

    @property
    def _n_features_out(self) -> int:
        return int(self.starts()[0].shape[1])

    # Searching ----------------------------------------------------------------------------

    def _plain_map(self) -> LatentMap:
        """What searches evaluate many times: self, or an object that keeps more at hand."""
        return self

    def _search(self, codes: Array, weights: Any, start: Any, *, gaps: bool = False) -> Ends:
        whole = weights is None and not (gaps and np.isnan(codes).any())
        P = None if whole else self._check_weights(weights, codes)
        search = self.search_settings(gaps=gaps).check()
        if isinstance(start, str):
            ends = self._follow(codes, P, start, search)
            return Ends(ends.latent[:, 0], ends.error[:, 0], ends.converged[:, 0])
        return best_ends(self._plain_map(), codes, P, search, self._check_start(start, len(codes)))

    def _all_ends(self, codes: Array, P: Array | None, search: Search, start: Array | None) -> Ends:
        """All ends of each row in order, (n, n_ends, ...); closed forms replace the search."""
        return all_ends(self._plain_map(), codes, P, search, start)

    def _follow(self, codes: Array, P: Array | None, start: str, search: Search) -> Ends:
        """Ends of a path whose rows start from one another's, (n, 1, ...)."""
        if start != "previous":
            raise ValueError(
                f"The start of {type(self).__name__} must be None, 'previous' or an array of "
                f"latent points. Got {start!r} instead."
            )
        begin, steps, latent_map = None, [], self._plain_map()
        for i in range(len(codes)):
            weights = None if P is None else P[i : i + 1]
            steps.append(best_ends(latent_map, codes[i : i + 1], weights, search, begin))
            begin = steps[-1].latent
        latent, error, converged = (np.stack(part) for part in zip(*steps, strict=True))
        return Ends(latent, error, converged)

    # Checks -------------------------------------------------------------------------------

    def _rows(self, X: Any, *, gaps: bool = False) -> tuple[Any, Any]:
        """Rows in double precision, in which searches run, and the precision they came in."""
        if "vectors" not in self.provides:
            return check_list(X, type(self).__name__), np.dtype(np.float64)
        X = validate_data(
            self,
            X,
            dtype=[np.float64, np.float32],
            reset=False,
            ensure_all_finite="allow-nan" if gaps else True,
        )
        check_scale(self, X)
        return X.astype(np.float64, copy=False), X.dtype

    def _check_gaps(self) -> None:
        """Refuse to complete rows where components have no meaning of their own."""
        if "vectors" not in self.provides:
            raise ValueError(
                f"{type(self).__name__}.complete needs rows of numbers, of which some are known."
            )

    def _check_weights(self, weights: Any, codes: Array) -> Array:
        """Weights (n, d), zero where a component is not known."""
        known, shape = ~np.isnan(codes), codes.shape
        if weights is None:
            return known.astype(float)
        P = np.asarray(weights, dtype=np.float64)
        if P.shape not in (shape, shape[1:]) or not np.isfinite(P).all() or (P < 0).any():
            raise ValueError(
                f"The weights of {type(self).__name__} must be non-negative, of shape "
                f"{shape[1:]} or {shape}. Got {'shape ' + str(P.shape) if P.size else P} instead."
            )
        return known * P

    def _check_start(self, start: Any, n: int) -> Array | None:
        if start is None:
            return None
        places = self._check_latent(start)[0]
        check_length(self, n, len(places), what="starts as rows")
        return places

    def _check_latent(self, Z: Any) -> tuple[Array, Any]:
        """Latent points of the domain in double precision, and the precision they came in."""
        Z = check_array(Z, dtype=[np.float64, np.float32], input_name="Z", estimator=self)
        q = self._n_features_out
        if Z.shape[1] != q:
            raise ValueError(
                f"{type(self).__name__} has {q} latent dimensions: expected an array of shape "
                f"(n, {q}). Got shape {Z.shape} instead."
            )
        return self._in_domain(Z.astype(np.float64, copy=False)), Z.dtype

    def _in_domain(self, Z: Array) -> Array:
        return np.asarray(self.domain.clip(self.domain.wrap(Z)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _in_precision(values: Any, dtype: Any) -> Any:
    """Values in the precision of the input, where they are numbers."""
    numbers = isinstance(values, np.ndarray) and values.dtype.kind == "f"
    return values.astype(dtype, copy=False) if numbers else values
