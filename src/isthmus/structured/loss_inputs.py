"""What an input is where a loss is named, and which kernels are tried on it."""

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from isthmus.kernels.objects import check_collection, check_list, looks_like_table
from isthmus.kernels.resolve import as_kernel
from isthmus.kernels.vectors.dot import Linear
from isthmus.regression.ridge.search import KERNELS
from isthmus.structured.slots import input_kernel, input_kinds, is_kernel, is_passthrough
from isthmus.typing import provides


def named_kernels(x_features: Any) -> list[Any] | None:
    """The kernels that are named, one or several; None where there is none."""
    if isinstance(x_features, (list, tuple)) and x_features:
        return [as_kernel(kernel) for kernel in x_features]
    return [as_kernel(x_features)] if is_kernel(x_features) else None


def holds_objects(X: Any) -> bool:
    """Whether inputs are objects such as words, series or graphs, and no rows of a table."""
    if sparse.issparse(X) or looks_like_table(X):
        return False
    if isinstance(X, (list, tuple)):
        row = X[0]
        if isinstance(row, (list, tuple)):  # of numbers, it is a row of a table
            return not all(isinstance(entry, Number) for entry in row)
        return not np.isscalar(row) or isinstance(row, (str, bytes))
    return isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "OUS"


def check_loss_inputs(model: Any, X: Any, *, reset: bool) -> Any:
    """Inputs as the parts want them; sparse tables stay sparse."""
    if sparse.issparse(X):
        dtype = [np.float64, np.float32]
        return validate_data(model, X, accept_sparse="csr", dtype=dtype, reset=reset)
    kernels = named_kernels(model.x_features)
    if kernels is not None:
        return check_collection(model, X, kernels[0], reset=reset)
    if model.x_features is None and model.regressor is None and holds_objects(X):
        return check_list(X, type(model).__name__)
    kinds = input_kinds(model.x_features, model.regressor)
    kernel = input_kernel(model.x_features, model.regressor)
    return check_collection(model, X, kernel, kinds=kinds, reset=reset)


def kernels_to_try(x_features: Any, X: Any) -> Sequence[Any]:
    """The kernels among which the left-out loss decides."""
    named = named_kernels(x_features)
    if named is not None:
        return named
    if x_features is not None and not is_passthrough(x_features):
        # Coordinates of a kernel's feature space are curved enough for a linear map.
        return [Linear()] if "expansion" in provides(x_features) else KERNELS
    if not holds_objects(X):
        return KERNELS
    from isthmus.structured.word_kernels import kernels_for

    return list(kernels_for(X))
