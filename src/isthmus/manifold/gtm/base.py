"""What a generative topographic mapping answers of new rows: posteriors and what follows."""

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from isthmus._checks import check_choice, check_length
from isthmus.blocks.folding import gather
from isthmus.blocks.rows import Rows
from isthmus.blocks.slices import block_slices
from isthmus.manifold.gtm.landscape import (
    Landscape,
    block_landscape,
    make_landscape,
    merge_landscapes,
)
from isthmus.manifold.gtm.mixture import Mixture, block_rows, posterior, responsibilities
from isthmus.manifold.latent_map import BaseLatentMap
from isthmus.typing import Array


class BaseNodeMixture(BaseLatentMap):
    """A manifold with a posterior over its nodes, and all answers that follow from it."""

    coordinates: str
    nodes_: Array
    images_: Array
    mean_: Array
    noise_: float

    @property
    def mixture_(self) -> Mixture:
        """Images of the nodes about the mean of the data, and the precision of the noise."""
        return Mixture(self.images_ - self.mean_, self.noise_**-2)

    def responsibilities(self, X: Any) -> Array:
        r"""Return :math:`p(x_k\mid y)` for each row, (n_samples, n_nodes); NaN is not known."""
        check_is_fitted(self)
        X, dtype = self._rows(X, gaps=True)
        found = np.empty((len(X), len(self.nodes_)), dtype=dtype)
        for rows in self._parts(X):
            found[rows] = responsibilities(X[rows] - self.mean_, self.mixture_)
        return found

    def score_samples(self, X: Any) -> Array:
        """Return the log density of each row, of what is known of it, shape (n_samples,)."""
        check_is_fitted(self)
        X, _ = self._rows(X, gaps=True)
        found = np.empty(len(X))
        for rows in self._parts(X):
            found[rows] = posterior(X[rows] - self.mean_, self.mixture_)[1]
        return found

    def transform(self, X: Any, *, start: Any = None, return_error: bool = False) -> Any:
        """Return latent points of the rows of ``X``, of the kind that ``coordinates`` names.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN is what is not known.
        start : None, "previous" or array-like of shape (n_samples, n_components)
            Where a search for the nearest point begins, see :meth:`project`; the posterior has
            none, so that with a start the nearest points are returned.
        return_error : bool, default=False
            Return also the squared distance of what is known of each row from the image of its
            latent point.

        Returns
        -------
        ndarray of shape (n_samples, n_components), and the distances if asked for
        """
        check_is_fitted(self)
        X, dtype = self._rows(X, gaps=True)
        if start is not None or self.coordinates == "nearest":
            found = self._search(X, None, start, gaps=True)
            latent, error = found.latent, found.error
        else:
            latent = self._posterior_points(X)
            values = self.evaluate(latent).values if return_error else 0.0
            error = np.nansum((X - values) ** 2, axis=1) if return_error else np.empty(0)
        latent = latent.astype(dtype, copy=False)
        return (latent, error.astype(dtype, copy=False)) if return_error else latent

    def reconstruction_error(self, X: Any) -> Array:
        """Return the squared distance of each row of ``X`` from the manifold, shape (n,)."""
        check_is_fitted(self)
        X, dtype = self._rows(X)
        error: Array = self._search(X, None, None).error
        return error.astype(dtype, copy=False)

    def complete(
        self, X: Any, *, weights: Any = None, start: Any = None, return_error: bool = False
    ) -> Any:
        """Return ``X`` with every NaN filled in; known entries come back unchanged.

        With ``coordinates="mean"`` an entry is its expectation given the known ones, with "mode"
        that of the most probable node, and with "nearest" that of the nearest point of the
        manifold. The expectation has the least squared error, but between two answers that are
        equally likely it takes the middle; :meth:`project` returns both.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN marks what is to be recalled; rows may differ in what they know.
        weights, start :
            How much each component counts, and where a search for the nearest point begins, see
            :meth:`project`.
        return_error : bool, default=False
            Return also the weighted squared distance of the known entries from those recalled.
        """
        if start is not None or self.coordinates == "nearest":
            return super().complete(X, weights=weights, start=start, return_error=return_error)
        check_is_fitted(self)
        X, dtype = self._rows(X, gaps=True)
        P = self._check_weights(weights, X)
        recalled = self.mean_ + self._expected(X, self.mixture_.centres, P)
        filled = np.where(np.isnan(X), recalled, X).astype(dtype, copy=False)
        if not return_error:
            return filled
        error = np.nansum(P * (X - recalled) ** 2, axis=1)
        return filled, error.astype(dtype, copy=False)

    def magnification(self, Z: Any) -> Array:
        r"""Return how much the map stretches latent space, :math:`\sqrt{\det J^\top J}`.

        Large where the sheet crosses a gap between clusters [Bishop1997]_.

        Parameters
        ----------
        Z : array-like of shape (n, n_components)
        """
        J = self.jacobian(Z)
        metric = np.einsum("ndq,ndr->nqr", J, J)
        found: Array = np.sqrt(np.maximum(np.linalg.det(metric), 0.0))
        return found

    # Parts --------------------------------------------------------------------------------

    def _posterior_points(self, X: Array) -> Array:
        """Means of the posterior, or its most probable nodes, for rows in double precision."""
        return self._expected(X, self.nodes_, None)

    def _expected(self, X: Array, values: Array, weights: Array | None) -> Array:
        """Means of values at the nodes under the posterior, or those of the likeliest node."""
        found = np.empty((len(X), values.shape[1]))
        for rows in self._parts(X):
            P = None if weights is None else weights[rows]
            R = responsibilities(X[rows] - self.mean_, self.mixture_, P)
            found[rows] = values[R.argmax(axis=1)] if self.coordinates == "mode" else R @ values
        return found

    def _embed(self, rows: Rows) -> Array:
        """Latent points of the rows of a fit, in their precision."""
        nearest = self.coordinates == "nearest"

        def points(X: Array) -> Array:
            Y = X.astype(np.float64, copy=False)
            if nearest:
                Z = self._search(Y, None, None, gaps=True).latent
            else:
                Z = self._posterior_points(Y)
            return np.asarray(Z.astype(X.dtype, copy=False))

        return gather(rows, points)

    def _landscape(self, X: Any, y: Any, class_weight: str | None) -> Landscape:
        check_is_fitted(self)
        check_choice(class_weight, "class_weight", self, (None, "balanced"))
        X, _ = self._rows(X, gaps=True)
        kind = type_of_target(y, input_name="y")
        classes = None
        if kind in ("binary", "multiclass"):
            classes, numbers = np.unique(column_or_1d(y), return_inverse=True)
            targets = np.eye(len(classes))[numbers]
        else:
            targets = check_array(
                y, dtype=np.float64, ensure_2d=False, input_name="y", estimator=self
            )
        if class_weight is not None and classes is None:
            raise ValueError(
                f"class_weight of {type(self).__name__}.landscape needs classes. Got {kind} y."
            )
        check_length(self, len(X), len(targets), what="values in y as rows")
        flat = targets.ndim == 1
        targets = targets[:, None] if flat else targets
        total = None
        for rows in self._parts(X):
            part = block_landscape(
                responsibilities(X[rows] - self.mean_, self.mixture_), targets[rows]
            )
            total = part if total is None else merge_landscapes(total, part)
        assert total is not None
        balanced = class_weight == "balanced"
        return make_landscape(
            total, self.nodes_, classes=classes, balanced=balanced, flat=flat, model=self
        )

    def _parts(self, X: Array) -> Any:
        return block_slices(len(X), 1, block_size=block_rows(len(self.nodes_)))
