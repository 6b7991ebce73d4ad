"""The verbs that all maps through grid nodes share."""

from abc import ABC
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_choice, check_float, check_int, check_scale
from isthmus.manifold.psom.grid import NodeGrid
from isthmus.manifold.psom.map import map_jets, map_values
from isthmus.manifold.psom.projection import Projection, best_nodes, project_rows
from isthmus.typing import Array

OUTSIDE = ("clip", "extrapolate", "raise")


class BaseGridManifold(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    r"""A map :math:`f(x)=\sum_gw_g\prod_\mu\ell_{g_\mu}(x_\mu)` through the nodes of a grid.

    What is fitted: ``grid_`` and ``weights_``, the images of its nodes.
    """

    n_starts: int
    outside: str
    search_steps: int
    search_tol: float
    local: int | None = None

    grid_: NodeGrid
    weights_: Array
    embedding_: Array
    n_features_in_: int

    @property
    def _n_features_out(self) -> int:
        return len(self.grid_.axes)

    # Both directions ---------------------------------------------------------------

    def transform(self, X: Any, *, start: Any = None, return_error: bool = False) -> Any:
        """Return the latent points whose images come nearest to the rows of ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        start : None, "previous" or array-like of shape (n_samples, n_components)
            Where the search begins; see :meth:`project`.
        return_error : bool, default=False
            Return also the distance of each row to its image.
        """
        check_is_fitted(self, "weights_")
        X, dtype = self._rows(X)
        found = self._project(X, None, start)
        latent = found.latent.astype(dtype, copy=False)
        return (latent, found.error.astype(dtype, copy=False)) if return_error else latent

    def inverse_transform(self, Z: Any) -> Array:
        """Return the images of latent points, shape (n_samples, n_features)."""
        check_is_fitted(self, "weights_")
        Z, dtype = self._check_latent(Z)
        values = map_values(self.grid_, self.weights_, Z, local=self.local)
        return values.astype(dtype, copy=False)

    def jacobian(self, Z: Any) -> Array:
        """Return the derivatives of the images, shape (n_samples, n_features, n_components)."""
        check_is_fitted(self, "weights_")
        Z, dtype = self._check_latent(Z)
        jacobian = map_jets(self.grid_, self.weights_, Z, local=self.local)[1]
        return jacobian.astype(dtype, copy=False)

    def reconstruct(self, X: Any) -> Array:
        """Return the nearest point of the manifold for each row of ``X``."""
        check_is_fitted(self, "weights_")
        X, dtype = self._rows(X)
        return self._project(X, None, None).values.astype(dtype, copy=False)

    def complete(
        self, X: Any, *, weights: Any = None, start: Any = None, return_error: bool = False
    ) -> Any:
        """Return ``X`` with every NaN filled in by the map; known entries come back unchanged.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN marks what is to be recalled; rows may differ in what they know.
        weights, start :
            How much each component counts, and where the search begins; see :meth:`project`.
        return_error : bool, default=False
            Return also the distance to the known entries, 0 where the map meets them. A known
            entry out of reach comes back unchanged, so look at this number.
        """
        check_is_fitted(self, "weights_")
        X, dtype = self._rows(X, gaps=True)
        found = self._project(X, weights, start)
        filled = np.where(np.isnan(X), found.values, X).astype(dtype, copy=False)
        return (filled, found.error.astype(dtype, copy=False)) if return_error else filled

    def project(self, X: Any, *, weights: Any = None, start: Any = None) -> Projection:
        r"""Find :math:`\arg\min_x\sum_kp_k(y_k-f_k(x))^2` in the domain for each row of ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN has weight 0.
        weights : array-like of shape (n_features,) or (n_samples, n_features), optional
            :math:`p_k\ge0`, by default 1. A small weight makes a component a wish rather than a
            demand: a cost that is kept near its target as far as the others allow.
        start : None, "previous" or array-like of shape (n_samples, n_components)
            None starts from the ``n_starts`` best nodes and keeps the best end. An array starts
            there, so a redundant arm moves as little as it must. ``"previous"`` takes the rows as
            a path: each starts from the solution of the one before.

        Returns
        -------
        Projection
            Latent points, all components there, the distance, and flags for targets that could
            not be reached and searches that did not converge; always in double precision.
        """
        check_is_fitted(self, "weights_")
        return self._project(self._rows(X, gaps=True)[0], weights, start)

    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the mean squared distance of the rows of ``X`` to the manifold."""
        return -float(np.mean(np.sum((self.reconstruct(X) - np.asarray(X)) ** 2, axis=1)))

    # Searching -----------------------------------------------------------------------

    def _project(self, X: Array, weights: Any, start: Any) -> Projection:
        known = ~np.isnan(X)
        P = known * self._check_weights(weights, X.shape)
        Y = np.where(known, X, 0.0)
        if isinstance(start, str):
            if start != "previous":
                raise ValueError(
                    f"The start of {type(self).__name__} must be None, 'previous' or an array of "
                    f"latent points. Got {start!r} instead."
                )
            return self._follow(Y, P)
        if start is None:
            return self._search(Y, P, self._node_starts(Y, P))
        starts = self._check_latent(start)[0]
        if len(starts) != len(X):
            raise ValueError(
                f"{type(self).__name__} needs a start for each row: expected {len(X)}, "
                f"got {len(starts)}."
            )
        return self._search(Y, P, starts[:, None])

    def _search(self, Y: Array, P: Array, starts: Array) -> Projection:
        grid, W, local = self.grid_, self.weights_, self.local
        return project_rows(
            lambda points: map_jets(grid, W, points, local=local),
            Y,
            P,
            starts,
            grid.low,
            grid.high,
            spread=W.reshape(-1, W.shape[-1]).std(axis=0),
            max_iter=check_int(self.search_steps, "search_steps", self, low=1),
            tol=check_float(self.search_tol, "search_tol", self),
        )

    def _node_starts(self, Y: Array, P: Array) -> Array:
        n_best = min(check_int(self.n_starts, "n_starts", self, low=1), self.grid_.size)
        nodes = best_nodes(self.weights_.reshape(self.grid_.size, -1), Y, P, n_best)
        return self.grid_.points[nodes]

    def _follow(self, Y: Array, P: Array) -> Projection:
        starts = self._node_starts(Y[:1], P[:1])
        steps = []
        for i in range(len(Y)):
            steps.append(self._search(Y[i : i + 1], P[i : i + 1], starts))
            starts = steps[-1].latent[:, None]
        parts = zip(*(vars(step).values() for step in steps), strict=True)
        return Projection(*(np.concatenate(part) for part in parts))

    # Checks ----------------------------------------------------------------------------

    def _check_search(self) -> None:
        check_choice(self.outside, "outside", self, OUTSIDE)
        check_int(self.n_starts, "n_starts", self, low=1)
        check_int(self.search_steps, "search_steps", self, low=1)
        check_float(self.search_tol, "search_tol", self)

    def _rows(self, X: Any, *, gaps: bool = False) -> tuple[Array, Any]:
        """Rows in double precision, in which searches run, and the precision they came in."""
        X = validate_data(
            self,
            X,
            dtype=[np.float64, np.float32],
            reset=False,
            ensure_all_finite="allow-nan" if gaps else True,
        )
        check_scale(self, X)
        return X.astype(np.float64, copy=False), X.dtype

    def _check_weights(self, weights: Any, shape: tuple[int, ...]) -> Array:
        if weights is None:
            return np.ones(shape)
        P = np.asarray(weights, dtype=np.float64)
        if P.shape not in (shape, shape[1:]) or not np.isfinite(P).all() or (P < 0).any():
            raise ValueError(
                f"The weights of {type(self).__name__} must be non-negative, of shape "
                f"{shape[1:]} or {shape}. Got {'shape ' + str(P.shape) if P.size else P} instead."
            )
        return np.broadcast_to(P, shape)

    def _check_latent(self, Z: Any) -> tuple[Array, Any]:
        """Latent points in the domain; what becomes of others ``outside`` says. And their dtype."""
        Z = check_array(Z, dtype=[np.float64, np.float32], input_name="Z", estimator=self)
        Z, dtype = Z.astype(np.float64, copy=False), Z.dtype
        grid = self.grid_
        if Z.shape[1] != len(grid.axes):
            raise ValueError(
                f"{type(self).__name__} has {len(grid.axes)} latent dimensions. "
                f"Got points of shape {Z.shape} instead."
            )
        outside = check_choice(self.outside, "outside", self, OUTSIDE)
        if outside == "extrapolate":
            return np.asarray(Z), dtype
        inside = np.clip(Z, grid.low, grid.high)
        if outside == "raise" and np.any(inside != Z):
            row = int(np.argmax(np.any(inside != Z, axis=1)))
            raise ValueError(
                f"Latent points of {type(self).__name__} must lie between {grid.low} and "
                f"{grid.high}. Got {Z[row]} in row {row} instead."
            )
        return np.asarray(inside), dtype

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
