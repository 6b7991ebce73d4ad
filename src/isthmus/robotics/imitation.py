"""Imitation: from pictures of a person to postures of an arm."""

import copy
import warnings
from typing import Any, ClassVar, Self

import numpy as np
from scipy.spatial import cKDTree
from sklearn.base import MultiOutputMixin, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_length
from isthmus._estimator import Estimator
from isthmus._parameters import (
    Constraint,
    choice,
    having,
    integer,
    none,
    real,
    resolved_by,
    several,
)
from isthmus.features.kernel_pca.estimator import KernelPCA
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.resolve import as_kernel
from isthmus.kernels.vectors.dot import Linear
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.kernels.vectors.histogram import HistogramIntersection
from isthmus.preimage.candidate import CandidatePreimage
from isthmus.preimage.default import default_preimage
from isthmus.preimage.vectors.constrained import ConstrainedPreimage
from isthmus.regression.rank.reduced_rank import ReducedRankRegression
from isthmus.robotics.joint_path import find_way_points, neighbour_threshold, sample_evenly
from isthmus.robotics.pose.features import PoseFeatures
from isthmus.robotics.pose.kernel import PoseKernel
from isthmus.structured.dependency import DependencyEstimator
from isthmus.typing import Array, BoolArray

# Penalties to choose from, as shares of the largest eigenvalue of the inputs' scatter.
PENALTIES = np.logspace(-4, 0, 9)
# Width of the default Gaussian of joint positions, as a share of the chain's reach.
WIDTH = 450.0 / 1030.0
# Weight of staying close to a known posture, as a share of the mean squared length of components.
NEARNESS = 0.05


A_KERNEL = resolved_by(as_kernel, "a kernel, its name or a callable")
COMPONENTS = integer(1) | real(0, 1, include_low=False, include_high=False) | none


