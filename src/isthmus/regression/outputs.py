"""Outputs to learn, as scikit-learn's contract wants them checked."""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from isthmus._checks import check_length
from isthmus.typing import Array


def check_outputs(estimator: Any, y: Any, n_expected: int) -> Array:
    """Finite outputs of shape (n,) or (n, n_outputs), as many as there are inputs."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    Y = check_array(
        y, ensure_2d=False, dtype=[np.float64, np.float32], input_name="y", estimator=estimator
    )
    check_length(estimator, n_expected, len(Y), what="outputs as inputs")
    return Y
