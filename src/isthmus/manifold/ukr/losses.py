"""Losses of a reconstruction: value and gradient for each row of residuals."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from isthmus.typing import Array

Rows: TypeAlias = slice
# residuals r = f - y of shape (m, d), and which of all rows they are → values (m,), slopes (m, d)
Loss: TypeAlias = Callable[[Array, Rows], tuple[Array, Array]]


def squared_loss(R: Array, rows: Rows) -> tuple[Array, Array]:
    r""":math:`L(r)=\|r\|^2`."""
    return np.einsum("ij,ij->i", R, R), 2.0 * R


def huber_loss(delta: float) -> Loss:
    r""":math:`L(r)=\sum_k r_k^2/2\delta` where :math:`|r_k|<\delta`, else :math:`|r_k|-\delta/2`.

    Multiplied by :math:`2\delta` it tends to the squared loss as :math:`\delta` grows.
    """

    def loss(R: Array, rows: Rows) -> tuple[Array, Array]:
        slope = np.clip(R / delta, -1.0, 1.0)
        # |r| - delta/2 outside and r²/2delta inside are both slope (r - delta slope / 2).
        return np.sum(slope * (R - 0.5 * delta * slope), axis=1), slope

    return loss


def huber_norm_loss(delta: float) -> Loss:
    r""":math:`L(r)=\|r\|^2/2\delta` where :math:`\|r\|<\delta`, else :math:`\|r\|-\delta/2`.

    A row counts or is an outlier as a whole, and no axes are special: it has a meaning in
    feature spaces too.
    """

    def loss(R: Array, rows: Rows) -> tuple[Array, Array]:
        norm = np.sqrt(np.einsum("ij,ij->i", R, R))
        inside = np.minimum(norm, delta)
        slope = R / np.maximum(norm, delta)[:, None]
        return inside * (norm - 0.5 * inside) / delta, slope

    return loss


HUBER = {"huber": huber_loss, "huber_norm": huber_norm_loss}


def automatic_delta(R: Array, name: str) -> float:
    """A tenth of the median residual: of its components, or of its length."""
    size = np.linalg.norm(R, axis=1) if name == "huber_norm" else np.abs(R)
    return max(0.1 * float(np.median(size)), np.finfo(float).tiny)


def tube_loss(epsilon: Array, shape: str) -> Loss:
    r"""Epsilon-insensitive loss, whose tolerance may differ from sample to sample.

    ``shape="ball"`` is :math:`[\|r\|-\varepsilon]_+^2`, ``shape="cube"`` is
    :math:`\sum_k[|r_k|-\varepsilon_k]_+^2`. ``epsilon`` has shape () or (n_samples,) for the
    ball and () or (n_samples, 1 or n_features) for the cube.
    """

    def ball(R: Array, rows: Rows) -> tuple[Array, Array]:
        norm = np.sqrt(np.einsum("ij,ij->i", R, R))
        excess = np.maximum(norm - (epsilon[rows] if epsilon.ndim else epsilon), 0.0)
        share = np.divide(excess, norm, out=np.zeros_like(norm), where=norm > 0)
        return excess**2, 2.0 * share[:, None] * R

    def cube(R: Array, rows: Rows) -> tuple[Array, Array]:
        excess = np.maximum(np.abs(R) - (epsilon[rows] if epsilon.ndim else epsilon), 0.0)
        return np.sum(excess**2, axis=1), 2.0 * excess * np.sign(R)

    return ball if shape == "ball" else cube
