"""Kernel dependency estimation: the whole square in one estimator."""

import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import check_int, check_length, former_fit_kept
from isthmus.features.kernel_pca.estimator import KernelPCA
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import check_collection, n_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.kernels.vectors.dot import Linear
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.preimage.default import default_preimage
from isthmus.regression.ridge.estimator import DEFAULT_ALPHAS, KernelRidgeCV

PASSTHROUGH = "passthrough"
SHARE_OF_VECTORS = 0.99
# The median distance is often too wide a kernel for inputs of some dimension: offer narrower.
GAUSSIANS = tuple(Gaussian(scale=scale) for scale in (1.0, 0.5, 0.25))


class DependencyEstimator(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Learn a map between two spaces, :math:`t=\Gamma\circ T\circ\varphi`.

    Inputs become coordinates (:math:`\varphi`), outputs become coordinates, a regression
    (:math:`T`) joins the two, and a pre-image (:math:`\Gamma`) brings predicted coordinates back to
    the space of outputs. The output kernel is the loss:
    :math:`\|\varphi(y)-\varphi(y')\|^2=l(y,y)+l(y',y')-2l(y,y')`.

    Any piece fits any slot, and every slot has a default: ``DependencyEstimator()`` on arrays is
    multi-output kernel ridge regression with its penalty chosen by leave-one-out; for
    other objects, name the kernels.

    Parameters
    ----------
    x_features : transformer, kernel, name, "passthrough" or None, default=None
        A kernel (or its name) means its whole feature space: with the default regressor kernel
        ridge on the inputs as they are, with another one all coordinates of ``KernelPCA``. None
        is the Gaussian kernel with the default regressor, and ``"passthrough"`` with another
        one, which then sees ``X`` itself.
    y_features : transformer, kernel, name, "passthrough" or None, default=None
        A kernel means ``KernelPCA`` with it: all components, or those that hold 99 % of the
        variance of vectors under a kernel that is not linear, where there are as many as
        rows and the last ones only cost time. None is a linear kernel, so that nothing is lost;
        ``"passthrough"`` takes the outputs as coordinates.
    regressor : multi-output regressor or None, default=None
        None is ridge regression with the penalty chosen by leave-one-out: in the kernel's
        feature space where ``x_features`` names a kernel, linear on the coordinates of a
        kernel feature map, and with a Gaussian kernel on those of other transformers.
    preimage : pre-image or None, default=None
        None takes ``y_features.inverse_transform`` where there is one (a manifold is its own
        pre-image), the exact one for a linear kernel, fixed points for a Gaussian one, a learned
        one for other vectors, and the nearest training output for anything else.
    crossfit : int or None, default=5
        A learned pre-image is fitted on coordinates that were predicted for its training
        outputs with their fold left out, in so many folds: it will be given predictions, and so
        learns what to undo. None fits it on the outputs' own coordinates, as published; that is
        cheaper, and fails where the map keeps few components. Other pre-images always know
        the outputs by their own coordinates.

    Attributes
    ----------
    x_features_, y_features_ : fitted transformers, or None where the data pass as they are.
    regressor_ : the fitted regressor.
    preimage_ : the fitted pre-image, or None where ``y_features_`` inverts itself.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.structured import DependencyEstimator
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> Y = np.c_[np.sin(6 * X), np.cos(6 * X)]
    >>> bool(DependencyEstimator().fit(X, Y).score(X, Y) > 0.999)
    True

    Words as outputs: a kernel is enough.

    >>> words = ["low" if x < 0.5 else "high" for x in X[:, 0]]
    >>> DependencyEstimator(y_features="delta").fit(X, words).predict([[0.1], [0.9]])
    array(['low', 'high'], dtype=object)
    """

    __module__ = "isthmus.structured"

    def __init__(
        self,
        *,
        x_features: Any = None,
        y_features: Any = None,
        regressor: Any = None,
        preimage: Any = None,
        crossfit: int | None = 5,
    ):
        self.x_features = x_features
        self.y_features = y_features
        self.regressor = regressor
        self.preimage = preimage
        self.crossfit = crossfit

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = self._input_kernel()
        tags.input_tags.pairwise = kernel is not None and kernel.pairwise
        return tags

    def fit(self, X: Any, y: Any) -> "DependencyEstimator":
        """Learn the three arrows from pairs of objects; return self."""
        if y is None:
            raise ValueError(
                "DependencyEstimator requires y to be passed, but the target y is None."
            )
        with former_fit_kept(self):
            X = check_collection(self, X, self._input_kernel(), reset=True)
            y_features = self._output_features()
            y_kernel = _kernel_of(y_features)
            if y_kernel is not None and y_kernel.pairwise:
                raise ValueError(
                    "DependencyEstimator cannot predict rows of a Gram matrix. Give the matrix to "
                    "y_features=Precomputed(gram) and the outputs as indices into it."
                )
            Y = check_collection(self, y, y_kernel, reset=None)
            check_length(self, n_objects(X), n_objects(Y), what="outputs as inputs")

            targets = Y if y_features is None else np.asarray(y_features.fit_transform(Y))
            x_features, regressor = self._input_arrows()
            inputs = X if x_features is None else x_features.fit_transform(X)
            regressor = regressor.fit(inputs, targets)
            preimage = self._output_preimage(y_features, _is_vectors(Y))
            if preimage is not None:
                known = self._coordinates_to_invert(preimage, regressor, inputs, targets)
                preimage.fit(Y, y_features, known)

        self.x_features_, self.y_features_ = x_features, y_features
        self.regressor_, self.preimage_ = regressor, preimage
        self._flat = _is_vectors(Y) and np.asarray(y).ndim == 1
        return self

    def predict_coordinates(self, X: Any) -> np.ndarray:
        """Return the predicted output coordinates, shape (n, n_components)."""
        check_is_fitted(self)
        X = check_collection(self, X, self._input_kernel(), reset=False)
        inputs = X if self.x_features_ is None else self.x_features_.transform(X)
        return np.asarray(self.regressor_.predict(inputs)).reshape(n_objects(X), -1)

    def predict(self, X: Any) -> Any:
        """Return the predicted outputs: an array of vectors, or a 1-D array of objects."""
        coordinates = self.predict_coordinates(X)
        if self.preimage_ is not None:
            Y = self.preimage_.solve(coordinates)
        elif self.y_features_ is not None:
            Y = self.y_features_.inverse_transform(coordinates)
        else:
            Y = coordinates
        return np.asarray(Y)[:, 0] if self._flat and np.ndim(Y) == 2 else Y

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions; for outputs that are not vectors, of their coordinates.

        The two can rank models differently: see :meth:`score_coordinates`.
        """
        Y = self._check_outputs(X, y)
        if not _is_vectors(Y):
            return self.score_coordinates(X, y, sample_weight)
        predicted = np.asarray(self.predict(X)).reshape(len(Y), -1)
        return float(r2_score(Y, predicted, sample_weight=sample_weight))

    def score_coordinates(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        r"""R² in the output feature space: the share of :math:`\|c(y)-\bar c\|^2` explained.

        It judges :math:`T\circ\varphi` alone, before the pre-image.
        """
        Y = self._check_outputs(X, y)
        true = Y if self.y_features_ is None else self.y_features_.transform(Y)
        predicted = self.predict_coordinates(X)
        return float(
            r2_score(
                np.asarray(true).reshape(len(predicted), -1),
                predicted,
                sample_weight=sample_weight,
                multioutput="variance_weighted",
            )
        )

    def _compressible_part(self) -> tuple["DependencyEstimator", str]:
        """This map or an equal one, and its part with an expansion over the training inputs."""
        if isinstance(self.regressor_, KernelRidgeCV):
            return self, "regressor_"
        if not isinstance(self.x_features_, KernelPCA):
            raise TypeError(
                "DependencyEstimator holds a kernel expansion where its regressor is a "
                "KernelRidgeCV or its x_features a KernelPCA. Got "
                f"{self.x_features_!r:.40} and {self.regressor_!r:.40} instead."
            )
        if not hasattr(self.regressor_, "coef_"):
            return self, "x_features_"
        # A linear T after φ is one expansion: its error is that of the map, while small errors
        # of axes with little variance would be blown up by T.
        fused = copy.copy(self)
        fused.regressor_ = _as_one_expansion(self.x_features_, self.regressor_)
        fused.x_features_ = None
        return fused, "regressor_"

    # The slots ----------------------------------------------------------------------

    def _input_kernel(self) -> Kernel | None:
        """The kernel that says what an input is; None where a foreign part decides."""
        slot = self.x_features
        if slot is None:
            return None if self.regressor is not None else as_kernel("gaussian")
        if _is_kernel(slot):
            return as_kernel(slot)
        return _kernel_of(slot)

    def _input_arrows(self) -> tuple[Any, Any]:
        """φ and T, unfitted; φ is None where T takes the inputs as they are."""
        slot, regressor = self.x_features, self.regressor
        if regressor is not None:
            _check_slot("regressor", regressor, "fit", "predict")
            regressor = clone(regressor)
        if slot is None or _is_kernel(slot):
            if regressor is None:
                return None, KernelRidgeCV(GAUSSIANS if slot is None else slot)
            return (None if slot is None else KernelPCA(kernel=slot)), regressor
        if isinstance(slot, str) and slot == PASSTHROUGH:
            return None, KernelRidgeCV(GAUSSIANS) if regressor is None else regressor
        _check_slot("x_features", slot, "fit", "transform")
        if regressor is None:
            linear = hasattr(slot, "expansion")
            regressor = RidgeCV(alphas=DEFAULT_ALPHAS) if linear else KernelRidgeCV(GAUSSIANS)
        return clone(slot), regressor

    def _output_features(self) -> Any:
        slot = self.y_features
        if slot is None:
            return KernelPCA(kernel=Linear())
        if isinstance(slot, str) and slot == PASSTHROUGH:
            return None
        if _is_kernel(slot):
            kernel = as_kernel(slot)
            many = kernel.vectors and not isinstance(kernel, Linear)
            return KernelPCA(SHARE_OF_VECTORS if many else None, kernel=slot)
        _check_slot("y_features", slot, "fit", "transform")
        return clone(slot)

    def _output_preimage(self, y_features: Any, vectors: bool) -> Any:
        """Γ, unfitted; None where the output features invert themselves."""
        if self.preimage is not None:
            _check_slot("preimage", self.preimage, "fit", "solve")
            if y_features is None:
                raise ValueError(
                    'A preimage needs output features. Got y_features="passthrough" instead.'
                )
            return clone(self.preimage)
        if y_features is None:
            return None
        if isinstance(y_features, KernelPCA) and y_features.preimage is None:
            return default_preimage(as_kernel(y_features.kernel), vectors=vectors)
        if hasattr(y_features, "inverse_transform"):
            return None
        return default_preimage(None, vectors=vectors)

    def _coordinates_to_invert(
        self, preimage: Any, regressor: Any, inputs: Any, targets: np.ndarray
    ) -> np.ndarray:
        """Coordinates that stand for the training outputs when Γ is fitted."""
        if self.crossfit is None or not getattr(preimage, "learns_from_coordinates", False):
            return targets
        n_folds = check_int(self.crossfit, "crossfit", self, low=2)
        if n_objects(inputs) < 2 * n_folds:
            return targets
        if isinstance(regressor, KernelRidgeCV):
            # Kernel and penalty were chosen on all rows; choosing anew in each fold buys nothing.
            regressor = KernelRidgeCV(
                regressor.kernel_, alphas=regressor.alpha_, fit_intercept=regressor.fit_intercept
            )
        folds = KFold(n_folds, shuffle=True, random_state=0)
        left_out = cross_val_predict(clone(regressor), inputs, targets, cv=folds)
        return np.asarray(left_out).reshape(targets.shape)

    def _check_outputs(self, X: Any, y: Any) -> Any:
        check_is_fitted(self)
        Y = check_collection(self, y, _kernel_of(self.y_features_), reset=None)
        check_length(self, n_objects(X), n_objects(Y), what="outputs as inputs")
        return Y


def _as_one_expansion(features: KernelPCA, linear: Any) -> KernelRidgeCV:
    """A linear regressor on kernel components, as an expansion over their objects."""
    kernel, objects, axes_and_origin = features._kernel_expansion()
    coef = np.atleast_2d(linear.coef_)
    model = KernelRidgeCV(kernel)
    model.kernel_, model.objects_ = kernel, objects
    model.dual_coef_ = axes_and_origin[:, :-1] @ coef.T
    model.intercept_ = np.asarray(linear.intercept_) - features.origin_coordinates_ @ coef.T
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(features, name):
            setattr(model, name, getattr(features, name))
    return model


def _is_kernel(slot: Any) -> bool:
    if isinstance(slot, str):
        return slot != PASSTHROUGH
    # Ours, one of scikit-learn's, or a function of two collections; parts of the square have fit.
    return callable(slot) and not hasattr(slot, "fit") and not isinstance(slot, type)


def _kernel_of(features: Any) -> Kernel | None:
    kernel = getattr(features, "kernel", None)
    return as_kernel(kernel) if isinstance(features, KernelPCA) and kernel is not None else None


def _is_vectors(Y: Any) -> bool:
    return isinstance(Y, np.ndarray) and Y.ndim == 2 and Y.dtype.kind == "f"


def _check_slot(name: str, part: Any, *methods: str) -> None:
    missing = [m for m in methods if not hasattr(part, m)]
    if missing or isinstance(part, type):
        hint = " Call it to make one." if isinstance(part, type) else ""
        raise TypeError(
            f"The {name!r} slot of DependencyEstimator must hold an object with "
            f"{' and '.join(methods)}. Got {part!r:.80} instead.{hint}"
        )
