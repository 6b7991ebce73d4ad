r"""The regularised quantisation error, and the weights that minimise it at given places.

.. math:: E(f)=\frac1N\sum_i\|y_i-f(x_i)\|^2+\alpha\,Q(f),\qquad f(x)=\sum_jb_j(x)\,w_j

Q is half of a quadratic form of the weights (the norm of the kernel's space, or the mean squared
slope), or the sum of their lengths, which leaves many of them at zero.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from isthmus.linalg.products import inner_products, product
from isthmus.manifold.regularized.basis import NodeBasis
from isthmus.typing import Array

REGULARIZERS = ("kernel", "length", "sparse")
# Of the trace: keeps places without extent, and kernels that are nearly singular, solvable.
JITTER = 1e-10
# Rounding of the corner of the sum of lengths, in units of the data's spread; and how often its
# weights are found again. A node below the second bound has no weight.
CORNER, ROUNDS, NONE = 1e-4, 25, 1e-3


@dataclass(frozen=True, eq=False)
class Problem:
    """Centred rows (n, d) in units of their spread, a basis and a regulariser."""

    rows: Array
    basis: NodeBasis
    regularizer: str

    @cached_property
    def penalty(self) -> Array:
        """The matrix of the quadratic form."""
        if self.regularizer == "length":
            return self.basis.length_penalty()
        return self.basis.kernel_penalty()

    def roughness(self, W: Array) -> float:
        """Q of a sheet with these weights."""
        if self.regularizer == "sparse":
            return float(np.sum(_lengths(W[: len(self.basis.nodes)]) - CORNER))
        return 0.5 * float(np.vdot(W, product(self.penalty, W)))

    def value(self, Z: Array, W: Array, alpha: float) -> float:
        """E of a sheet at the places of the rows."""
        gaps = product(self.basis(Z), W) - self.rows
        return float(np.mean(np.sum(gaps**2, axis=1))) + alpha * self.roughness(W)

    def best_weights(self, Z: Array, alpha: float, start: Array | None = None) -> Array:
        """The weights (size, d) that minimise E at places ``Z`` of the rows.

        ``start`` is where the sum of lengths is lowered from, if it is the better start.
        """
        B = self.basis(Z)
        A, b = inner_products(B) / len(B), product(B.T, self.rows) / len(B)
        if self.regularizer != "sparse":
            return _solve(A + 0.5 * alpha * self.penalty, b)
        found = self._sparse_weights(A, b, alpha, None)
        if start is None:
            return found
        other = self._sparse_weights(A, b, alpha, start)
        return found if self.value(Z, found, alpha) <= self.value(Z, other, alpha) else other

    def _sparse_weights(self, A: Array, b: Array, alpha: float, W: Array | None) -> Array:
        """Weighted quadratics that touch the sum of lengths from above, one after the other."""
        m = len(self.basis.nodes)
        for _ in range(ROUNDS):
            D = np.zeros(len(A))
            D[:m] = 1.0 if W is None else 1.0 / _lengths(W[:m])
            before, W = W, _solve(A + 0.5 * alpha * np.diag(D), b)
            if before is not None and np.abs(W - before).max() <= CORNER * np.abs(W).max():
                break
        assert W is not None
        return W

    def without_small(self, Z: Array, W: Array, alpha: float) -> Array:
        """Weights of which those that the sum of lengths has pressed to nothing are zero."""
        m = len(self.basis.nodes)
        lengths = np.linalg.norm(W[:m], axis=1)
        kept = np.append(lengths > NONE * max(1.0, lengths.max()), np.ones(len(W) - m, dtype=bool))
        B = self.basis(Z)[:, kept]
        D = np.zeros(len(W))
        D[:m] = 1.0 / _lengths(W[:m])
        A = inner_products(B) / len(B) + 0.5 * alpha * np.diag(D[kept])
        found = np.zeros_like(W)
        found[kept] = _solve(A, product(B.T, self.rows) / len(B))
        return found


def _lengths(W: Array) -> Array:
    """Lengths of the rows of ``W``, rounded at zero."""
    return np.asarray(np.sqrt(np.sum(W**2, axis=1) + CORNER**2))


def _solve(A: Array, b: Array) -> Array:
    A = A.copy()
    A.flat[:: len(A) + 1] += JITTER * max(np.trace(A) / len(A), np.finfo(float).tiny)
    return np.asarray(linalg.solve(A, b, assume_a="pos"))
