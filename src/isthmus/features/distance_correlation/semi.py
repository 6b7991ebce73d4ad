r"""Coordinates at exponent 2 for inputs and outputs at any exponent: nonlinear, in closed form.

With :math:`K_x=-\frac12HE_xH` of the distances :math:`\|x_i-x_j\|^a`, centred by :math:`H`, and
:math:`K_y` alike, the squared distance correlation of inputs and coordinates is
:math:`\langle K_x,ZZ^\top\rangle/(\|K_x\|_F\|Z^\top Z\|_F)`.
"""

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist

from isthmus.features.distance_correlation.formulas import Reduction
from isthmus.typing import Array


def distance_gram(X: Array, exponent: float) -> Array:
    r""":math:`-\frac12HEH` of the distances between rows; at exponent 2 the centred products.

    >>> import numpy as np
    >>> X = np.array([[1.0], [-1.0], [0.0]])
    >>> bool(np.allclose(distance_gram(X, 2.0), X @ X.T))
    True
    """
    E = cdist(X, X) ** exponent
    means = E.mean(axis=0)
    return np.asarray(-0.5 * (E - means - means[:, None] + means.mean()))


def semi_correlation(X: Array, Z: Array, exponent: float) -> float:
    """Squared distance correlation of ``X`` at ``exponent`` with centred ``Z`` at 2."""
    K = distance_gram(X, exponent)
    tie = np.einsum("ij,ij->", Z, K @ Z)
    return float(tie / (np.linalg.norm(K) * np.linalg.norm(Z.T @ Z)))


def semi_reduction(
    X: Array, Y: Array, weight: float, exponent: float, n_components: int
) -> Reduction:
    r"""Global maximum over all coordinates: leading eigenvectors of one matrix.

    .. math:: S=2(1-w)\frac{K_x}{\|K_x\|_F}+2w\frac{K_y}{\|K_y\|_F}
              =\sum_i\lambda_iu_iu_i^\top,\qquad z_i=\sqrt{\lambda_i}u_i ,

    with the value :math:`(\sum_{i\le d}\lambda_i^2)^{1/2}`, as at exponent 2. O(n²d) time, n²
    memory.
    """
    S = np.zeros((len(X), len(X)))
    for side, share in ((X, 2 * (1 - weight)), (Y, 2 * weight)):
        K = distance_gram(side, exponent)
        S += share / np.linalg.norm(K) * K
    n = len(S)
    values, U = linalg.eigh(S, subset_by_index=[n - n_components, n - 1])
    values, U = np.maximum(values[::-1], 0.0), U[:, ::-1]
    largest = U[np.abs(U).argmax(axis=0), np.arange(n_components)]
    Z = U * np.where(largest < 0, -1.0, 1.0) * np.sqrt(values)
    return Reduction(Z, None, [float(np.linalg.norm(values))], True)
