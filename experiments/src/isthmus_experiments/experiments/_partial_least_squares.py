"""Partial least squares at all ranks from one run."""

import numpy as np
from scipy import linalg


def pls_coefficients(X, Y, max_rank):
    r"""Yield the maps :math:`F_1,F_2,\dots` of partial least squares on centred rows.

    Direction :math:`w_i` is the leading left singular vector of the deflated
    :math:`X_{i-1}^\top Y`. Deflation takes place in the moments, so that the cost of a component
    does not grow with the rows. The maps are those of scikit-learn's
    ``PLSRegression(scale=False)``, each of shape (n_outputs, n_features).
    """
    S_xx, S_xy = X.T @ X, X.T @ Y
    d, o = S_xy.shape
    rotations, loadings, coef = np.zeros((d, 0)), np.zeros((d, 0)), np.zeros((d, o))
    for _ in range(max_rank):
        c = linalg.eigh(S_xy.T @ S_xy, subset_by_index=[o - 1, o - 1])[1][:, 0]
        w = S_xy @ c
        w /= np.linalg.norm(w)
        # The direction in the original inputs whose scores are orthogonal to all before.
        rotation = w - rotations @ (loadings.T @ w)
        S_r = S_xx @ rotation
        size = rotation @ S_r
        q = S_xy.T @ rotation / size
        S_xy = S_xy - np.outer(S_r, q)
        rotations = np.column_stack([rotations, rotation])
        loadings = np.column_stack([loadings, S_r / size])
        coef = coef + np.outer(rotation, q)
        yield coef.T
