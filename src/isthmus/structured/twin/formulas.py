r"""Criteria of twin Gaussian processes, as functions on arrays.

Training objects have the Gram matrices :math:`K` of inputs and :math:`G` of outputs, both with
their noise on the diagonal. A new input has the row :math:`k_x` and :math:`k_{xx}`, a
trial output the row :math:`g` and :math:`g_{yy}`. A criterion says how well the matrices
bordered by these agree. Every function here takes rows of trial outputs and returns values,
the derivative with respect to :math:`g` and that with respect to :math:`g_{yy}`.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from isthmus.linalg.products import product
from isthmus.typing import Array, IntArray


class CriterionValues(NamedTuple):
    """Values of a criterion and what they change with."""

    value: Array  # (B,)
    by_row: Array  # ∂/∂g, (B, m)
    by_diagonal: Array  # ∂/∂g_yy, (B,)


# values of g, g_yy and the numbers of the queries they belong to -> CriterionValues
RowCriterion = Callable[[Array, Array, IntArray], CriterionValues]
# g (C, m) and g_yy (C,) of trial outputs that all queries share, and their quadratic forms where
# these are known -> values (B, C)
CriterionTable = Callable[..., Array]


def kl_criterion(
    g: Array,
    g_yy: Array,
    Qg: Array,
    u: Array,
    eta: Array,
    floor: float,
    explained: Array | None = None,
) -> CriterionValues:
    r"""Divergence of the bordered Gaussians, from outputs to inputs.

    .. math:: L(y)=g_{yy}-2u^\top g-\eta\log s,\quad s=g_{yy}-g^\top Qg,

    with :math:`u=K^{-1}k_x`, :math:`\eta=k_{xx}-k_x^\top u` and :math:`Q=G^{-1}`. Up to a constant
    it is :math:`2\eta\,\mathrm{KL}(\mathcal N(0,G_{Y\cup y})\,\|\,\mathcal N(0,K_{X\cup x}))`
    [BoSminchisescu2010]_. ``explained`` stands for :math:`g^\top Qg` where it is given.
    """
    if explained is None:
        explained = np.einsum("ij,ij->i", g, Qg)
    s = np.maximum(g_yy - explained, floor)
    value = g_yy - 2 * np.einsum("ij,ij->i", u, g) - eta * np.log(s)
    # Numbers of a row alone may be in double precision where the rows are not.
    by_row = (2 * eta / s).astype(Qg.dtype, copy=False)[:, None] * Qg
    by_row -= 2 * u
    return CriterionValues(value, by_row, 1 - eta / s)


def inverse_kl_criterion(
    g: Array, g_yy: Array, Qg: Array, Mg: Array, v: Array, k_xx: Array, floor: float
) -> CriterionValues:
    r"""The divergence in the opposite direction, from inputs to outputs.

    .. math:: L(y)=\log s+\frac{k_{xx}-2v^\top g+g^\top Mg}{s},

    with :math:`v=G^{-1}k_x` and :math:`M=G^{-1}KG^{-1}`; up to a constant twice
    :math:`\mathrm{KL}(\mathcal N(0,K_{X\cup x})\,\|\,\mathcal N(0,G_{Y\cup y}))`.
    """
    s = np.maximum(g_yy - np.einsum("ij,ij->i", g, Qg), floor)
    fit = k_xx - 2 * np.einsum("ij,ij->i", v, g) + np.einsum("ij,ij->i", g, Mg)
    by_s = (1 - fit / s) / s
    by_row = (2 / s)[:, None] * (Mg - v) - (2 * by_s)[:, None] * Qg
    return CriterionValues(np.log(s) + fit / s, by_row, by_s)


def hsic_criterion(g: Array, g_yy: Array, b: Array, c: Array) -> CriterionValues:
    r"""Minus the dependence that the pair adds, :math:`-2b^\top g-c\,g_{yy}`.

    :math:`(b,c)` is the last column of the centred :math:`HK_{X\cup x}H`, so that this is
    :math:`-\operatorname{tr}(HK_{X\cup x}HG_{Y\cup y})` but for a constant.
    """
    value = -2 * np.einsum("ij,ij->i", b, g) - c * g_yy
    return CriterionValues(value, -2 * b, -c)


def centred_border(k_x: Array, k_xx: Array, row_sums: Array) -> tuple[Array, Array]:
    r"""Last column of :math:`HKH` for the :math:`n+1` objects, (B, n) and (B,).

    ``row_sums`` are those of :math:`K` on the n training objects, (n,) or one row per query.
    """
    n = k_x.shape[1]
    total = row_sums.sum(axis=-1)
    border = k_x.sum(axis=1)
    own_mean = (border + k_xx) / (n + 1)
    grand_mean = (total + 2 * border + k_xx) / (n + 1) ** 2
    b = k_x - (row_sums + k_x) / (n + 1) + (grand_mean - own_mean)[:, None]
    return b, k_xx - 2 * own_mean + grand_mean


def added_divergence(values: Array, uGu: Array, eta: Array) -> Array:
    r"""What the pairs add to the divergence, in nats, from values of the KL criterion.

    .. math:: \tfrac12\Big[\frac{L+u^\top Gu}\eta-1+\log\eta\Big]
       =\tfrac12\Big[\frac{g_{yy}-2u^\top g+u^\top Gu}\eta-1-\log\frac s\eta\Big]\ge0.

    By the chain rule it is a mean divergence between the conditional Gaussians of the new
    coordinate, given the training ones, under the two matrices.
    """
    return np.asarray(np.maximum(0.5 * ((values + uGu) / eta - 1 + np.log(eta)), 0))


def inverse_added_divergence(values: Array, eta: Array) -> Array:
    r"""What the pairs add to the inverse divergence, in nats, from values of its criterion.

    .. math:: \tfrac12[L-1-\log\eta]
       =\tfrac12\Big[\frac{k_{xx}-2v^\top g+g^\top Mg}s-1-\log\frac\eta s\Big]\ge0,

    with :math:`\eta` of the input, so that queries can be compared with each other.
    """
    return np.asarray(np.maximum(0.5 * (values - 1 - np.log(eta)), 0))


def distance_from_mean(g: Array, g_yy: Array, u: Array, uGu: Array) -> Array:
    r"""Squared distance, among outputs, from where kernel ridge regression puts the image.

    :math:`\|\psi(y)-\sum_iu_i\psi(y_i)\|^2=g_{yy}-2u^\top g+u^\top Gu`, noise left out.
    """
    return np.asarray(np.maximum(g_yy - 2 * np.einsum("ij,ij->i", u, g) + uGu, 0))


# The same criteria of the same trial outputs for all queries: g is (C, m), the result (B, C).


def quadratic_forms(g: Array, matrices: Sequence[Array]) -> tuple[Array, ...]:
    r""":math:`g^\top Ag` of each row and each matrix, which no query has a part in."""
    return tuple(np.einsum("ij,ij->i", g, product(g, A)) for A in matrices)


def kl_table(g: Array, g_yy: Array, gQg: Array, u: Array, eta: Array, floor: float) -> Array:
    """Values of :func:`kl_criterion` for all pairs of query and trial output."""
    s = np.maximum(g_yy - gQg, floor)
    return np.asarray(g_yy - 2 * product(u, g.T) - eta[:, None] * np.log(s))


def inverse_kl_table(
    g: Array, g_yy: Array, gQg: Array, gMg: Array, v: Array, k_xx: Array, floor: float
) -> Array:
    """Values of :func:`inverse_kl_criterion` for all pairs of query and trial output."""
    s = np.maximum(g_yy - gQg, floor)
    fit = k_xx[:, None] - 2 * product(v, g.T) + gMg
    return np.asarray(np.log(s) + fit / s)


def hsic_table(g: Array, g_yy: Array, b: Array, c: Array) -> Array:
    """Values of :func:`hsic_criterion` for all pairs of query and trial output."""
    return np.asarray(-2 * product(b, g.T) - c[:, None] * g_yy)
