"""Kernel dependency estimation: the whole square in one estimator."""

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import check_length
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, integer, none, resolved_by
from isthmus.kernels.objects import check_collection, concatenate, n_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.losses.tasks.base import Decoded
from isthmus.losses.tasks.resolve import as_task_loss
from isthmus.preimage.minimum_risk import MinimumRiskPreimage
from isthmus.regression.selection import CRITERIA, as_selection
from isthmus.structured.by_loss import fit_loss_map, mean_costs, refuse_slots
from isthmus.structured.crossfit import (
    coordinates_to_invert,
    enough_rows,
    fit_inputs,
    fit_map,
    output_coordinates,
)
from isthmus.structured.expansion import SquareExpansion
from isthmus.structured.given import Given, counted_rows, routing_of
from isthmus.structured.in_blocks import FitsBlocks
from isthmus.structured.labels import in_type, label_type, plain_outputs
from isthmus.structured.loss_inputs import check_loss_inputs
from isthmus.structured.missing import has_missing, missing_outputs, refuse_missing
from isthmus.structured.reverse import Reversible
from isthmus.structured.slots import (
    a_slot,
    for_outputs,
    input_arrows,
    input_kernel,
    input_kinds,
    is_kernel,
    learning_from,
    output_features,
    output_preimage,
)
from isthmus.typing import OBJECT_KINDS, Smoother, needs, provides


