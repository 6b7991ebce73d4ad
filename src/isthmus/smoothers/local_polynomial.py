r"""Local polynomials: means of outputs whose weights depend on where one asks.

At a point :math:`x`, with centres :math:`\hat x_i`, outputs :math:`\hat y_i` and
:math:`\xi_i=(1,\hat x_i-x,\dots)`,

.. math:: f(x)=\sum_ib_i(x)\,\hat y_i
          =e_0^\top\Big(\sum_iK(\hat x_i-x)\,\xi_i\xi_i^\top+R\Big)^{-1}
          \sum_iK(\hat x_i-x)\,\xi_i\,\hat y_i^\top ,

with a ridge R on all terms but the constant. Degree 0 is a weighted mean. All coordinates are in
units of the bandwidth here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from isthmus.blocks.slices import block_slices
from isthmus.smoothers.density_kernels import DensityKernel
from isthmus.smoothers.kernel_rows import (
    BLOCK,
    KernelRows,
    Workspace,
    kernel_block,
    kernel_rows,
    lent_workspace,
    reciprocal,
)
from isthmus.smoothers.pairs import Pairs, near_pairs
from isthmus.typing import Array, IntArray


@dataclass(frozen=True)
class LocalSmoother:
    """What is fitted around every point.

    Two uses ask for different care. A manifold moves its centres by descent, so the fit must
    depend smoothly on all places: the ``ridge`` is a number, and ``background`` the weight of the
    origin among the neighbours of a point, which with a kernel of compact support makes the error
    continuous where a point leaves the reach of its last neighbour. A regression (``adaptive``)
    must predict sensibly everywhere: the ridge is a share of the mean diagonal of the moments,
    Gaussian weights are relative to the largest, and the degree falls where neighbours cannot
    bear it.
    """

    kernel: DensityKernel
    degree: int = 0
    cross_terms: bool = True
    ridge: float = 1e-6
    background: float = 0.0
    adaptive: bool = False

    def settings(self) -> tuple[int, bool, float, float, bool]:
        """What the compiled loops need to know."""
        return self.degree, self.cross_terms, self.ridge, self.background, self.adaptive

    @property
    def plain_means(self) -> bool:
        """Whether weights are kernel values over their sum, in rows that need no care."""
        return self.degree == 0 and not self.adaptive

    def rows(
        self,
        Xe: Array,
        Xc: Array,
        excluded: IntArray | None = None,
        pairs: Pairs | None = None,
        work: Workspace | None = None,
    ) -> KernelRows:
        """Kernel values of the pairs that polynomials are fitted to."""
        return kernel_rows(
            Xe,
            Xc,
            self.kernel,
            excluded=excluded,
            pairs=pairs,
            scaled=self.adaptive,
            listed=self.degree > 0,
            work=work,
        )


class Smoothed(NamedTuple):
    """A smoother at m points: values (m, d), Jacobians (m, d, q) if asked for, and its support.

    ``mass`` (m,) is the sum of kernel values, zero where no centre is reached (relative to the
    largest value for the Gaussian rows of an adaptive smoother); ``n_terms`` (m,) the number of
    terms of the polynomials.
    """

    values: Array
    jacobian: Array | None
    mass: Array
    n_terms: IntArray


def smooth(
    smoother: LocalSmoother,
    Z: Array,
    Xc: Array,
    outputs: Array,
    *,
    jacobian: bool = False,
    excluded: IntArray | None = None,
) -> Smoothed:
    r"""Values of the local polynomials at the points ``Z``, and their derivatives.

    The Jacobian at degree 0 is :math:`\sum_i\frac{H_i}{S}(\hat y_i-f)(\hat x_i-z)^\top`; at
    higher degrees a fixed ridge is taken into account, so it is exact there too. Where a kernel
    of compact support reaches no centre, the output of the nearest one is returned, with slope
    zero. Centres in the rows of ``excluded`` (m, K) do not help at their point (cross-validation).

    Cost O(pairs (q + p² + d)) for p terms; memory of small blocks.
    """
    (m, q), d = Z.shape, outputs.shape[1]
    found = Smoothed(
        np.empty((m, d)),
        np.empty((m, d, q)) if jacobian else None,
        np.empty(m),
        np.ones(m, dtype=np.int64),
    )
    block = _means if smoother.plain_means else _polynomials
    with lent_workspace() as work:
        for rows in point_blocks(smoother, m, len(Xc), d * q, with_slopes=jacobian):
            left_out = None if excluded is None else excluded[rows]
            values, slopes, mass, n_terms = block(
                smoother, Z[rows], Xc, outputs, left_out, jacobian, work
            )
            found.values[rows], found.mass[rows], found.n_terms[rows] = values, mass, n_terms
            if found.jacobian is not None:
                found.jacobian[rows] = slopes
    alone = np.flatnonzero(found.mass <= 0)
    if len(alone):
        left_out = None if excluded is None else excluded[alone]
        found.values[alone] = outputs[nearest_centres(Z[alone], Xc, left_out)]
        if found.jacobian is not None:
            found.jacobian[alone] = 0.0
    return found


def point_blocks(
    smoother: LocalSmoother, m: int, n: int, width: int, *, with_slopes: bool = False
) -> Iterator[slice]:
    """Slices of m points whose pairs with n centres, or ``width`` results, stay in the cache."""
    if smoother.kernel.compact and not smoother.plain_means:
        return block_slices(m, n, block_size=max(16, 8 * BLOCK // max(n, width)))
    if smoother.adaptive:
        return block_slices(m, n, block_size=max(1, BLOCK // (n * (2 if with_slopes else 1))))
    # Sums of rows are products, which do not mind; slopes take several tables.
    size = BLOCK // 2 if with_slopes else 4 * BLOCK if smoother.plain_means else BLOCK
    return block_slices(m, n, block_size=max(16, size // max(n, width)))


def _means(
    smoother: LocalSmoother,
    Z: Array,
    Xc: Array,
    Y: Array,
    excluded: IntArray | None,
    jacobian: bool,
    work: Workspace,
) -> tuple[Array, Array | None, Array, int]:
    """Weighted means, by matrix products over all pairs or over the near ones."""
    kernel = smoother.kernel
    pairs = near_pairs(Z, Xc, kernel.support)
    if pairs is None:
        room = work.take("squared", len(Z) * len(Xc)).reshape(len(Z), -1)
        K, H, S, lost = kernel_block(Z, Xc, kernel, excluded, room)
        none = np.empty(0, dtype=np.int32)
        rows, mass = KernelRows(none, none, K, H, len(Xc), everything=True), S.copy()
        mass[lost] = np.where(S[lost] > 0, np.finfo(float).tiny, 0.0)
    else:
        rows = kernel_rows(Z, Xc, kernel, excluded=excluded, pairs=pairs)
        S = mass = rows.sums()
    inverse = reciprocal(S)
    f = (rows.table(rows.K) @ Y) * inverse[:, None]
    return f, _slopes_of_means(rows, inverse, f, Z, Xc, Y) if jacobian else None, mass, 1


def _slopes_of_means(
    rows: KernelRows, inverse: Array, f: Array, Z: Array, Xc: Array, Y: Array
) -> Array:
    """Jacobians (m, d, q) of weighted means with the values ``f``."""
    if rows.everything:
        H = rows.table(rows.H) * inverse[:, None]
    else:
        count = np.diff(rows.indptr)
        H = rows.H * np.repeat(inverse, count)
    J = np.empty((*f.shape, Z.shape[1]))
    for m in range(Z.shape[1]):
        if rows.everything:
            step = Xc[:, m] - Z[:, m : m + 1]
        else:
            step = Xc[rows.indices, m] - np.repeat(Z[:, m], count)
        W = rows.table(H * step)
        J[:, :, m] = W @ Y - f * W.sum(axis=1)[:, None]
    return J


def _polynomials(
    smoother: LocalSmoother,
    Z: Array,
    Xc: Array,
    Y: Array,
    excluded: IntArray | None,
    jacobian: bool,
    work: Workspace,
) -> tuple[Array, Array | None, Array, IntArray]:
    rows = smoother.rows(Z, Xc, excluded, work=work)
    if not jacobian:
        from isthmus.smoothers.fits import fit_polynomials

        fit = fit_polynomials(smoother, rows, Z, Xc, work)
        return rows.times(fit.b, Y), None, fit.mass, fit.n_terms
    mass = rows.sums()
    if smoother.degree == 0:
        b, n_terms = fit_weights(smoother, rows, Z, Xc, mass, work)
        f = rows.times(b, Y)
        return f, _slopes_of_means(rows, reciprocal(mass), f, Z, Xc, Y), mass, n_terms
    from isthmus.smoothers.loops import polynomial_weights

    b, n_pairs = work.take("weights", len(rows.K)), len(rows.K)
    slopes = work.take("slopes", Z.shape[1] * n_pairs).reshape(Z.shape[1], n_pairs)
    n_terms = polynomial_weights(
        rows.indptr, rows.indices, rows.K, rows.H, Z, Xc, smoother.settings(), b, slopes
    )
    J = np.empty((len(Z), Y.shape[1], Z.shape[1]))
    for m, part in enumerate(slopes):
        J[:, :, m] = rows.times(part, Y)
    return rows.times(b, Y), J, mass, n_terms


def fit_weights(
    smoother: LocalSmoother,
    rows: KernelRows,
    Z: Array,
    Xc: Array,
    mass: Array,
    work: Workspace,
) -> tuple[Array, Any]:
    """Weights of the outputs on the pairs of ``rows``, and the number of terms at every point.

    ``mass`` are the sums of the rows; the weights are in ``work``.
    """
    b = work.take("weights", len(rows.K))
    if smoother.degree == 0:
        inverse = reciprocal(mass + smoother.background)
        if rows.everything:
            np.multiply(rows.table(rows.K), inverse[:, None], out=b.reshape(len(Z), -1))
        else:
            np.multiply(rows.K, np.repeat(inverse, np.diff(rows.indptr)), out=b)
        return b, 1
    from isthmus.smoothers.loops import polynomial_weights

    none = np.empty((0, len(b)))
    return b, polynomial_weights(
        rows.indptr, rows.indices, rows.K, rows.K, Z, Xc, smoother.settings(), b, none
    )


def smoothing_weights(smoother: LocalSmoother, Z: Array, Xc: Array) -> Any:
    """The matrix (m, n) that :func:`smooth` applies to outputs; sparse for compact kernels.

    Each row sums to one, up to the background.
    """
    parts = []
    for block in point_blocks(smoother, len(Z), len(Xc), 1):
        here, work = Z[block], Workspace()
        rows = smoother.rows(here, Xc, work=work)
        mass = rows.sums()
        part = rows.table(fit_weights(smoother, rows, here, Xc, mass, work)[0])
        alone = np.flatnonzero(mass <= 0)
        if len(alone):
            nearest = nearest_centres(here[alone], Xc, None)
            one = sparse.csr_array((np.ones(len(alone)), (alone, nearest)), shape=part.shape)
            part = part + one
        parts.append(part)
    if smoother.kernel.compact:
        return sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    return np.concatenate(parts)


def nearest_centres(Z: Array, Xc: Array, excluded: IntArray | None) -> IntArray:
    """Number of the centre nearest to each point that is not excluded there."""
    if excluded is None:
        nearest: IntArray = cKDTree(Xc).query(Z)[1]
        return nearest
    found = np.empty(len(Z), dtype=np.intp)
    for rows in block_slices(len(Z), len(Xc)):
        s = cdist(Z[rows], Xc, "sqeuclidean")
        s[np.arange(len(s))[:, None], excluded[rows]] = np.inf
        found[rows] = s.argmin(axis=1)
    return found
