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


def check_counts(estimator: Any, sample_weight: Any, n_expected: int) -> Array | None:
    """How often each row counts, some of them more than zero times; None where all count once."""
    if sample_weight is None:
        return None
    counts = np.asarray(
        check_array(
            sample_weight,
            ensure_2d=False,
            dtype=np.float64,
            input_name="sample_weight",
            estimator=estimator,
        )
    )
    if counts.ndim != 1 or len(counts) != n_expected:
        raise ValueError(
            f"{type(estimator).__name__} needs one sample weight for each of {n_expected} rows: "
            f"sample_weight.shape == {counts.shape}, expected ({n_expected},)!"
        )
    if counts.min() < 0 or not counts.max() > 0:
        raise ValueError(
            f"{type(estimator).__name__} needs sample weights that are not negative, and not all "
            f"zero. Got values from {counts.min():.4g} to {counts.max():.4g}."
        )
    return counts