class DependencyEstimator(
    FitsBlocks, Reversible, SquareExpansion, MultiOutputMixin, RegressorMixin, Estimator
):
    r"""Learn a map between two spaces, :math:`t=\Gamma\circ T\circ\varphi`.

    Inputs become coordinates (:math:`\varphi`), outputs become coordinates, a regression
    (:math:`T`) joins the two, and a pre-image (:math:`\Gamma`) brings predicted coordinates back to
    the space of outputs. The output kernel is the loss:
    :math:`\|\varphi(y)-\varphi(y')\|^2=l(y,y)+l(y',y')-2l(y,y')`.

    Any piece fits any slot that asks for no more than it provides (see :mod:`isthmus.typing`), and
    every slot has a default: ``DependencyEstimator()`` on arrays is multi-output kernel ridge
    regression with its penalty chosen by leave-one-out; for other objects, name the kernels.

    Or name the loss: with ``loss="f1"`` the answer is the label set of largest expected F1, and
    kernel, width and penalty are those of the smallest loss on rows left out. A loss takes the
    place of ``y_features`` and ``preimage``: :math:`T` says how much each training output counts,
    :math:`\Gamma` is :class:`~isthmus.preimage.MinimumRiskPreimage`.

    Parameters
    ----------
    x_features : transformer, kernel, name, "passthrough" or None, default=None
        A kernel (or its name) means its whole feature space: with the default regressor kernel
        ridge on the inputs as they are, with another one all coordinates of ``KernelPCA``. None
        is the Gaussian kernel with the default regressor, and ``"passthrough"`` with another
        one, which then sees ``X`` itself. A supervised transformer learns from the coordinates of
        the outputs.
    y_features : transformer, kernel, name, "passthrough" or None, default=None
        A kernel means ``KernelPCA`` with it: all components, or those that hold 99 % of the
        variance of vectors under a kernel that is not linear, where there are as many as
        rows and the last ones only cost time. None is a linear kernel, so that nothing is lost;
        ``"passthrough"`` takes the outputs as coordinates.
    regressor : multi-output regressor or None, default=None
        None is ridge regression with the penalty chosen by leave-one-out, where the published map
        is given one, in units of the outputs and so of no use as a default: in the kernel's
        feature space where ``x_features`` names a kernel, linear on the coordinates of a
        kernel feature map, and with a Gaussian kernel on those of other transformers. One that
        predicts a single output is fitted once for each coordinate.
    preimage : pre-image or None, default=None
        None takes ``y_features.inverse_transform`` where there is one (a manifold is its own
        pre-image), the exact one for a linear kernel, fixed points for a Gaussian one, a learned
        one for other vectors, and the nearest training output for anything else.
    crossfit : int or None, default=5
        Number of folds in which coordinates are predicted for rows that were left out, where a
        part would otherwise learn from coordinates that know the outputs: the regression behind
        supervised ``x_features``, and a learned pre-image, which will be given predictions and so
        learns what to undo. None fits both on the coordinates at hand, as published; that is
        cheaper, and worse where the map keeps few components or follows its outputs closely.
    loss : name, TaskLoss, function of two objects or None, default=None
        What an answer costs, see :mod:`isthmus.losses`: ``"f1"``, ``"hamming"``, ``"jaccard"`` and
        ``"zero_one"`` for label sets, ``"absolute"``, ``Quantile(0.9)`` and ``"interval"`` for
        vectors, ``"kendall"`` for rankings, ``"edit"`` for sequences.
    cv : Selection, "loo", int or splitter, default="loo"
        Which rows are left out to choose kernel and penalty where a loss is named.

    Attributes
    ----------
    x_features_, y_features_ : fitted transformers, or None where the data pass as they are.
    regressor_ : the fitted regressor.
    preimage_ : the fitted pre-image, or None where ``y_features_`` inverts itself.
    left_out_loss_ : float or None
        Mean loss of the answers for training rows that were left out, where a loss is named and
        the regression was chosen by it.

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

    Or a loss.

    >>> DependencyEstimator(loss="zero_one").fit(X, words).predict([[0.1], [0.9]])
    array(['low', 'high'], dtype=object)
    """

    __module__ = "isthmus.structured"
    _constraints: ClassVar[dict[str, Constraint]] = {
        # What stands in a slot is asked what it provides, when it is fitted.
        **dict.fromkeys(("x_features", "y_features", "regressor", "preimage"), a_slot),
        "crossfit": integer(2) | none,
        "loss": resolved_by(as_task_loss, "a task loss, its name or a function of two objects")
        | none,
        "cv": CRITERIA,
    }

    def __init__(
        self,
        *,
        x_features: Any = None,
        y_features: Any = None,
        regressor: Any = None,
        preimage: Any = None,
        crossfit: int | None = 5,
        loss: Any = None,
        cv: Any = "loo",
    ):
        self.x_features = x_features
        self.y_features = y_features
        self.regressor = regressor
        self.preimage = preimage
        self.crossfit = crossfit
        self.loss = loss
        self.cv = cv

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        named = isinstance(self.x_features, (list, tuple))  # kernels to choose from
        tags.input_tags.pairwise = not named and "pairwise" in self._input_kinds()
        tags.input_tags.sparse = self.loss is not None and self.regressor is None
        tags.regressor_tags.poor_score = self.loss is not None  # it is a loss with a minus sign
        return tags

    def get_metadata_routing(self) -> Any:
        """What it asks for itself, and its parts, see scikit-learn's metadata routing."""
        return routing_of(self)

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        unlabelled: Any = None,
        unlabelled_outputs: Any = None,
        **fit_params: Any,
    ) -> "DependencyEstimator":
        """Learn the three arrows from pairs of objects; return self.

        Parameters
        ----------
        X, y : inputs and outputs, as many of each
        sample_weight : array of shape (n,) or None, default=None
            How often each pair counts: for the regression, for features that take it, and for the
            left-out loss by which kernel and penalty are chosen.
        groups : array of shape (n,) or None, default=None
            Rows of a group are left out together where something is chosen or cross-fitted: one
            group at a time, or the groups of the folds of ``cv``.
        unlabelled : inputs or None, default=None
            Further inputs, without outputs: unsupervised ``x_features`` learn from them too.
        unlabelled_outputs : outputs or None, default=None
            Further outputs, without inputs: ``y_features`` and the pre-image learn from them too.
        **fit_params
            With ``sklearn.set_config(enable_metadata_routing=True)``, what parts have asked for.
        """
        y = plain_outputs(self, y)
        self._labels = label_type(y)
        told = {"sample_weight": sample_weight, "groups": groups, "more": fit_params}
        fit = self._fit_by_features if self.loss is None else self._fit_by_loss
        return fit(X, y, unlabelled, unlabelled_outputs, told)

    def _fit_by_features(
        self, X: Any, y: Any, unlabelled: Any, unlabelled_outputs: Any, told: Any
    ) -> "DependencyEstimator":
        x_features, regressor = input_arrows(self.x_features, self.regressor)
        y_features = output_features(self.y_features)
        X = self._check_inputs(X, reset=True)
        if has_missing(y):
            y_features, regressor = missing_outputs(self, regressor)
        Y, kinds = self._check_outputs(y, y_features)
        check_length(self, n_objects(X), n_objects(Y), what="outputs as inputs")
        X, Y, given = counted_rows(self, X, Y, **told)
        preimage = output_preimage(self.preimage, y_features, regressor, kinds)
        more_X = None if unlabelled is None else self._check_inputs(unlabelled, reset=False)
        more_Y = Y
        if unlabelled_outputs is not None:
            more_Y = concatenate(Y, self._check_outputs(unlabelled_outputs, y_features)[0])

        # The square: coordinates of outputs, coordinates of inputs, T between them, and back.
        targets = output_coordinates(y_features, Y, more_Y, given)
        with learning_from(x_features, targets.shape[1]):
            inputs, rows = fit_inputs(x_features, X, more_X, targets, self._n_folds(X), given)
        regressor = for_outputs(regressor, targets.shape[1])
        given = given.take(rows)
        learned = preimage is not None and "learned" in provides(preimage)
        n_folds = self._n_folds(inputs) if learned else None
        regressor, left_out = fit_map(regressor, inputs, targets[rows], n_folds, given)
        if preimage is not None:
            known = coordinates_to_invert(targets[rows], left_out, y_features, more_Y)
            preimage.fit(more_Y, y_features, known)

        self.x_features_, self.y_features_ = x_features, y_features
        self.regressor_, self.preimage_ = regressor, preimage
        self.left_out_loss_: float | None = None
        self._map, self._pairs = None, (X, y if given.counts is None else Y)
        self._flat, self._sparse = "vectors" in kinds and np.asarray(y).ndim == 1, False
        return self

    def predict_coordinates(self, X: Any) -> np.ndarray:
        """Return the predicted output coordinates, shape (n, n_components)."""
        inputs = self.transform_inputs(X)
        return np.asarray(self.regressor_.predict(inputs)).reshape(n_objects(inputs), -1)

    def decode(self, X: Any) -> Decoded:
        """Return the answers for a named loss, their risk and whether each is proved best."""
        inputs = self.transform_inputs(X)
        if self._map is None:
            raise TypeError("DependencyEstimator.decode needs a loss: construct it with loss=.")
        # A compressed model has another regressor than the one that was fitted.
        found: Decoded = self._map._replace(regressor=self.regressor_).decode(inputs)
        return found

    def predict(self, X: Any) -> Any:
        """Return the predicted outputs: an array of vectors, or a 1-D array of objects."""
        check_is_fitted(self)
        if self._map is not None:
            return in_type(self.decode(X).outputs, self._labels)
        if self._by_weights:
            smoother: Smoother = self.regressor_
            Y = self.preimage_.solve(smoother.weights(self.transform_inputs(X)))
        else:
            Y = self._outputs_at(self.predict_coordinates(X))
        return np.asarray(Y)[:, 0] if self._flat and np.ndim(Y) == 2 else in_type(Y, self._labels)

    def transform_inputs(self, X: Any) -> Any:
        """Return the coordinates of inputs that the regression is given."""
        check_is_fitted(self)
        X = self._check_inputs(X, reset=False)
        if self._sparse and not sparse.issparse(X):
            X = sparse.csr_array(X)
        return X if self.x_features_ is None else np.asarray(self.x_features_.transform(X))

    def _outputs_at(self, coordinates: np.ndarray) -> Any:
        if self.preimage_ is not None:
            return self.preimage_.solve(coordinates)
        own = self.y_features_
        return coordinates if own is None else own.inverse_transform(coordinates)

    @property
    def _by_weights(self) -> bool:
        """Whether Γ is given weights over the training outputs in place of coordinates."""
        check_is_fitted(self)
        return self.preimage_ is not None and "weights" in needs(self.preimage_)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions; for outputs that are not vectors, of their coordinates.

        The two can rank models differently: see :meth:`score_coordinates`. Where a loss is named,
        it is the mean loss with a minus sign.
        """
        check_is_fitted(self)
        if self._map is not None:
            costs = mean_costs(self, self._map, X, y)
            return -float(np.average(costs, weights=sample_weight))
        Y, kinds = self._check_pairs(X, y)
        if "vectors" not in kinds:
            return self.score_coordinates(X, y, sample_weight)
        predicted = np.asarray(self.predict(X)).reshape(len(Y), -1)
        return float(r2_score(Y, predicted, sample_weight=sample_weight))

    def score_coordinates(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        r"""R² in the output feature space: the share of :math:`\|c(y)-\bar c\|^2` explained.

        It judges :math:`T\circ\varphi` alone, before the pre-image.
        """
        Y, _ = self._check_pairs(X, y)
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

    # A loss in place of output features ---------------------------------------------------

    def _fit_by_loss(self, X: Any, y: Any, unlabelled: Any, more_outputs: Any, told: Any) -> Any:
        refuse_slots(self, more_outputs)
        X = check_loss_inputs(self, X, reset=True)
        more_X = None if unlabelled is None else check_loss_inputs(self, unlabelled, reset=False)
        refuse_missing(y)
        y = as_task_loss(self.loss).check(y)
        check_length(self, n_objects(X), n_objects(y), what="outputs as inputs")
        return self.fit_given(*counted_rows(self, X, y, **told), more_X)

    def fit_given(self, X: Any, y: Any, given: Given, more_X: Any = None) -> Any:
        """Learn from checked pairs by the loss, with what is known of the rows; return self."""
        preimage, self._sparse = MinimumRiskPreimage(self.loss).fit(y), sparse.issparse(X)
        parts = self.x_features, self.regressor, X, more_X, preimage
        selection = given.selection(as_selection(self.cv, self))
        found = fit_loss_map(*parts, selection, self._n_folds(X), given)
        self.x_features_, self.y_features_, self._map = found.x_features, None, found
        self.regressor_, self.preimage_, self._flat = found.regressor, preimage, False
        self.left_out_loss_, self._pairs = found.left_out_loss, (X, y)
        return self

    # Steps of fit -----------------------------------------------------------------------

    def _n_folds(self, X: Any) -> int | None:
        """Folds of cross-fitting; None where there is none, or too few rows for it."""
        if self.crossfit is None:
            return None
        return self.crossfit if enough_rows(X, self.crossfit) else None

    # Checks -----------------------------------------------------------------------------

    def _input_kinds(self) -> frozenset[str]:
        return input_kinds(self.x_features, self.regressor)

    def _check_inputs(self, X: Any, *, reset: bool) -> Any:
        if self.loss is not None:
            return check_loss_inputs(self, X, reset=reset)
        kernel = input_kernel(self.x_features, self.regressor)
        return check_collection(self, X, kernel, kinds=self._input_kinds(), reset=reset)

    def _check_outputs(self, y: Any, y_features: Any) -> tuple[Any, frozenset[str]]:
        """The outputs as their features want them, and what an output is."""
        # Outputs that pass as coordinates are rows of numbers.
        kinds = provides(y_features) & OBJECT_KINDS if y_features is not None else {"vectors"}
        if "pairwise" in kinds:
            raise ValueError(
                "DependencyEstimator cannot predict rows of a Gram matrix. Give the matrix to "
                "y_features=Precomputed(matrix) and the outputs as indices into it."
            )
        if y_features is None and has_missing(y):
            return check_array(y, dtype=np.float64, ensure_all_finite="allow-nan"), frozenset(kinds)
        kernel = as_kernel(self.y_features) if is_kernel(self.y_features) else None
        Y = check_collection(self, y, kernel, kinds=kinds, reset=None)
        table = isinstance(Y, np.ndarray) and Y.ndim == 2
        return Y, frozenset(kinds or {"vectors" if table else "objects"})

    def _check_pairs(self, X: Any, y: Any) -> tuple[Any, frozenset[str]]:
        check_is_fitted(self)
        Y, kinds = self._check_outputs(y, self.y_features_)
        check_length(self, n_objects(X), n_objects(Y), what="outputs as inputs")
        return Y, kinds
