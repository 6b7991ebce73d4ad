"""The square for a loss that is named: T gives weights or columns, Γ the answer of least risk."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from isthmus._checks import check_length, shortened
from isthmus.blocks.sampling import sample_rows
from isthmus.blocks.slices import block_slices
from isthmus.kernels.objects import n_objects, take
from isthmus.losses.tasks.base import Decoded, TaskLoss
from isthmus.losses.tasks.collections import n_outputs, take_outputs
from isthmus.preimage.minimum_risk import MinimumRiskPreimage, join_decoded
from isthmus.regression.ridge.estimator import KernelRidgeCV
from isthmus.regression.ridge.search import KERNELS
from isthmus.regression.selection import Choice, Selection
from isthmus.smoothers.adapters import as_smoother
from isthmus.structured.crossfit import fit_inputs
from isthmus.structured.given import Given
from isthmus.structured.landmarks import LandmarkRidge
from isthmus.structured.left_out_risk import MOST_DECODED, Judge, choose_ridge, rows_to_choose_on
from isthmus.structured.loss_inputs import holds_objects, kernels_to_try, named_kernels
from isthmus.structured.slots import for_outputs, input_arrows, learning_from
from isthmus.typing import Array, provides

# Beyond so many rows kernel ridge regression is done on landmarks.
MOST_EXACT = 3000
# Words and graphs lose more by landmarks, and their kernel values cost more than the solution.
MOST_EXACT_OBJECTS = 6000
N_LANDMARKS = 1500
# Outputs to which costs are computed, where a regression needs coordinates and there are none.
N_REFERENCES = 30


class LossMap(NamedTuple):
    """φ, T and Γ for a loss, fitted, and the mean loss of left-out rows where T was chosen."""

    regressor: Any
    preimage: MinimumRiskPreimage
    left_out_loss: float | None
    x_features: Any = None

    def decode(self, inputs: Any) -> Decoded:
        """Answers for coordinates of inputs, in batches."""
        gamma = self.preimage
        width = gamma.columns.shape[1] if gamma.by_columns else gamma.n_outputs_
        batches = block_slices(n_objects(inputs), 4 * width)
        return join_decoded([self._decode(take(inputs, rows)) for rows in batches])

    def _decode(self, inputs: Any) -> Decoded:
        if self.preimage.by_columns:
            values = np.asarray(self.regressor.predict(inputs), dtype=np.float64)
            return self.preimage.decode_columns(values.reshape(n_objects(inputs), -1))
        return self.preimage.decode(self.regressor.weights(inputs))


def fit_loss_map(
    x_features: Any,
    regressor: Any,
    X: Any,
    more_X: Any,
    preimage: MinimumRiskPreimage,
    selection: Selection,
    n_folds: int | None,
    given: Given,
) -> LossMap:
    """The three arrows for checked inputs and a pre-image that has the outputs."""
    features, machine = loss_arrows(x_features, regressor)
    inputs, rows = X, slice(None)
    if features is not None:
        targets = regression_targets(preimage)
        with learning_from(features, targets.shape[1]):
            inputs, rows = fit_inputs(features, X, more_X, targets, n_folds, given)
        if rows != slice(None):
            raise TypeError(
                f"x_features={shortened(features)} keeps only some rows; a loss needs all."
            )
    if machine is not None:
        return fit_given(machine, inputs, preimage, given)._replace(x_features=features)
    kernels = kernels_to_try(x_features, inputs)
    centred = kernels is KERNELS and features is None and isinstance(inputs, np.ndarray)
    if centred:
        # Far from the origin a linear kernel has lost its digits; the others do not mind.
        features = StandardScaler(with_std=False).fit(inputs)
        inputs = features.transform(inputs)
    found = fit_ridge(kernels, inputs, preimage, selection, given)._replace(x_features=features)
    if kernels is not KERNELS or not centred or not uneven(inputs):
        return found
    # Columns of different units: with their spreads taken out, or as they are?
    scaler = StandardScaler().fit(X)
    scaled = fit_ridge(kernels, scaler.transform(X), preimage, selection, given)
    better = (scaled.left_out_loss or 0.0) < (found.left_out_loss or 0.0)
    return scaled._replace(x_features=scaler) if better else found


def uneven(X: Any) -> bool:
    """Whether the columns of a dense table have spreads of different size."""
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        return False
    spread = X.std(axis=0)
    spread = spread[spread > 0]
    return len(spread) > 1 and float(spread.max()) > 1.5 * float(spread.min())


def fit_ridge(
    kernels: Sequence[Any],
    inputs: Any,
    preimage: MinimumRiskPreimage,
    selection: Selection,
    given: Given,
) -> LossMap:
    """Kernel ridge regression, exact or on landmarks, chosen by the loss of left-out rows."""
    loss, outputs = preimage.loss_, preimage.objects_
    judge = Judge(loss.for_choice(), outputs, given)
    selection = rows_to_choose_on(loss, outputs, selection)
    choice = choose_ridge(kernels, inputs, judge, selection)
    kernel, alpha = choice.value
    n = n_objects(inputs)
    most = MOST_EXACT_OBJECTS if holds_objects(inputs) else MOST_EXACT
    if n > most or sparse.issparse(inputs):
        machine = LandmarkRidge(kernel, min(N_LANDMARKS, n))
        return _fit_landmarks(machine, inputs, preimage, judge, choice)
    machine = KernelRidgeCV(kernel, alpha=alpha)
    machine.fit(inputs, regression_targets(preimage), given.counts)
    return LossMap(machine, preimage, choice.error)


def fit_given(regressor: Any, inputs: Any, preimage: MinimumRiskPreimage, given: Given) -> LossMap:
    """A regressor of the user's: of the loss's columns, or a smoother."""
    if not preimage.by_columns:
        regressor = as_smoother(regressor)
    targets = regression_targets(preimage)
    single = "several_outputs" not in provides(regressor)
    if single and not preimage.by_columns:
        # The weights are all that is asked for, and one column will do to learn them.
        targets = targets[:, :1]
    if single and targets.shape[1] == 1:
        targets = targets[:, 0]
    elif single:
        regressor = for_outputs(regressor, targets.shape[1])
    told = given.arguments("regressor", regressor, required=True)
    return LossMap(regressor.fit(inputs, targets, **told), preimage, None)


def reference_costs(loss: TaskLoss, outputs: Any) -> Array:
    """Costs of answering each of a few training outputs: coordinates of outputs of any kind."""
    references = sample_rows(n_outputs(outputs), N_REFERENCES, 0)
    return np.asarray(loss.cost(take_outputs(outputs, references), outputs), dtype=float).T


def _fit_landmarks(
    machine: LandmarkRidge,
    inputs: Any,
    preimage: MinimumRiskPreimage,
    judge: Judge,
    choice: Choice,
) -> LossMap:
    n, counts = n_objects(inputs), judge.given.counts
    if judge.given.groups is not None:
        # Single rows that are left out would be known from the others of their group.
        machine.fit(inputs, preimage.columns if preimage.by_columns else np.zeros((n, 1)), counts)
        machine.alpha_, machine.loo_error_ = choice.value[1], choice.error
    elif preimage.by_columns:
        columns: Any = preimage.columns
        rows = np.sort(sample_rows(n, 1000, 0))
        machine.fit(inputs, columns, counts).choose(
            rows,
            columns,
            lambda values: judge.error(preimage.decode_columns(values).outputs, rows),
        )
    else:
        rows = np.sort(sample_rows(n, min(MOST_DECODED, judge.loss.n_left_out), 0))
        machine.fit(inputs, np.zeros((n, 1)), counts).choose_by_weights(
            rows, lambda W: judge.error(preimage.decode(W).outputs, rows)
        )
    return LossMap(machine, preimage, machine.loo_error_)


def regression_targets(preimage: MinimumRiskPreimage) -> Array:
    """What T is fitted on: the loss's columns, or costs to a few outputs."""
    if preimage.by_columns:
        columns: Any = preimage.columns
        return np.asarray(columns.toarray() if sparse.issparse(columns) else columns)
    outputs = preimage.objects_
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind == "f":
        return outputs.reshape(len(outputs), -1)
    return reference_costs(preimage.loss_, outputs)


