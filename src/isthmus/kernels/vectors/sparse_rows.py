"""Inner products of sparse rows, none of which is made dense."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from isthmus.typing import Array


def sparse_products(X: Any, Z: Any) -> Array:
    """Inner products (n, m) of sparse rows with sparse or dense ones, as an array.

    >>> from scipy.sparse import csr_array
    >>> sparse_products(csr_array([[1.0, 0.0]]), csr_array([[2.0, 3.0]]))
    array([[2.]])
    """
    K = X @ Z.T
    return np.asarray(K.toarray() if issparse(K) else K)


def squared_lengths(X: Any) -> Array:
    """Squared lengths (n,) of rows, sparse or dense."""
    if not issparse(X):
        return np.einsum("ij,ij->i", X, X)
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()
