"""Kernel principal component analysis."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from isthmus._checks import check_int
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, boolean, choice, having, integer, none, real, seed
from isthmus.blocks.drawing import take_rows
from isthmus.blocks.fitting import open_fit, refuse_blocks
from isthmus.blocks.sampling import sample_rows
from isthmus.features.kernel_pca.axes import FittedAxes
from isthmus.features.kernel_pca.decomposition import PrincipalAxes, nystroem_axes
from isthmus.features.kernel_pca.fitting import (
    LandmarkMoments,
    Landmarks,
    axes_of_all,
    block_moments,
    merge,
)
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import check_gram
from isthmus.kernels.drawn import DrawnRows
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.objects import check_objects, concatenate, n_objects
from isthmus.kernels.resolve import A_KERNEL, as_kernel, kernel_parameter
from isthmus.regression.outputs import check_counts
from isthmus.typing import Array

_SAME: Any = object()  # the landmarks are the reference objects


class KernelPCA(FittedAxes, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
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
        See :func:`isthmus.kernels.as_kernel`. ``X`` is whatever it can compare. scikit-learn's is
        linear by default, which is ordinary principal components, and its Gaussian has a width
        that does not follow the units of ``X``; ours is the median distance.
    center : bool, default=True
        Whether the mean in feature space is the origin.
    n_landmarks : int or None, default=None
        Fit within the span of this many objects drawn from the training set (Nyström): O(n m²)
        time and O(m²) memory instead of O(n³) and O(n²). Use it beyond some 20 000 objects. Then
        objects may also come in blocks (Dask, zarr, h5py, functions that return iterators), which
        are read twice; a pre-image is then fitted to the landmarks.
    solver : {"auto", "dense", "matrix-free"}, default="auto"
        How the axes of all objects are found. ``"dense"`` holds their Gram matrix;
        ``"matrix-free"`` computes it anew, tile by tile, for each of some ten products: the same
        axes in O(nr) memory for r of them, if these are few beside n. ``"auto"`` does so where the
        Gram matrix does not fit into memory. A matrix that is given is used as it is.
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

    Rows in single precision are computed with in single precision, at up to twice the speed. Axes
    whose variance is below about a millionth of the largest are then rounding errors and left out:
    give doubles where all axes count, as they do for pre-images of smooth data.

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
        "solver": choice("auto", "dense", "matrix-free"),
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
        solver: str = "auto",
        preimage: Any = None,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.center = center
        self.n_landmarks = n_landmarks
        self.solver = solver
        self.preimage = preimage
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = as_kernel(self.kernel)
        tags.input_tags.pairwise = kernel.pairwise
        tags.input_tags.sparse = "sparse" in kernel.provides
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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "KernelPCA":
        """Learn the axes from the objects ``X``; return self.

        ``sample_weight`` of shape (n,) says how often each object counts.
        """
        self._fit(X, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Learn the axes and return the coordinates of ``X``."""
        return self._training_coordinates(self._fit(X, sample_weight))

    def _fit_blocks(self, X: Any, y: Any = None, sample_weight: Any = None) -> "KernelPCA":
        """The same from objects that are read block by block: two passes."""
        if isinstance(X, np.memmap):  # landmarks read it in blocks anyway
            return self.fit(np.asarray(X), sample_weight=sample_weight)
        kernel = kernel_parameter(self, "kernel")
        if self.n_landmarks is None or kernel.pairwise:
            why = "without landmarks it needs all objects at once"
            refuse_blocks(self, why, instead="With n_landmarks, and a kernel of objects, it")
        rows = open_fit(self, X, sample_weight, objects=not kernel.vectors)
        rows.require_passes("landmarks are drawn first")
        n = rows.count()
        if n <= int(self.n_landmarks or 0):
            objects, *counts = take_rows(rows, np.arange(n))
            return self.fit(objects, None, *counts)
        self._check_n_components(n)
        at = sample_rows(n, self.n_landmarks, check_random_state(self.random_state))
        drawn = DrawnRows(rows, at, kernel=kernel)
        self._begin(drawn.resolve(kernel), drawn.part(at)[0])
        state = Landmarks(self.kernel_, self.objects_)
        self._set_nystroem(rows.fold(block_moments, merge, state=state))
        if self.preimage is not None:
            self._fit_preimage(self.objects_, self._coordinates(self.objects_))
        return self

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
        X = check_objects(self, X, self.kernel_, reset=False, sparse=True)
        if not self._is_nystroem:
            self._require_objects("way to add to fewer than n_landmarks of them")
            if self._weighted:
                raise ValueError(
                    "KernelPCA.partial_fit knows no weights: the objects that it would be "
                    "fitted to anew had some. Fit them all at once."
                )
            self._fit_resolved(self.kernel_, concatenate(self.objects_, X), None)
            return self
        new = block_moments(X, state=Landmarks(self.kernel_, self.objects_))
        self._set_nystroem(merge(self._moments, new))
        return self

    def _fit(self, X: Any, sample_weight: Any) -> Any:
        kernel = kernel_parameter(self, "kernel")
        X = check_objects(self, X, kernel, reset=True, sparse=True)
        n = n_objects(X)
        counts = check_counts(self, sample_weight, n)
        if n < 2 and self.center:
            raise ValueError(
                "KernelPCA needs at least 2 objects to vary about their mean. Got n_samples = 1."
            )
        self._check_n_components(n)
        self._fit_resolved(kernel.resolve(X), X, counts)
        return X

    def _fit_resolved(self, kernel: Kernel, X: Any, counts: Array | None) -> None:
        n = n_objects(X)
        if (
            self.n_landmarks is not None
            and check_int(self.n_landmarks, "n_landmarks", self, low=1) < n
        ):
            rng = check_random_state(self.random_state)
            landmarks = sample_rows(n, self.n_landmarks, rng)
            objects = kernel.reference(X, landmarks)
            self._begin(kernel, objects, X[landmarks] if kernel.pairwise else objects)
            self._set_nystroem(block_moments(X, counts, state=Landmarks(kernel, objects)))
        else:
            self._begin(kernel, kernel.reference(X), None)
            n_pairs, share = self._wanted()
            self._set_axes(
                axes_of_all(
                    kernel,
                    X,
                    self.objects_,
                    center=self.center,
                    n_pairs=n_pairs,
                    share=share,
                    counts=counts,
                    solver=self.solver,
                    owner=self,
                )
            )
        self._weighted = counts is not None
        if self.preimage is not None:
            self._require_objects("pre-image of its own")
            self._fit_preimage(X, self._training_coordinates(X))

    def _begin(self, kernel: Kernel, objects: Any, landmarks: Any = _SAME) -> None:
        """Nothing is known yet but the reference objects, and how landmarks compare."""
        for stale in ("_moments", "_default_preimage"):
            self.__dict__.pop(stale, None)
        self.kernel_, self.objects_, self._weighted = kernel, objects, False
        if landmarks is not None:
            rows = objects if landmarks is _SAME else landmarks
            self._K_landmarks = check_gram(np.array(kernel.gram(rows, objects)), self)

    def _fit_preimage(self, X: Any, coordinates: np.ndarray) -> None:
        self.preimage_ = clone(self.preimage).fit(X, self._without_preimage(), coordinates)

    def _training_coordinates(self, X: Any) -> np.ndarray:
        known = not self._is_nystroem and not self._weighted
        return self.coordinates_ if known else self._coordinates(X)

    def _set_nystroem(self, found: LandmarkMoments) -> None:
        n_pairs, share = self._wanted()
        self._moments = found
        self._set_axes(
            nystroem_axes(
                self._K_landmarks,
                found.moments,
                diagonal=found.diagonal,
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
        offset = -(found.origin_inner @ found.dual) if found.offset is None else found.offset
        self.axes_ = Expansion(self.kernel_, self.objects_, found.dual, offset)
        length = np.array([[found.origin_weights @ found.origin_inner]])
        weights = found.origin_weights[:, None]
        self.origin_ = Expansion(self.kernel_, self.objects_, weights, gram=length)
        self.axes_gram_ = None
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