def refuse_slots(model: Any, more_outputs: Any) -> None:
    """Refuse what a loss takes the place of."""
    for name in ("y_features", "preimage"):
        slot = getattr(model, name)
        if slot is not None:
            raise ValueError(
                f"DependencyEstimator takes a loss or {name}, not both: a loss is decoded by "
                f"MinimumRiskPreimage(loss). Got {name}={shortened(slot)}."
            )
    if more_outputs is not None:
        raise ValueError(
            "Where a loss is named, outputs without inputs have no weight: unlabelled_outputs "
            "cannot be used. MinimumRiskPreimage(loss, candidates=...) takes further answers."
        )


def loss_arrows(x_features: Any, regressor: Any) -> tuple[Any, Any]:
    """φ and T, unfitted; None where the inputs pass and where ridge regression is to be chosen."""
    if regressor is None and (x_features is None or named_kernels(x_features) is not None):
        return None, None
    x_features, found = input_arrows(x_features, regressor)
    return x_features, found if regressor is not None else None


def mean_costs(model: Any, fitted: LossMap, X: Any, y: Any) -> Array:
    """Costs (n,) of the answers for ``X`` where ``y`` are right."""
    loss = fitted.preimage.loss_
    outputs = loss.check(y)
    check_length(model, n_objects(X), n_objects(outputs), what="outputs as inputs")
    return loss.paired(model.predict(X), outputs)
