"""What fitted principal axes are used for: coordinates, expansions and pre-images."""

import copy
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from isthmus.kernels.base import Kernel
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.objects import check_objects
from isthmus.kernels.points import axes_and_origin, residual_norms
from isthmus.typing import Array, Objects


class FittedAxes:
    """Methods of a map whose axes and origin are known as expansions."""

    axes_: Expansion
    origin_: Expansion
    axes_gram_: Array | None
    kernel_: Kernel
    objects_: Objects
    eigenvalues_: Array
    n_components_: int
    preimage: Any
    preimage_: Any
    _weighted: bool

    # Reduced sets: see isthmus.reduction.compress --------------------------------------

    @property
    def expansion_(self) -> Expansion:
        """The axes, and last the origin, as one expansion."""
        self._require_objects("objects to choose from")
        return axes_and_origin(self)

    def with_expansion(self, expansion: Expansion) -> Any:
        """A fitted copy with these functions in place of :attr:`expansion_`."""
        model = copy.copy(self)
        for stale in ("_default_preimage", "_moments"):
            model.__dict__.pop(stale, None)
        axes = expansion.take(slice(None, -1))
        # Coordinates are told from the true origin, not from the one that few objects can make.
        inner = self.origin_(expansion.objects)[:, 0]
        axes.offset = -(inner @ axes.weights)
        model.axes_, model.origin_ = axes, expansion.take(slice(-1, None))
        model.objects_, model.axes_gram_ = expansion.objects, axes.inner()
        return model

    # Use ----------------------------------------------------------------------------

    @property
    def _is_nystroem(self) -> bool:
        return hasattr(self, "_moments")

    @property
    def dual_(self) -> np.ndarray:
        """Weights of the axes over ``objects_``, shape (n_reference, n_components)."""
        return self.axes_.weights

    @property
    def coordinates_(self) -> np.ndarray:
        """Coordinates of the training objects, (n_train, n_components); not with landmarks."""
        check_is_fitted(self)
        if self._is_nystroem or self.axes_gram_ is not None:
            raise AttributeError(
                "KernelPCA with landmarks, or compressed, does not keep the coordinates of its "
                "training objects: call transform on them."
            )
        if self._weighted:
            self._require_objects("coordinates of weighted rows")
            return self._coordinates(self.objects_)
        return self.dual_ * self.eigenvalues_  # B Λ = U Λ^½

    def transform(self, X: Any) -> np.ndarray:
        """Return the coordinates of ``X``, shape (n, n_components)."""
        check_is_fitted(self)
        return self._coordinates(check_objects(self, X, self.kernel_, reset=False, sparse=True))

    def _coordinates(self, X: Any) -> np.ndarray:
        return self.axes_(X)

    def expand(self, coordinates: Any) -> np.ndarray:
        r"""Coefficients over ``objects_`` of the points with these coordinates.

        :math:`\Psi=\bar\varphi+\sum_i\beta_iv_i=\sum_ja_j\varphi(x_j)` with
        :math:`a=B\beta+w`. Centred and without landmarks they sum to one.

        Parameters
        ----------
        coordinates : array of shape (n, n_components)

        Returns
        -------
        ndarray of shape (n, n_reference)
        """
        check_is_fitted(self)
        coordinates = self._check_coordinates(coordinates)
        return coordinates @ self.axes_.weights.T + self.origin_.weights[:, 0]

    def residual_norms(self, X: Any, coordinates: Any = None) -> np.ndarray:
        """Squared distance of each image from its projection on the axes, (n,)."""
        coordinates = self.transform(X) if coordinates is None else coordinates
        return residual_norms(self, X, coordinates)

    def inverse_transform(self, coordinates: Any) -> Any:
        """Return objects whose images lie near the points with these coordinates."""
        check_is_fitted(self)
        coordinates = self._check_coordinates(coordinates)
        if self.preimage is not None:
            return self.preimage_.solve(coordinates)
        if not hasattr(self, "_default_preimage"):
            from isthmus.preimage.default import default_preimage

            self._require_objects("inverse_transform")
            # Where the reference objects are those of the fit, their coordinates are known.
            known = not (self._is_nystroem or self._weighted or self.axes_gram_ is not None)
            solver = default_preimage(self.kernel_)
            self._default_preimage = solver.fit(
                self.objects_, self._without_preimage(), self.coordinates_ if known else None
            )
        return self._default_preimage.solve(coordinates)

    def _require_objects(self, what: str) -> None:
        if self.kernel_.pairwise:
            raise ValueError(
                f"KernelPCA on a Gram matrix knows no objects, so it has no {what}. Fit a "
                "pre-image on them: LearnedPreimage().fit(objects, kernel_pca)."
            )

    def _check_coordinates(self, coordinates: Any) -> np.ndarray:
        coordinates = check_array(
            coordinates, dtype=[np.float64, np.float32], input_name="coordinates", estimator=self
        )
        if coordinates.shape[1] != self.n_components_:
            raise ValueError(
                f"KernelPCA has {self.n_components_} components: expected coordinates of shape "
                f"(n, {self.n_components_}). Got shape {coordinates.shape} instead."
            )
        return coordinates

    def _without_preimage(self) -> Any:
        """A copy for the pre-image to hold: a model file cannot have two refer to each other."""
        alone = copy.copy(self)
        for solver in ("preimage_", "_default_preimage"):
            alone.__dict__.pop(solver, None)
        return alone
