r"""Predictions as weighted sums of training outputs, for machines that solve one linear system.

Kernel ridge regression and the mean of a Gaussian process are linear in the training outputs:
with :math:`A=K+\alpha I` and columns :math:`G` in place of the outputs,

.. math:: f(x)=\bar g+(k(x)-m)^\top A^{-1}(G-1\bar g)=w(x)^\top G,

where :math:`\bar g` are the means of the columns, or zero, and :math:`m` the means of the columns
of :math:`K` where it was centred, or zero. Where row i counts :math:`w_i` times, means are
weighted and :math:`A=D(K-\dots)D+\alpha I` with :math:`D=\mathrm{diag}(\sqrt w)`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isthmus.blocks.slices import block_slices
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.landmarks import gram_in_double
from isthmus.kernels.objects import n_objects, take
from isthmus.linalg.centering import center_gram
from isthmus.linalg.ridge import PositiveFactor
from isthmus.typing import Array, Objects


class RidgeSystem(NamedTuple):
    """The system that training outputs go through, ready to be solved again.

    ``solve`` applies the inverse of :math:`A`; ``gram_mean`` is :math:`m`, or None where the Gram
    matrix was not centred; ``center`` says whether the mean of the outputs is predicted apart;
    ``counts`` says how often each row counts, if not once. ``factor`` is that of :math:`A`, where
    there is one, and ``constant`` the eigenvalue that it has for the constant where that is no
    matter, because only columns that sum to zero are solved for.
    """

    solve: Callable[[Array], Array]
    gram_mean: Array | None
    center: bool
    counts: Array | None = None
    factor: PositiveFactor | None = None
    constant: float | None = None

    def dual(self, G: Array) -> tuple[Array, Array]:
        """Coefficients (n_train, p) and constants (p,) of the functions with outputs ``G``."""
        shares = self._shares(len(G))
        if not self.center:
            mean = np.zeros(G.shape[1], dtype=G.dtype)
        else:
            mean = G.mean(axis=0) if self.counts is None else shares @ G
        C = self._scaled(self.solve(self._scaled(G - mean)))
        if self.gram_mean is None:
            return C, mean
        # They sum to zero, but rounding errors over a tiny penalty would not.
        C -= shares[:, None] * C.sum(axis=0)
        # So centring a new row shifts it by a constant alone.
        return C, mean - self.gram_mean @ C

    def weights(self, K: Array) -> Array:
        """Weights (m, n_train) of the training outputs, given ``K = k(new, training)``."""
        if self.gram_mean is not None:
            K = K - self.gram_mean
            K -= (K @ self._shares(K.shape[1]))[:, None]
        W = np.ascontiguousarray(self._scaled(self.solve(self._scaled(K.T))).T)
        if self.center:
            W += (1 - W.sum(axis=1, keepdims=True)) * self._shares(W.shape[1])
        return W

    def _shares(self, n: int) -> Array:
        """What each row has of the whole."""
        return np.full(n, 1 / n) if self.counts is None else self.counts / self.counts.sum()

    def _scaled(self, B: Array) -> Array:
        return B if self.counts is None else np.sqrt(self.counts)[:, None] * B


def ridge_system(
    K: Array, alpha: float, *, center: bool, counts: Array | None = None, inverse: bool = False
) -> RidgeSystem:
    """Kernel ridge regression, its constant fitted where ``center``; ``K`` is overwritten.

    ``counts`` says how often each row counts, if not once. Where the ``inverse`` will be asked for,
    the constant, which has no length in a centred matrix, gets the mean one: its share 1/(nα)
    would hide all others.
    """
    mean = None
    if center:
        shares = None if counts is None else counts / counts.sum()
        K, mean = center_gram(K, overwrite=True, shares=shares)
    if counts is not None:
        K *= np.sqrt(counts)
        K *= np.sqrt(counts)[:, None]
    constant = None
    if center and inverse and counts is None:
        length = float(np.mean(K.diagonal()))
        K += length / len(K)
        constant = length + alpha
    K.flat[:: len(K) + 1] += alpha
    factor = PositiveFactor(K, overwrite=True)
    return RidgeSystem(factor.solve, mean, center, counts, factor, constant)


class KernelSmoother(ABC):
    """Methods of a kernel machine that is linear in its training outputs."""

    expansion_: Expansion

    def smooth(self, X: Any, G: Any) -> Array:
        """Predictions at ``X``, had the training outputs been the columns ``G``.

        With the outputs of ``fit`` it is :meth:`predict`: kernel and penalty stay as they were
        chosen for those. The weights (n, n_train) are not formed.

        Parameters
        ----------
        X : objects
        G : array of shape (n_train,) or (n_train, p)
            A row for each training object, in their order.

        Returns
        -------
        array of shape (n,) or (n, p)
        """
        check_is_fitted(self)
        system, X = self._training_system(), self._check_new(X)
        kernel, objects = self.expansion_.kernel, self.expansion_.objects
        G, flat = check_columns(self, G, n_objects(objects))
        values = Expansion(kernel, objects, *system.dual(G))(X)
        return values[:, 0] if flat else values

    def weights(self, X: Any) -> Array:
        """Weights of the training outputs in the predictions at ``X``, shape (n, n_train).

        ``weights(X) @ G`` is ``smooth(X, G)``.
        """
        check_is_fitted(self)
        system, X = self._training_system(), self._check_new(X)
        kernel, objects = self.expansion_.kernel, self.expansion_.objects
        blocks = [
            system.weights(gram_in_double(kernel, take(X, rows), objects))
            for rows in block_slices(n_objects(X), 3 * n_objects(objects))
        ]
        return np.concatenate(blocks)

    @abstractmethod
    def _training_system(self) -> RidgeSystem:
        """The system, or an error that says why there is none."""

    @abstractmethod
    def _check_new(self, X: Any) -> Objects:
        """New objects in the form that the kernel computes with."""


def check_columns(owner: Any, G: Any, n_train: int) -> tuple[Array, bool]:
    """Columns in place of the training outputs, as a table, and whether they were a vector."""
    G = np.asarray(G)
    if G.ndim not in (1, 2) or len(G) != n_train or G.dtype.kind not in "fiub":
        raise ValueError(
            f"{type(owner).__name__}.smooth needs columns of {n_train} numbers, one for each "
            f"training object. Got an array of shape {G.shape} and type {G.dtype}."
        )
    if G.dtype.kind != "f":
        G = G.astype(np.float64)
    return G.reshape(n_train, -1), G.ndim == 1
