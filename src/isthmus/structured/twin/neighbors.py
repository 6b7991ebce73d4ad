"""Twin processes on the neighbours of each new input."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy import linalg

from isthmus.kernels.objects import take
from isthmus.structured.twin.bridge import (
    TwinQuery,
    TwinSides,
    hsic_query,
    ridge_start,
)
from isthmus.structured.twin.formulas import (
    CriterionValues,
    added_divergence,
    centred_border,
    distance_from_mean,
    inverse_added_divergence,
    inverse_kl_criterion,
    inverse_kl_table,
    kl_criterion,
    kl_table,
    quadratic_forms,
)
from isthmus.structured.twin.inverse import positive_factor, positive_inverse
from isthmus.typing import Array, IntArray, Objects


@dataclass(frozen=True)
class NeighborBridge:
    """The most similar training inputs of each new one: O(M³) per query, nothing in advance.

    Criteria take and return rows over all training outputs, of which only the neighbours count.
    """

    sides: TwinSides
    kind: str
    inputs: Objects
    outputs: Objects
    n_neighbors: int
    tried: ClassVar[None] = None  # every query has its own

    def query(self, X: Objects) -> TwinQuery:
        x_kernel, y_kernel, x_noise, y_noise = self.sides
        k_all = x_kernel.gram(X, self.inputs)
        k_xx = x_kernel.diag(X)
        n, M = k_all.shape[1], min(self.n_neighbors, k_all.shape[1])
        near = np.sort(np.argpartition(-k_all, M - 1, axis=1)[:, :M], axis=1)
        k_x = np.take_along_axis(k_all, near, axis=1)
        if self.kind == "hsic":
            return self._hsic(near, k_x, k_xx, n)
        k_xx = k_xx + x_noise
        linear, weights = np.empty_like(k_x), np.empty_like(k_x)
        eta, uGu, squares = (np.empty_like(k_xx) for _ in range(3))
        inverses, others = list[Array](), list[Array]()
        start = np.empty((len(near), self.outputs.shape[1])) if y_kernel.vectors else None
        for i, rows in enumerate(near):
            local_x, local_y = take(self.inputs, rows), take(self.outputs, rows)
            K = x_kernel.gram(local_x, local_x)
            K.flat[:: M + 1] += x_noise
            G = y_kernel.gram(local_y, local_y)
            Q = positive_inverse(G.copy(), y_noise)
            inverses.append(Q)
            if self.kind == "inverse_kl":
                others.append(Q @ K @ Q)
            u = linalg.cho_solve(positive_factor(K, "inputs"), k_x[i], check_finite=False)
            eta[i] = max(k_xx[i] - k_x[i] @ u, x_noise)
            weights[i], squares[i] = u, u @ (G @ u)
            uGu[i] = squares[i] + y_noise * (u @ u)
            linear[i] = Q @ k_x[i] if self.kind == "inverse_kl" else u
            if start is not None:
                start[i] = ridge_start(u, local_y)

        def products(matrices: list[Array], g: Array, rows: IntArray) -> Array:
            return np.array([matrices[r] @ g[j] for j, r in enumerate(rows)])

        def judge(g_all: Array, g_yy: Array, rows: IntArray) -> CriterionValues:
            g = np.take_along_axis(g_all, near[rows], axis=1)
            Qg = products(inverses, g, rows)
            if self.kind == "inverse_kl":
                Mg = products(others, g, rows)
                found = inverse_kl_criterion(g, g_yy, Qg, Mg, linear[rows], k_xx[rows], y_noise)
            else:
                found = kl_criterion(g, g_yy, Qg, linear[rows], eta[rows], y_noise)
            return _scatter(found, near[rows], n)

        def table(g_all: Array, g_yy: Array, forms: None = None) -> Array:
            return np.array([row(i, g_all[:, near[i]], g_yy) for i in range(len(near))])

        def row(i: int, g: Array, g_yy: Array) -> Array:
            one = slice(i, i + 1)
            if self.kind == "inverse_kl":
                gQg, gMg = quadratic_forms(g, (inverses[i], others[i]))
                return inverse_kl_table(g, g_yy, gQg, gMg, linear[one], k_xx[one], y_noise)[0]
            (gQg,) = quadratic_forms(g, (inverses[i],))
            return kl_table(g, g_yy, gQg, linear[one], eta[one], y_noise)[0]

        to_nats = partial(added_divergence, uGu=uGu, eta=eta)
        if self.kind == "inverse_kl":
            to_nats = partial(inverse_added_divergence, eta=eta)
        far = partial(_mismatch, near, u=weights, uGu=squares)
        return TwinQuery(judge, table, start, eta, to_nats, far)

    def _hsic(self, near: IntArray, k_x: Array, k_xx: Array, n: int) -> TwinQuery:
        kernel = self.sides.x_kernel
        local = (take(self.inputs, rows) for rows in near)
        row_sums = np.array([kernel.gram(Z, Z).sum(axis=1) for Z in local])
        b, c = centred_border(k_x, k_xx, row_sums)
        b_all, k_all = np.zeros((len(near), n)), np.zeros((len(near), n))
        np.put_along_axis(b_all, near, b, axis=1)
        np.put_along_axis(k_all, near, k_x, axis=1)
        Y = self.outputs if self.sides.y_kernel.vectors else None
        return hsic_query(b_all, c, k_all, k_xx, Y)


def _mismatch(near: IntArray, g_all: Array, g_yy: Array, *, u: Array, uGu: Array) -> Array:
    return distance_from_mean(np.take_along_axis(g_all, near, axis=1), g_yy, u, uGu)


def _scatter(found: CriterionValues, near: IntArray, n: int) -> CriterionValues:
    by_row = np.zeros((len(near), n))
    np.put_along_axis(by_row, near, found.by_row, axis=1)
    return CriterionValues(found.value, by_row, found.by_diagonal)
