"""Centring of Gram matrices."""

from isthmus.typing import Array


def center_gram(
    K: Array, *, overwrite: bool = False, shares: Array | None = None
) -> tuple[Array, Array]:
    r"""Gram matrix of the objects relative to their mean in feature space.

    With :math:`H = I - 1p^\top` returns :math:`HKH^\top` and :math:`Kp`, the inner products with
    the mean, which the centring of new objects needs. ``shares`` are the :math:`p` of a weighted
    mean, which sum to one; by default all are equal.

    >>> import numpy as np
    >>> Kc, mean = center_gram(np.array([[2.0, 0.0], [0.0, 2.0]]))
    >>> Kc
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    mean = K.mean(axis=0) if shares is None else shares @ K
    Kc = K if overwrite else K.copy()
    Kc -= mean
    Kc -= (mean - (mean.mean() if shares is None else shares @ mean))[:, None]
    return Kc, mean
