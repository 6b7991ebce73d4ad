"""The square where rows are read block by block: arrows are folds, or drawn rows are enough."""

from typing import Any, NamedTuple

import numpy as np

from isthmus._checks import shortened
from isthmus.blocks.containers import is_dask
from isthmus.blocks.drawing import draw_rows
from isthmus.blocks.fitting import open_fit, plain_arrays, refuse_blocks
from isthmus.blocks.rows import open_rows
from isthmus.regression.ridge.estimator import DEFAULT_ALPHAS, KernelRidgeCV
from isthmus.structured.slots import input_arrows, is_passthrough, output_features, output_preimage
from isthmus.typing import OBJECT_KINDS, needs, provides

# A pre-image is fitted to so many drawn outputs: it is judged by what it makes of coordinates, and
# many more only cost time.
MOST_OUTPUTS = 2000


class FitsBlocks:
    """The fit of a dependency estimator to rows in blocks."""

    _map: Any
    _pairs: Any
    _labels: Any
    _flat: bool
    _sparse: bool

    def _fit_blocks(self, X: Any, y: Any = None, **told: Any) -> Any:
        """Fit φ of outputs, φ of inputs and T one after the other, each block by block."""
        model: Any = self
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        arrays = plain_arrays(X, y)
        if arrays is not None:
            return model.fit(*arrays, **told)
        if any(value is not None for value in told.values()):
            refuse_blocks(self, "with " + ", ".join(sorted(told)) + " it needs all rows at once")
        if model.loss is not None:
            refuse_blocks(
                self,
                "a loss needs the weights of all training outputs",
                instead="Without a loss, and with landmarks on both sides, it",
            )
        found = fit_square(model, X, y)
        model.x_features_, model.y_features_ = found.x_features, found.y_features
        model.regressor_, model.preimage_ = found.regressor, found.preimage
        model.left_out_loss_ = self._map = self._pairs = self._labels = None
        self._flat, self._sparse = found.flat, False
        return self


class FittedArrows(NamedTuple):
    """The parts of a square that has been fitted, and whether its output is one column."""

    x_features: Any
    y_features: Any
    regressor: Any
    preimage: Any
    flat: bool


def fit_square(model: Any, X: Any, y: Any) -> FittedArrows:
    """Learn the three arrows, reading the rows once or twice for each."""
    # What an object is, the parts know.
    open_fit(model, X, objects=True).require_passes("one arrow of the square after the other")
    rows = open_rows(model, X, y)
    single_column = rows.checks[1].ndim == 1
    if single_column and is_dask(y):
        y = y[:, None]
    y_features = _output_features(model)
    x_features, regressor = input_arrows(model.x_features, model.regressor)
    for name, part in (("x_features", x_features), ("y_features", y_features)):
        _check_part(model, name, part)
    targets = y if y_features is None else y_features.fit(y).transform(y)
    inputs = X if x_features is None else x_features.fit(X).transform(X)
    if x_features is not None and model.regressor is None:
        regressor = _linear_ridge(x_features)
    _check_part(model, "regressor", regressor)
    regressor.fit(inputs, targets)

    kinds = frozenset({"vectors"})
    if y_features is not None:
        kinds = provides(y_features) & OBJECT_KINDS
    preimage = output_preimage(model.preimage, y_features, regressor, kinds)
    if preimage is not None:
        _fit_preimage(model, preimage, x_features, y_features, regressor, X, y)
    flat = single_column and "vectors" in kinds
    return FittedArrows(x_features, y_features, regressor, preimage, flat)


def _output_features(model: Any) -> Any:
    # All coordinates of a linear kernel, the default, are the outputs but for a rotation.
    if model.y_features is None or is_passthrough(model.y_features):
        return None
    return output_features(model.y_features)


def _linear_ridge(x_features: Any) -> Any:
    """The default regression of coordinates, which one landmark more than there are spans."""
    n_columns = getattr(x_features, "n_components_", None)
    if n_columns is None or "expansion" not in provides(x_features):
        return KernelRidgeCV(n_landmarks=1000)
    return KernelRidgeCV("linear", alpha=DEFAULT_ALPHAS, n_landmarks=int(n_columns) + 1)


def _check_part(model: Any, name: str, part: Any) -> None:
    """Refuse a part that needs all rows at once, and say what could stand in its slot."""
    if part is None:
        return
    instead = {
        "regressor": "regressor=KernelRidgeCV(n_landmarks=…) or ReducedRankRegression()",
    }.get(name, f"{name}=KernelPCA(kernel=…, n_landmarks=…)")
    folds = callable(getattr(part, "_fit_blocks", None)) and "supervised" not in provides(part)
    landmarks = getattr(part, "n_landmarks", 1)
    if not folds or landmarks is None:
        refuse_blocks(model, f"{name}={shortened(part)} needs all rows at once", instead=instead)


def _fit_preimage(
    model: Any, preimage: Any, x_features: Any, y_features: Any, regressor: Any, X: Any, y: Any
) -> None:
    """Fit Γ to drawn outputs, and to their predicted coordinates where it learns to undo them."""
    if "weights" in needs(preimage):
        refuse_blocks(
            model,
            f"preimage={shortened(preimage)} needs the weights of all training outputs",
            instead="LearnedPreimage or CandidatePreimage",
        )
    objects, outputs = draw_rows((X, y), MOST_OUTPUTS, 0)
    known = np.asarray(y_features.transform(outputs))
    if "learned" in provides(preimage):
        inputs = objects if x_features is None else x_features.transform(objects)
        known = np.asarray(regressor.predict(inputs)).reshape(len(known), -1)
    preimage.fit(outputs, y_features, known)
