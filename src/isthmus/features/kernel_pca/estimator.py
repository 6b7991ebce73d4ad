"""Kernel principal component analysis."""

import copy
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_array, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import check_int
from isthmus._estimator import Estimator
from isthmus._memory import require_memory
from isthmus._parameters import Constraint, boolean, having, integer, none, real, seed
from isthmus.blocks.folding import merge_all
from isthmus.blocks.moments import Moments, map_block, merge
from isthmus.blocks.sampling import sample_rows
from isthmus.features.kernel_pca.decomposition import (
    PrincipalAxes,
    exact_axes,
    nystroem_axes,
    primal_axes,
)
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import check_gram
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.objects import check_objects, concatenate, n_objects
from isthmus.kernels.points import axes_and_origin, residual_norms
from isthmus.kernels.resolve import A_KERNEL, as_kernel, kernel_parameter
from isthmus.typing import Array


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    r"""Coordinates of objects along the principal axes of their feature space.

    With the centred Gram matrix :math:`HKH=U\Lambda U^\top`, the axes are
    :math:`v_i=\lambda_i^{-1/2}\sum_ju_{ji}(\varphi(x_j)-\bar\varphi)` and the coordinates of
    an object :math:`c_i(x)=\langle v_i,\varphi(x)-\bar\varphi\rangle`.

    Parameters
    ----------
    n_components : int, float in (0, 1] or None, default=None
        How many axes; a float is the share of the variance they hold; None keeps all that carry
        signal.
    kernel : kernel, name or callable, default="gaussian"
        See :func:`isthmus.kernels.as_kernel`. ``X`` is whatever it can compare.
    center : bool, default=True
        Whether the mean in feature space is the origin.
    n_landmarks : int or None, default=None
        Fit within the span of this many objects drawn from the training set (Nyström): O(n m²)
        time and O(m²) memory instead of O(n³) and O(n²). Use it beyond some 20 000 objects.
    preimage : pre-image or None, default=None
        The solver behind :meth:`inverse_transform`. None takes a good one for the kernel when
        it is first asked for, over the reference objects.
    random_state : int, RandomState or None
        Draws the landmarks.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Sums of squares of the training coordinates, largest first.
    explained_variance_ratio_ : ndarray of shape (n_components,)
    axes_, origin_ : Expansion
        The axes and the origin over ``objects_``. Calling ``axes_`` gives coordinates.
    axes_gram_ : ndarray of shape (n_components, n_components) or None
        Inner products of the axes; None where they are orthonormal, that is, unless compressed.
    kernel_ : kernel
        The kernel used, its parameters resolved to numbers.
    objects_ : the reference objects: all training objects, or the landmarks.
    n_components_ : int

    See Also
    --------
    sklearn.decomposition.KernelPCA : vectors only; no expansions, no landmarks.

    Notes
    -----
    Few components of many objects come from a block Krylov iteration (see
    :func:`isthmus.linalg.leading_eigenpairs`); a linear kernel on fewer features than objects
    is solved in the features.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import KernelPCA
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> pca = KernelPCA(2, kernel="linear").fit(X)
    >>> pca.transform(X).shape
    (50, 2)
    >>> KernelPCA(kernel="delta").fit_transform(["a", "b", "a"]).shape
    (3, 1)
    """

    __module__ = "isthmus.features"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1) | real(0, 1, include_low=False) | none,
        "kernel": A_KERNEL,
        "center": boolean,
        "n_landmarks": integer(1) | none,
        "preimage": having("fit", "solve", text="a pre-image") | none,
        "random_state": seed,
    }

    def __init__(
        self,
        n_components: Any = None,
        *,
        kernel: Any = "gaussian",
        center: bool = True,
        n_landmarks: int | None = None,
        preimage: Any = None,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.center = center
        self.n_landmarks = n_landmarks
        self.preimage = preimage
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = as_kernel(self.kernel).pairwise
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def provides(self) -> frozenset[str]:
        """What the map offers: all that its kernel does, and points as expansions."""
        kernel = as_kernel(self.kernel).provides
        if "pairwise" in kernel:  # there are no objects to expand over, or to return
            return frozenset({"transform", "pairwise"})
        own = {"inverse"} if self.preimage is not None else set()
        return kernel | {"transform", "expansion"} | own

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_components_")

    # Fitting ------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> "KernelPCA":
        """Learn the axes from the objects ``X``; return self."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> np.ndarray:
        """Learn the axes and return the coordinates of ``X``."""
        X = self._fit(X)
        return self._coordinates(X) if self._is_nystroem else self.coordinates_

    @available_if(lambda self: self.n_landmarks is not None)
    def partial_fit(self, X: Any, y: Any = None) -> "KernelPCA":
        """Update a landmark fit with further objects; return self. There with landmarks only.

        The kernel's width is taken from the first block and kept; the landmarks too, once there
        are ``n_landmarks`` objects. Until then all objects are remembered and fitted anew.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X)
        if self.axes_gram_ is not None:
            raise ValueError(
                "A compressed KernelPCA has forgotten its objects, so it cannot learn from more."
            )
        X = check_objects(self, X, self.kernel_, reset=False)
        if not self._is_nystroem:
            self._require_objects("way to add to fewer than n_landmarks of them")
            self._fit_resolved(self.kernel_, concatenate(self.objects_, X))
            return self
        self._diagonal += float(np.sum(self.kernel_.diag(X)))
        self._set_nystroem(merge(self._moments, self._landmark_moments(X)))
        return self

    def _fit(self, X: Any) -> Any:
        kernel = kernel_parameter(self, "kernel")
        X = check_objects(self, X, kernel, reset=True)
        n = n_objects(X)
        if n < 2 and self.center:
            raise ValueError(
                "KernelPCA needs at least 2 objects to vary about their mean. Got n_samples = 1."
            )
        self._check_n_components(n)
        self._fit_resolved(kernel.resolve(X), X)
        return X

    def _fit_resolved(self, kernel: Kernel, X: Any) -> None:
        n = n_objects(X)
        for stale in ("_moments", "_default_preimage"):
            self.__dict__.pop(stale, None)
        if (
            self.n_landmarks is not None
            and check_int(self.n_landmarks, "n_landmarks", self, low=1) < n
        ):
            rng = check_random_state(self.random_state)
            landmarks = sample_rows(n, self.n_landmarks, rng)
            self.kernel_, self.objects_ = kernel, kernel.reference(X, landmarks)
            chosen = X[landmarks] if kernel.pairwise else self.objects_
            self._K_landmarks = check_gram(np.array(kernel.gram(chosen, self.objects_)), self)
            self._diagonal = float(np.sum(kernel.diag(X)))
            self._set_nystroem(self._landmark_moments(X))
        else:
            self.kernel_, self.objects_ = kernel, kernel.reference(X)
            self._set_axes(self._exact_axes(kernel, X))
        if self.preimage is not None:
            self._require_objects("pre-image of its own")
            coordinates = self._coordinates(X) if self._is_nystroem else self.coordinates_
            self.preimage_ = clone(self.preimage).fit(X, self._without_preimage(), coordinates)

    def _without_preimage(self) -> "KernelPCA":
        """A copy for the pre-image to hold: a model file cannot have two refer to each other."""
        alone = copy.copy(self)
        for solver in ("preimage_", "_default_preimage"):
            alone.__dict__.pop(solver, None)
        return alone

    def _exact_axes(self, kernel: Kernel, X: Any) -> PrincipalAxes:
        n_pairs, share = self._wanted()
        F = kernel.explicit_features(X)
        if F is not None and F.shape[1] < len(F):
            return primal_axes(F, center=self.center, n_pairs=n_pairs, share=share)
        n = n_objects(X)
        # The matrix and its copy; all eigenvectors need two more.
        require_memory(
            self,
            8.0 * n**2 * (2 if isinstance(self.n_components, Integral) else 3),
            what=f"the Gram matrix of {n} objects and its eigenvectors",
            avoid="Set n_landmarks, which needs n_landmarks² numbers and blocks.",
        )
        K = kernel.gram(X, self.objects_)
        # A matrix of the caller's has been checked, and centring would overwrite it.
        K = K.copy() if kernel.pairwise else check_gram(K, self)
        return exact_axes(K, center=self.center, n_pairs=n_pairs, share=share)

    def _landmark_moments(self, X: Any) -> Moments:
        blocks = self.kernel_.blocks(X, self.objects_)
        return merge_all([map_block(K) for _, K in blocks], merge)

    def _set_nystroem(self, moments: Moments) -> None:
        n_pairs, share = self._wanted()
        self._moments = moments
        self._set_axes(
            nystroem_axes(
                self._K_landmarks,
                moments,
                diagonal=self._diagonal,
                center=self.center,
                n_pairs=n_pairs,
                share=share,
            )
        )

    def _set_axes(self, found: PrincipalAxes) -> None:
        r = len(found.eigenvalues)
        if r == 0:
            raise ValueError(
                "KernelPCA found no variance: all objects are the same to the kernel "
                f"{self.kernel_!r}."
            )
        if isinstance(self.n_components, Integral) and int(self.n_components) > r:
            check_int(
                self.n_components,
                "n_components",
                self,
                low=1,
                high=r,
                why="rank of the Gram matrix",
            )
        offset = -(found.origin_inner @ found.dual)
        self.axes_ = Expansion(self.kernel_, self.objects_, found.dual, offset)
        length = np.array([[found.origin_weights @ found.origin_inner]])
        weights = found.origin_weights[:, None]
        self.origin_ = Expansion(self.kernel_, self.objects_, weights, gram=length)
        self.axes_gram_: Array | None = None
        self.eigenvalues_ = found.eigenvalues
        self.explained_variance_ratio_ = found.eigenvalues / found.total_variance
        self.n_components_ = r

    def _wanted(self) -> tuple[int | None, float | None]:
        n: Any = self.n_components
        if n is None or isinstance(n, Integral):
            return n, None  # type: ignore[return-value]
        return None, float(n)

    def _check_n_components(self, n: int) -> None:
        if isinstance(self.n_components, Integral):
            why = "number of objects"
            check_int(self.n_components, "n_components", self, low=1, high=n, why=why)

    # Reduced sets: see isthmus.reduction.compress --------------------------------------

    @property
    def expansion_(self) -> Expansion:
        """The axes, and last the origin, as one expansion."""
        self._require_objects("objects to choose from")
        return axes_and_origin(self)

    def with_expansion(self, expansion: Expansion) -> "KernelPCA":
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
        return self.dual_ * self.eigenvalues_  # B Λ = U Λ^½

    def transform(self, X: Any) -> np.ndarray:
        """Return the coordinates of ``X``, shape (n, n_components)."""
        check_is_fitted(self)
        return self._coordinates(check_objects(self, X, self.kernel_, reset=False))

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
            solver = default_preimage(self.kernel_)
            self._default_preimage = solver.fit(self.objects_, self._without_preimage())
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
