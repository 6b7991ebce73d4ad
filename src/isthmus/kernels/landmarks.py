"""Coordinates of objects in the span of a few of them (Nyström)."""

from typing import Any

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack
from scipy.sparse import issparse

from isthmus.blocks.sampling import sample_rows
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import check_gram
from isthmus.kernels.objects import n_objects, take
from isthmus.linalg.triangles import inverse_lower
from isthmus.typing import Array, IntArray, Objects

# A landmark whose distance from the span of the others, squared, is below this share of the largest
# squared length adds little but rounding errors.
DEPENDENT = 1e-12


class LandmarkFeatures:
    r"""Features :math:`\psi(x)=L^{-1}k_m(x)` of objects in the span of landmarks.

    With the Gram matrix of the landmarks :math:`K_{mm}=LL^\top`, the inner products of two
    such vectors are those of the projections of the objects on the span. A landmark that
    the others span but for rounding errors is left out: Cholesky with pivoting, and an
    :math:`L` that can be solved with. Computed in double precision whatever the objects are.

    Parameters
    ----------
    kernel : Kernel
        With its parameters resolved.
    landmarks : objects
        As many rows as ``reference`` has objects; their own features tell what is dependent.
    reference : objects or None, default=None
        The landmarks as second argument of the kernel; None is ``landmarks``.
    origin : ndarray or None, default=None
        What is subtracted from vectors first, see :func:`free_origin`.
    owner : object or str, optional
        Whose landmarks they are, for messages.

    Attributes
    ----------
    objects : the landmarks kept, as second argument of the kernel
    mean_square : float
        Mean of the squared kernel values between landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import Linear
    >>> features = LandmarkFeatures(Linear(), np.array([[2.0, 0.0], [4.0, 0.0]]))
    >>> len(features), features(np.array([[3.0, 5.0]]))
    (1, array([[3.]]))
    """

    def __init__(
        self,
        kernel: Kernel,
        landmarks: Objects,
        reference: Objects = None,
        *,
        origin: Array | None = None,
        owner: Any = None,
    ):
        self.kernel, self.origin = kernel, origin
        if origin is not None:
            landmarks = landmarks - origin
        reference = landmarks if reference is None else reference
        K = np.array(gram_in_double(kernel, landmarks, reference))
        K = check_gram(K, owner)
        self.mean_square = float(np.mean(np.square(K)))
        largest = float(np.max(K.diagonal(), initial=0.0))
        L, pivots, rank, _ = lapack.dpstrf(np.asfortranarray(K), tol=DEPENDENT * largest, lower=1)
        rank = max(int(rank), 1) if largest > 0 else 0
        order = np.asarray(pivots[:rank]) - 1
        self.objects = take(reference, order)
        self._factor = np.asfortranarray(np.tril(L[:rank, :rank]))
        # Rows are multiplied by the inverse, which takes half the time of solving. What that
        # loses is what the rounding errors of kernel values become in any case.
        self._inverse = inverse_lower(self._factor) if rank else self._factor

    def __len__(self) -> int:
        """Number of features, which is that of the landmarks kept."""
        return len(self._factor)

    def __call__(self, X: Objects) -> Array:
        """Features of objects, shape (n, m)."""
        X = X if self.origin is None else X - self.origin
        if not len(self):
            return np.zeros((n_objects(X), 0))
        return self.whiten(gram_in_double(self.kernel, X, self.objects))

    def whiten(self, K: Array) -> Array:
        """The same from ``K = k(X, objects)``."""
        V = blas.dtrmm(1.0, self._inverse, np.asarray(K, dtype=np.float64).T, lower=1)
        return np.asarray(V.T)

    def expand(self, B: Array) -> Array:
        r"""Weights :math:`L^{-\top}B` over the landmarks of the functions :math:`B^\top\psi(x)`."""
        if not len(self):
            return np.zeros((0, B.shape[1]))
        return linalg.solve_triangular(self._factor, B, lower=True, trans=1, check_finite=False)


def landmark_features(
    kernel: Kernel, X: Objects, rows: IntArray, *, center: bool = False, owner: Any = None
) -> LandmarkFeatures:
    """Features in the span of some of the objects ``X``, which may be rows of a Gram matrix."""
    landmarks = take(X, rows)
    reference = kernel.reference(X, rows) if kernel.pairwise else None
    origin = free_origin(kernel, landmarks) if center else None
    return LandmarkFeatures(kernel, landmarks, reference, origin=origin, owner=owner)


def free_origin(kernel: Kernel, X: Objects) -> Array | None:
    """A point from which a linear kernel loses no digits, where a constant is fitted besides."""
    if "linear" not in kernel.provides or not isinstance(X, np.ndarray):
        return None
    mean = X.mean(axis=0, dtype=np.float64)
    # A mean is rounded: a constant column is to be exactly zero about its own.
    return np.where((X[0] == X).all(axis=0), X[0], mean)


def draw_landmarks(n_rows: int, n_landmarks: int, rng: Any) -> IntArray:
    """Indices of the objects that span the features, drawn with equal chances, in order."""
    return sample_rows(n_rows, n_landmarks, rng)


def gram_in_double(kernel: Kernel, X: Objects, Z: Objects) -> Array:
    """Kernel values in double precision, which small eigenvalues need."""
    X, Z = (A.astype(np.float64) if is_single(A) else A for A in (X, Z))
    return np.asarray(kernel.gram(X, Z), dtype=np.float64)


def is_single(X: Objects) -> bool:
    """Whether these are rows, dense or sparse, in single precision."""
    return (isinstance(X, np.ndarray) or issparse(X)) and X.dtype == np.float32
