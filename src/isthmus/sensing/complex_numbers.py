r"""Basis pursuit of complex vectors, where :math:`|x_i|` is a modulus.

.. math:: \max_y\ \Re(b^*y)-\epsilon\|y\|\quad\text{subject to}\quad A^*y=z,\ |z_i|\le1,

by alternating directions as for real vectors [YangZhang2011]_, with discs in place of intervals.
There are no signs to settle but phases, so that values are polished by least squares alone.
"""

from typing import Any

import numpy as np

from isthmus._progress import ProgressLine
from isthmus.sensing.certificate import RecoveryCertificate
from isthmus.typing import Array

_STEP = 1.6  # over-relaxation of the multiplier; below the golden ratio
_THRESHOLD = 0.05  # share of the largest entry of A*b/‖A‖² by which a step can move an entry
_BALANCE, _RETUNE, _CHECK = 5.0, 1.5, 25
_ZERO = 1e-3  # entries below this share of the largest are tried as zeros


def complex_pursuit(
    A: Any, b: Array, noise: float, *, tol: float, max_iter: int, verbose: int = 0
) -> tuple[Array, RecoveryCertificate]:
    """Solution and certificate for a matrix or an operator with an adjoint ``A.H``.

    >>> import numpy as np
    >>> A = np.array([[1.0, 1j, 2.0], [0.0, 1.0, 2.0]])
    >>> x, certificate = complex_pursuit(A, A @ [0, 0, 0.5j], 0.0, tol=1e-6, max_iter=5000)
    >>> np.round(x, 6) + 0.0
    array([0.+0.j , 0.+0.j , 0.+0.5j])
    """
    back = A.conj().T if isinstance(A, np.ndarray) else A.H
    norm2 = _squared_norm(A, back)
    x = back @ b / norm2
    unit = float(np.abs(x).max())
    if not unit or np.linalg.norm(b) <= noise:
        return np.zeros_like(x), RecoveryCertificate(
            float(np.linalg.norm(b)), 0.0, 0, "first-order"
        )
    b, noise, x = b / unit, noise / unit, x / unit
    mu, size_b = _THRESHOLD, float(np.linalg.norm(b))
    y, z, image = np.zeros_like(b), np.zeros_like(x), np.zeros_like(x)  # image is A*y
    best = x, np.inf, np.inf
    n_iter, next_check = 0, _CHECK
    with ProgressLine("basis pursuit", verbose=verbose) as line:
        for n_iter in range(1, max_iter + 1):
            y = y - (A @ (image - z + x / mu) - b / mu) / norm2
            if noise:
                y = y * max(0.0, 1 - noise / (mu * norm2 * max(float(np.linalg.norm(y)), 1e-300)))
            image = back @ y
            w = image + x / mu
            z = w / np.maximum(1.0, np.abs(w))
            x = x + _STEP * mu * (image - z)
            if n_iter < min(next_check, max_iter):
                continue
            next_check = n_iter + max(_CHECK, n_iter // 10)
            for trial in (x, None if noise else _polished(A, back, b, x)):
                if trial is None:
                    continue
                off = max(float(np.linalg.norm(A @ trial - b)) - noise, 0.0) / size_b
                gap = _gap(b, noise, trial, y, image)
                line.update(step=n_iter, gap=gap)
                if max(off, abs(gap)) < max(best[1], abs(best[2])):
                    best = trial, off, gap
            if best[1] <= tol and abs(best[2]) <= tol:
                break
            # At the solution the residual is the noise, neither more nor less.
            off = abs(float(np.linalg.norm(A @ x - b)) - noise) / size_b
            split = float(np.linalg.norm(image - z) / max(float(np.linalg.norm(z)), 1e-300))
            if max(off, split) > _BALANCE * min(off, split):
                mu *= _RETUNE if split > off else 1 / _RETUNE
    x = best[0] * unit
    residual = float(np.linalg.norm(A @ x - b * unit))
    return x, RecoveryCertificate(residual, best[2], n_iter, "first-order")


def _gap(b: Array, noise: float, x: Array, y: Array, image: Array) -> float:
    """Relative duality gap after ``y`` is shrunk until it is admissible."""
    shrink = max(1.0, float(np.abs(image).max()))
    bound = (float(np.vdot(b, y).real) - noise * float(np.linalg.norm(y))) / shrink
    size = float(np.abs(x).sum())
    return (size - bound) / max(size, 1e-300)


def _polished(A: Any, back: Any, b: Array, x: Array) -> Array | None:
    """Least squares on the entries that stand out; None for operators, and where they are many."""
    support = np.flatnonzero(np.abs(x) > _ZERO * np.abs(x).max())
    if not isinstance(A, np.ndarray) or len(support) > len(b):
        return None
    values = np.linalg.lstsq(A[:, support], b, rcond=None)[0]
    result = np.zeros_like(x)
    result[support] = values
    return result


def _squared_norm(A: Any, back: Any) -> float:
    """An upper bound of the squared norm, tight to a few percent."""
    if isinstance(A, np.ndarray):
        return float(np.linalg.norm(A, 2) ** 2)
    v = np.random.default_rng(0).normal(size=A.shape[0]).astype(complex)
    size = 0.0
    for _ in range(50):
        v = v / np.linalg.norm(v)
        v = A @ (back @ v)
        new = float(np.linalg.norm(v))
        if new <= size * (1 + 1e-3):
            break
        size = new
    return 1.05 * max(size, new)
