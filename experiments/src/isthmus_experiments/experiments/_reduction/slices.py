"""Rivals of supervised reduction that slice the outputs: SIR, SAVE, LAD.

All return an orthonormal or Σ-orthonormal matrix of directions, (p, d), for centred inputs.
"""

import numpy as np
from scipy import linalg

from isthmus.optimize import qr_retraction


def sir(X, y, d):
    """Sliced inverse regression: directions in which the means of slices vary most."""
    root, slices = _whitening(X), _slices(y, d)
    T = X @ root
    M = sum(len(rows) * np.outer(m := T[rows].mean(axis=0), m) for rows in slices)
    return root @ _leading(M, d)


def save(X, y, d, shrinkage=0.1):
    """Sliced average variance estimation: directions whose variance within slices is not one.

    Covariances of slices are shrunk towards one, or few rows in many columns would make noise
    look like structure.
    """
    root, slices = _whitening(X), _slices(y, d)
    T, eye = X @ root, np.eye(X.shape[1])
    M = np.zeros_like(eye)
    for rows in slices:
        centred = T[rows] - T[rows].mean(axis=0)
        V = (1 - shrinkage) * centred.T @ centred / len(rows) + shrinkage * eye
        M += len(rows) * (eye - V) @ (eye - V)
    return root @ _leading(M, d)


def lad(X, y, d, max_iter=30, shrinkage=0.1):
    """Likelihood acquired directions: maximum over orthonormal B of the conditional likelihood.

    ½ log|B'ΣB| - ½ Σ f_h log|B'Δ_hB| by ascent on the Grassmannian from SIR and from SAVE.
    """
    n, p = X.shape
    sigma = X.T @ X / n
    ridge = shrinkage * np.trace(sigma) / p * np.eye(p)
    sigma = (1 - shrinkage) * sigma + ridge
    parts = []
    for rows in _slices(y, d):
        centred = X[rows] - X[rows].mean(axis=0)
        within = (1 - shrinkage) * centred.T @ centred / len(rows) + ridge
        parts.append((len(rows) / n, within))

    def likelihood(B):
        value, slope = _half_log_determinant(sigma, B)
        for share, within in parts:
            of_slice, along = _half_log_determinant(within, B)
            value, slope = value - share * of_slice, slope - share * along
        return value, slope

    starts = [np.linalg.qr(start(X, y, d))[0] for start in (sir, save)]
    return max((ascend(likelihood, B, max_iter) for B in starts), key=lambda pair: pair[1])[0]


def ascend(fun, B, max_iter, tol=1e-6):
    """Gradient ascent over orthonormal B with step lengths that adapt; B and the value."""
    value, slope = fun(B)
    length = 1.0
    for _ in range(max_iter):
        tangent = slope - B @ (B.T @ slope)  # on the Grassmannian
        size = np.sum(tangent**2)
        if size < tol**2:
            break
        for _ in range(30):
            candidate = qr_retraction(B, length * tangent)
            new, new_slope = fun(candidate)
            if new >= value + 1e-4 * length * size:
                break
            length /= 3
        else:
            break
        gain, B, value, slope = new - value, candidate, new, new_slope
        length *= 2
        if gain < tol * max(abs(value), 1e-12):
            break
    return B, value


def _half_log_determinant(S, B):
    """½ log|B'SB| and its gradient S B (B'SB)^-1."""
    SB = S @ B
    core = linalg.cho_factor(B.T @ SB)
    return np.log(np.diagonal(core[0])).sum(), linalg.cho_solve(core, SB.T).T


def _slices(y, d, n_slices=10):
    """Rows of slices of equal size; d directions need more than d slices."""
    return np.array_split(np.argsort(y, kind="stable"), max(n_slices, d + 1))


def _whitening(X, ridge=1e-3):
    """Σ^(-1/2), with a little ridge for collinear columns."""
    sigma = X.T @ X / len(X)
    values, U = np.linalg.eigh(sigma)
    return U / np.sqrt(values + ridge * values.mean()) @ U.T


def _leading(M, d):
    return np.linalg.eigh(M)[1][:, ::-1][:, :d]
