"""What may be asked of a pursuit: signals and atoms, numbers of non-zeros, sizes of residuals."""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from isthmus._checks import check_int
from isthmus.typing import Array


def count_limit(owner: str, n_nonzero: int | None, tol: Any, n_atoms: int, n_features: int) -> int:
    """Maximum number of non-zeros of a code."""
    most = min(n_atoms, n_features)
    if n_nonzero is None:
        return most if tol is not None else min(most, max(1, n_features // 10))
    # More cannot be independent.
    checked = check_int(
        n_nonzero, "n_nonzero", owner, low=1, high=n_atoms, why="the number of atoms"
    )
    return min(checked, most)


def residual_goals(owner: str, tol: Any, n_signals: int) -> Array:
    """Norms at which the residuals are small enough, shape (n_signals,)."""
    if tol is None:
        return np.zeros(n_signals)
    try:
        goals = np.asarray(tol, dtype=float)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"The 'tol' parameter of {owner} must be None, a float in [0, inf) or one for each "
            f"signal. Got {tol!r:.80} instead."
        ) from error
    if goals.ndim > 1 or (goals.ndim == 1 and len(goals) != n_signals):
        raise ValueError(
            f"The 'tol' parameter of {owner} must be one number or one for each of the "
            f"{n_signals} signals. Got shape {goals.shape} instead."
        )
    if not np.all(np.isfinite(goals)) or goals.min(initial=0.0) < 0:
        raise ValueError(
            f"The 'tol' parameter of {owner} must be in [0, inf). Got {tol!r} instead."
        )
    return np.broadcast_to(goals, n_signals).copy()


def check_signals(X: Any, D: Any, owner: str, *, gaps: bool = True) -> tuple[Array, Array]:
    X = check_array(
        X,
        dtype=np.float64,
        order="C",
        ensure_all_finite="allow-nan" if gaps else True,
        input_name="X",
        estimator=owner,
    )
    D = check_array(D, dtype=np.float64, order="C", input_name="D", estimator=owner)
    if X.shape[1] != D.shape[1]:
        raise ValueError(
            f"Signals and atoms of {owner} must have the same number of features. Got "
            f"X.shape={X.shape} and D.shape={D.shape}; atoms are rows."
        )
    return X, D
