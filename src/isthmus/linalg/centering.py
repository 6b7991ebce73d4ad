"""Centring of Gram matrices."""

from isthmus.typing import Array


def center_gram(K: Array, *, overwrite: bool = False) -> tuple[Array, Array]:
    r"""Gram matrix of the objects relative to their mean in feature space.

    With :math:`H = I - \tfrac1n 11^\top` returns :math:`HKH` and the column means
    :math:`\tfrac1n K1`, which the centring of new objects needs.

    >>> import numpy as np
    >>> Kc, mean = center_gram(np.array([[2.0, 0.0], [0.0, 2.0]]))
    >>> Kc
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    mean = K.mean(axis=0)
    Kc = K if overwrite else K.copy()
    Kc -= mean
    Kc -= (mean - mean.mean())[:, None]
    return Kc, mean
