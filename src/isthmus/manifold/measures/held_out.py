"""What a manifold makes of rows that it has not seen."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import check_array

from isthmus._door import with_door
from isthmus.typing import Array


@with_door
def held_out_reconstruction(model: Any, X: Any, *, cv: Any = 5) -> Array:
    r"""Return the share of the variance of left-out rows that a manifold loses, of each fold.

    .. math:: \frac{\sum_i\|x_i-\hat x_i\|^2}{\sum_i\|x_i-\bar x\|^2}

    over the rows :math:`i` of the fold, with :math:`\hat x_i` what the model makes of row
    :math:`i` and :math:`\bar x` the mean of the rows that it was fitted on. 0 is perfect, 1 no
    better than the mean.

    Parameters
    ----------
    model : estimator
        A manifold, or any transformer with ``transform`` and ``inverse_transform``; it is not
        changed.
    X : array-like of shape (n_samples, n_features)
    cv : int, splitter or iterable of pairs of indices, default=5
        How rows are left out; shuffle first those that have an order.

    Returns
    -------
    ndarray of shape (n_folds,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> from isthmus.manifold import held_out_reconstruction
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [3, 2, 0.1, 0.1]
    >>> bool(held_out_reconstruction(PCA(2), X).max() < 0.01)
    True
    """
    name = "held_out_reconstruction"
    if not callable(getattr(model, "reconstruct", None)) and not (
        hasattr(model, "transform") and hasattr(model, "inverse_transform")
    ):
        raise TypeError(
            f"{name} needs a model with reconstruct, or with transform and inverse_transform. "
            f"Got {model!r:.80}."
        )
    X = check_array(X, dtype=[np.float64, np.float32], ensure_min_samples=2, input_name="X")
    lost = []
    for train, test in check_cv(cv).split(X):
        fitted = clone(model).fit(X[train])
        if callable(getattr(fitted, "reconstruct", None)):
            near = fitted.reconstruct(X[test])
        else:
            near = fitted.inverse_transform(fitted.transform(X[test]))
        spread = np.sum((X[test] - X[train].mean(axis=0)) ** 2)
        lost.append(float(np.sum((np.asarray(near) - X[test]) ** 2) / (spread or 1.0)))
    return np.array(lost)
