"""Gram matrices of dense or sparse inputs, none of which is made dense."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances

from isthmus.blocks.sampling import sample_rows
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import n_objects, take
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.typing import Array, provides

N_FOR_WIDTH = 500


def resolved_kernel(kernel: Any, X: Any) -> Any:
    """The kernel with numbers for what the data are to say, such as the median distance."""
    if not sparse.issparse(X):
        return kernel.resolve(X)
    if isinstance(kernel, Gaussian) and isinstance(kernel.gamma, str):
        part = take(X, sample_rows(n_objects(X), N_FOR_WIDTH, 0))
        apart = euclidean_distances(part)[np.triu_indices(part.shape[0], 1)]
        median = float(np.median(apart[apart > 0])) if (apart > 0).any() else 1.0
        return Gaussian.from_width(kernel.width_factor * median)
    return kernel


def gram_matrix(kernel: Kernel, X: Any, Z: Any) -> Array:
    """Kernel values (n, m), in a matrix that the caller may overwrite."""
    if not sparse.issparse(X):
        # Small eigenvalues need double precision.
        if isinstance(X, np.ndarray) and X.dtype == np.float32:
            X, Z = X.astype(np.float64), Z.astype(np.float64)
        K = np.asarray(kernel.gram(X, Z), dtype=np.float64)
        return K.copy() if kernel.pairwise else K
    if isinstance(kernel, Gaussian):
        return np.exp(-kernel.gamma * euclidean_distances(X, Z, squared=True))
    if "linear" in provides(kernel):
        return np.asarray((X @ Z.T).toarray(), dtype=np.float64)
    raise TypeError(
        f"Sparse inputs are compared by a Gaussian or a linear kernel. Got {kernel!r}: give it "
        "dense rows, X.toarray()."
    )