class ImitationModel(MultiOutputMixin, RegressorMixin, Estimator):
    r"""Learn which posture of an arm matches a picture of a person, from a few pairs.

    Pictures become histograms (:class:`PoseFeatures`), and these become kernel components, which
    are also learned from pictures without a posture. Postures become components of a
    :class:`PoseKernel`. A regression of limited rank joins the two, and a pre-image brings
    predicted components back to joint values [Bakir2005]_: a
    :class:`~isthmus.structured.DependencyEstimator` (``square_``) with these parts. The components
    of the pictures and the regression are fused into one expansion (``extractor_``), which
    :func:`isthmus.reduction.compress` shortens.

    Without a chain the outputs are plain vectors under a linear kernel, and tables of numbers can
    take the place of pictures.

    Parameters
    ----------
    chain : KinematicChain or None, default=None
        The arm that imitates; postures are vectors of its joint values.
    features : transformer or None, default=None
        Turns pictures into rows of numbers. None is ``PoseFeatures()`` for pictures, and uses a
        table as it is. Give one with ``background`` and ``skin_pixels``: colour helps a lot.
    x_kernel : kernel, name or None, default=None
        Compares rows. None is :class:`~isthmus.kernels.HistogramIntersection` for pictures and a
        Gaussian for tables.
    y_kernel : kernel, name or None, default=None
        Compares postures. None is a :class:`PoseKernel` with a Gaussian base of 0.44 times
        the chain's reach, 450 mm for the PA-10; linear without a chain.
    x_components, y_components : int, float or None, default=0.95
        Number of components, or the share of variance they hold, as for ``KernelPCA``.
    rank : int or None, default=None
        Rank of the regression; None chooses by cross-validation.
    alpha : float, sequence of float or None, default=None
        Its penalty; from several, one is chosen together with the rank. None tries nine shares of
        the largest eigenvalue of the inputs' scatter, from 1e-4 to 1. The published one is 0.
    cv : int, default=5
        Number of folds of the cross-validation.
    preimage : pre-image, "nearest" or None, default=None
        How components become postures. None finds joint values within the limits of the chain
        (:class:`~isthmus.preimage.ConstrainedPreimage`); ``"nearest"``, as published, takes the
        nearest known posture.
    threshold : float or None, default=None
        How far a :meth:`path` may lead away from known postures, as a distance of components.
        None is the distance within which 95 % of the known postures have a neighbour.

    Attributes
    ----------
    features_ : the fitted transformer, or None
    square_ : fitted ``DependencyEstimator``
        From rows to postures; the four below are its parts.
    x_features_, y_features_ : fitted ``KernelPCA``
    regressor_ : fitted ``ReducedRankRegression``
    preimage_ : the fitted pre-image
    extractor_ : Expansion
        Called on rows, it returns the ``rank_`` coordinates that predictions are made from.
    neutral_ : ndarray
        The prediction for a picture without information, such as one without any skin.
    rank_, alpha_ : what was chosen.

    See Also
    --------
    isthmus.structured.DependencyEstimator : the same square with any piece in any slot.

    Examples
    --------
    >>> from isthmus.datasets import make_imitation_scenes
    >>> from isthmus.robotics import ImitationModel, PoseFeatures, pa10
    >>> scenes = make_imitation_scenes(60, random_state=0)
    >>> features = PoseFeatures(30, skin_pixels=scenes.skin_pixels, max_contexts=200)
    >>> model = ImitationModel(pa10(), features=features)
    >>> model = model.fit(scenes.images[:40], scenes.postures[:40], unlabelled=scenes.images)
    >>> model.predict(scenes.images[40:]).shape
    (20, 7)
    """

    __module__ = "isthmus.robotics"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "chain": having("forward", "position_jacobians", text="a KinematicChain") | none,
        "features": having("fit", "transform", text="a transformer") | none,
        "x_kernel": A_KERNEL | none,
        "y_kernel": A_KERNEL | none,
        "x_components": COMPONENTS,
        "y_components": COMPONENTS,
        "rank": integer(1) | none,
        "alpha": real(0) | several(real(0)) | none,
        "cv": integer(2),
        "preimage": choice("nearest") | having("fit", "solve", text="a pre-image") | none,
        "threshold": real(0) | none,
    }

    def __init__(
        self,
        chain: Any = None,
        *,
        features: Any = None,
        x_kernel: Any = None,
        y_kernel: Any = None,
        x_components: Any = 0.95,
        y_components: Any = 0.95,
        rank: int | None = None,
        alpha: Any = None,
        cv: int = 5,
        preimage: Any = None,
        threshold: float | None = None,
    ):
        self.chain = chain
        self.features = features
        self.x_kernel = x_kernel
        self.y_kernel = y_kernel
        self.x_components = x_components
        self.y_components = y_components
        self.rank = rank
        self.alpha = alpha
        self.cv = cv
        self.preimage = preimage
        self.threshold = threshold

    def fit(self, X: Any, y: Any, unlabelled: Any = None) -> Self:
        """Learn from pictures ``X`` and postures ``y``.

        Parameters
        ----------
        X : pictures, or an array of shape (n, n_features)
        y : array of shape (n, n_joints)
        unlabelled : more pictures or rows, whose postures are not known
            If given, the codebook and the kernel components are learned from these alone.
        """
        if y is None:
            raise ValueError("ImitationModel requires y to be passed, but the target y is None.")
        Y, flat = self._check_outputs(y)
        features, rows, others = self._fit_features(X, unlabelled)
        check_length(self, len(rows), len(Y), what="postures as pictures")

        kernel = self.x_kernel
        if kernel is None:
            kernel = Gaussian() if features is None else HistogramIntersection()
        x_features = KernelPCA(self.x_components, kernel=kernel).fit(others)
        y_features = KernelPCA(self.y_components, kernel=self._output_kernel()).fit(Y)
        regressor = ReducedRankRegression(
            self.rank, alpha=self._penalties(x_features.transform(rows)), cv=self.cv
        )
        square = DependencyEstimator(
            x_features=FrozenEstimator(x_features),
            y_features=FrozenEstimator(y_features),
            regressor=regressor,
            preimage=self._output_preimage(y_features),
            crossfit=None,
        ).fit(rows, Y)

        self.features_, self.square_, self._flat = features, square, flat
        self.x_features_, self.y_features_ = x_features, y_features
        self.regressor_, self.preimage_ = square.regressor_, square.preimage_
        self.rank_, self.alpha_ = self.regressor_.rank_, self.regressor_.alpha_
        self.extractor_ = _extractor(square.expansion_, square.regressor_)
        self._tree, self._postures = cKDTree(self.preimage_.coordinates_), Y
        self.neutral_ = self._solve(self.regressor_.intercept_[None])[0]
        return self

    # A search tree is quickly grown again, and a model file cannot hold one.

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_tree"}

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        if "preimage_" in self.__dict__:
            self._tree = cKDTree(self.preimage_.coordinates_)

    def predict_coordinates(self, X: Any) -> Array:
        """Return the predicted components of the postures, shape (n, n_components)."""
        check_is_fitted(self)
        return self._coordinates(self._rows(X))

    def predict(self, X: Any) -> Array:
        """Return the posture for each picture, shape (n, n_joints)."""
        postures = self._solve(self.predict_coordinates(X))
        return postures[:, 0] if self._flat else postures

    def is_known(self, X: Any) -> BoolArray:
        """Whether each picture shows what the model needs: a figure with an outline and skin."""
        check_is_fitted(self)
        return self._known(self._rows(X))

    def path(self, start: Any, goal: Any, n_steps: int | None = None) -> Array:
        """Postures from ``start`` to ``goal`` along known ones.

        Where the straight path in joint values leads farthest away from all known postures, it is
        bent, again and again, to the nearest of them. With ``n_steps`` the path is divided into
        that many equal steps; otherwise its way points are returned.
        """
        check_is_fitted(self)
        threshold = (
            self.threshold if self.threshold is not None else neighbour_threshold(self._tree)
        )
        way = find_way_points(
            self._check_posture("start", start),
            self._check_posture("goal", goal),
            self._postures,
            self.y_features_.transform,
            tree=self._tree,
            threshold=threshold,
        )
        return way if n_steps is None else sample_evenly(way, n_steps)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    # Parts ------------------------------------------------------------------------------

    def _fit_features(self, X: Any, unlabelled: Any) -> tuple[Any, Array, Array]:
        """The fitted transformer, rows of the pairs, and rows to learn components from."""
        if self.features is None and not _are_pictures(X):
            rows = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
            others = rows
            if unlabelled is not None:
                others = validate_data(self, unlabelled, dtype=rows.dtype, reset=False)
            return None, rows, others
        features = PoseFeatures() if self.features is None else clone(self.features)
        most = X if unlabelled is None else unlabelled
        # A frozen transformer has no fit_transform.
        once = getattr(features, "fit_transform", None)
        others = np.asarray(once(most) if once else features.fit(most, None).transform(most))
        rows = others if unlabelled is None else np.asarray(features.transform(X))
        return features, rows, others

    def _rows(self, X: Any) -> Array:
        if self.features_ is None:
            return np.asarray(validate_data(self, X, dtype=[np.float64, np.float32], reset=False))
        return np.asarray(self.features_.transform(X))

    def _known(self, rows: Array) -> BoolArray:
        if not hasattr(self.features_, "blocks_"):
            return np.ones(len(rows), dtype=bool)
        blocks = [b for b in self.features_.blocks_.values() if b.stop > b.start]
        return np.all([rows[:, block].any(axis=1) for block in blocks], axis=0)

    def _coordinates(self, rows: Array) -> Array:
        # Rows of the features are as they were in the fit; the parts check what they are given.
        square = self.square_
        inputs = rows if square.x_features_ is None else square.x_features_.transform(rows)
        coordinates = np.asarray(square.regressor_.predict(inputs)).reshape(len(rows), -1)
        # A picture without information is treated like the mean of all pictures.
        coordinates[~self._known(rows)] = self.regressor_.intercept_
        return coordinates

    def _solve(self, coordinates: Array) -> Array:
        with warnings.catch_warnings():
            # Only a few iterations are made on purpose: a command is wanted now.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return np.asarray(self.preimage_.solve(coordinates))

    def _output_kernel(self) -> Any:
        if self.y_kernel is not None:
            return as_kernel(self.y_kernel)
        if self.chain is None:
            return Linear()
        if not self.chain.reach > 0:
            raise ValueError(
                "The chain of ImitationModel must have lengths, to which the width of the default "
                f"y_kernel is in proportion. Got a chain of {self.chain.n_joints} joints at one "
                "point instead: give a y_kernel."
            )
        return PoseKernel(self.chain, base=Gaussian.from_width(WIDTH * self.chain.reach))

    def _output_preimage(self, y_features: KernelPCA) -> Any:
        if isinstance(self.preimage, str):
            return CandidatePreimage()
        if self.preimage is not None:
            return clone(self.preimage)
        if self.chain is None:
            return default_preimage(y_features)
        # A joint that hardly affects the components stays as in the nearest known posture.
        spread = float(np.sum(y_features.eigenvalues_)) / len(y_features.objects_)
        # A command is wanted now: a fraction of a degree in a few iterations.
        return ConstrainedPreimage(
            self.chain, proximity=NEARNESS * spread, n_init=1, tol=1e-5, max_iter=20
        )

    def _penalties(self, inputs: Array) -> Any:
        if self.alpha is not None:
            return self.alpha
        largest = np.linalg.norm(inputs - inputs.mean(axis=0), ord=2) ** 2
        return [float(a) for a in PENALTIES * largest]

    def _check_outputs(self, y: Any) -> tuple[Array, bool]:
        Y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y", estimator=self)
        flat = Y.ndim == 1
        Y = Y.reshape(len(Y), -1)
        if self.chain is not None and Y.shape[1] != self.chain.n_joints:
            raise ValueError(
                f"ImitationModel expected postures of {self.chain.n_joints} joints. "
                f"Got y of shape {np.shape(y)} instead."
            )
        return Y, flat

    def _check_posture(self, name: str, q: Any) -> Array:
        posture = np.asarray(q, dtype=float)
        if posture.shape != (self._postures.shape[1],) or not np.isfinite(posture).all():
            raise ValueError(
                f"ImitationModel.path expected {name} to be one posture of "
                f"{self._postures.shape[1]} finite joint values. Got {q!r:.60} instead."
            )
        return posture

    # Reduced sets: see isthmus.reduction.compress ---------------------------------------

    @property
    def expansion_(self) -> Expansion:
        """The functions of rows from which predictions are made."""
        check_is_fitted(self)
        return self.square_.expansion_

    def with_expansion(self, expansion: Expansion) -> "ImitationModel":
        """A fitted copy that predicts through this expansion."""
        model = copy.copy(self)
        model.square_ = self.square_.with_expansion(expansion)
        model.extractor_ = _extractor(expansion, self.regressor_)
        return model


def _extractor(predictions: Expansion, regressor: ReducedRankRegression) -> Expansion:
    """The coordinates that the last map of the regression, s V', turns into predictions."""
    s, V, b = regressor.s_, regressor.V_, regressor.intercept_
    back = V / np.where(s > 0, s, 1.0)
    return predictions.then(back, -(b @ back))


def _are_pictures(X: Any) -> bool:
    if isinstance(X, np.ndarray):
        return X.ndim >= 3
    return isinstance(X, (list, tuple)) and len(X) > 0 and np.ndim(X[0]) == 3
