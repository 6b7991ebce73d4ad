"""Errors of kernel ridge regression on rows left out, for all penalties at once."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from isthmus.linalg.centering import center_gram
from isthmus.linalg.products import product
from isthmus.linalg.ridge import FeaturePath, RidgePath, left_out_path
from isthmus.regression.selection import Selection
from isthmus.typing import Array

# Penalties offered where none are given, in units of the kernel.
POWERS = np.arange(-10, 2.01, 0.5)
# Share of the largest squared length up to which differences of rows are rounding errors alone.
ALIKE = 32 * float(np.finfo(np.float64).eps)


def left_out_errors(
    K: Array,
    Y: Array,
    alphas: Sequence[float] | None,
    selection: Selection,
    *,
    fit_intercept: bool,
    rounding: float = 0.0,
    counts: Array | None = None,
) -> Iterator[tuple[float, float]]:
    r"""Yield the mean squared error and the penalty, for penalties that rounding allows.

    Rounding in ``K`` counts as part of an error, so that no penalty is chosen for what it hides.
    ``K`` may be overwritten. Without ``alphas``, they are in units of the mean squared length of
    the feature vectors. Predictions will be made with kernel values that carry independent errors
    of relative size ``rounding``: with coefficients :math:`c` they add
    :math:`\mathrm{rounding}^2\|c\|^2` times the mean square of the kernel to the squared error.
    A row that ``counts`` several times is left out once of these.
    """
    noise = rounding**2 * float(np.mean(np.square(K))) if rounding else 0.0
    if alphas is None:
        alphas = penalties(K, fit_intercept=fit_intercept)
    options: dict[str, Any] = {"fit_intercept": fit_intercept, "noise": noise}
    if selection.leaves_one_out:
        if counts is not None:
            return _leave_one_copy_out(K, Y, alphas, counts, **options)
        return _leave_one_out(K, Y, alphas, **options)
    counts = np.ones(len(Y)) if counts is None else counts
    return _folds(K, Y, alphas, selection, counts, **options)


def penalties(K: Array, *, fit_intercept: bool) -> list[float]:
    """Penalties in units of the mean squared length of the feature vectors, or of 1 if all are 0.

    >>> penalties(np.diag([4.0, 4.0]), fit_intercept=False)[-5]
    4.0
    """
    return _in_units(K.diagonal(), float(np.mean(K)) if fit_intercept else 0.0)


def penalties_of_features(Z: Array, *, fit_intercept: bool) -> list[float]:
    """The same for the kernel ``Z @ Z.T``."""
    mean = Z.mean(axis=0) * fit_intercept
    return _in_units(np.einsum("ij,ij->i", Z, Z), float(mean @ mean))


def _in_units(lengths: Array, mean: float) -> list[float]:
    return penalties_in_units(float(np.mean(lengths)) - mean, _largest(lengths), POWERS)


def penalties_in_units(unit: float, largest: float, powers: Array) -> list[float]:
    """Penalties in units of a mean squared length; ``largest`` is that before anything was centred.

    >>> penalties_in_units(2.0, 4.0, np.array([-1.0, 0.0]))
    [0.2, 2.0]
    """
    if unit > ALIKE * largest:
        return [float(unit * 10.0**power) for power in powers]
    # Rows that are all alike have no length but rounding errors, which must not be fitted.
    return [float((largest or 1.0) * 10.0**power) for power in powers if power >= 0]


def _largest(lengths: Array) -> float:
    return float(np.max(np.abs(lengths), initial=0.0))


def centred(K: Array, shares: Array | None = None) -> tuple[Array, Array]:
    """The matrix about its mean, in its place, and that; zeros where only rounding is left."""
    largest = _largest(K.diagonal())
    K, mean = center_gram(K, overwrite=True, shares=shares)
    if float(np.mean(K.diagonal())) <= ALIKE * largest:
        K[:] = 0.0
    return K, mean


def _leave_one_out(
    K: Array, Y: Array, alphas: Sequence[float], *, fit_intercept: bool, noise: float
) -> Iterator[tuple[float, float]]:
    """One decomposition for all rows and penalties."""
    if fit_intercept:
        K, _ = centred(K)
    return _errors_of_rows(
        lambda Y: left_out_path(K, Y, intercept=fit_intercept, overwrite=True),
        Y,
        alphas,
        fit_intercept,
        noise,
        of_gram=True,
    )


def _errors_of_rows(
    path_of: Callable[[Array], Any],
    Y: Array,
    alphas: Sequence[float],
    fit_intercept: bool,
    noise: float,
    *,
    of_gram: bool,
) -> Iterator[tuple[float, float]]:
    """Errors along the path of the outputs, for the penalties that it allows."""
    Y = Y - Y.mean(axis=0) * fit_intercept
    n_values = Y.size
    if Y.shape[1] > len(Y):
        # Only sums of squares over outputs count: rotate them into few columns.
        Y = np.asarray(np.linalg.qr(Y.T, mode="r")).T
    path = path_of(Y)
    allowed = [a for a in alphas if a >= path.smallest_penalty or a == max(alphas)]
    for alpha, residuals, squared_norm in path.left_out(allowed):
        error = float(np.sum(residuals**2)) / n_values
        # Each output has coefficients of its own, and n_values / n of them there are.
        extra = noise * squared_norm * len(Y) / n_values if noise else 0.0
        if of_gram:
            error *= 1.0 + _rounded(path, alpha)
        yield error + extra, alpha


def _rounded(path: Any, alpha: float) -> float:
    r"""Share of a left-out error that may be rounding in the Gram matrix.

    Errors of :math:`\epsilon\lambda_1` in K change :math:`(K+\alpha I)^{-1}`, and with it a
    residual, by :math:`\epsilon\lambda_1/\alpha` of itself.
    """
    least = float(path.smallest_penalty)
    return least / alpha if alpha > least else 1.0


def is_short(Z: Array, Y: Array) -> bool:
    """Whether products with features, one pass for each penalty, are less than a spectrum."""
    (n, p), o = Z.shape, Y.shape[1]
    return 4 * p <= n and 2.0 * len(POWERS) * p * min(o, n) <= n**2


def left_out_of_features(
    Z: Array, Y: Array, alphas: Sequence[float] | None, *, fit_intercept: bool
) -> Iterator[tuple[float, float]]:
    """What :func:`left_out_errors` yields for the kernel ``Z @ Z.T``, every row left out once."""
    if alphas is None:
        alphas = penalties_of_features(Z, fit_intercept=fit_intercept)
    if fit_intercept:
        Z = Z - Z.mean(axis=0)
    return _errors_of_rows(
        lambda Y: FeaturePath(Z, Y, intercept=fit_intercept),
        Y,
        alphas,
        fit_intercept,
        0.0,
        of_gram=False,  # nothing is divided by the penalty
    )


def _leave_one_copy_out(
    K: Array, Y: Array, alphas: Sequence[float], counts: Array, *, fit_intercept: bool, noise: float
) -> Iterator[tuple[float, float]]:
    r"""The same where row i counts :math:`w_i` times.

    In the system with :math:`D=\mathrm{diag}(\sqrt w)` row i has the residual
    :math:`\sqrt{w_i}r_i` and the leverage :math:`h_i`; without one of its copies (or without all
    of it, where it counts less than one) the residual is :math:`r_i/(1-h_i\min(w_i,1)/w_i)`.
    """
    total, root = float(counts.sum()), np.sqrt(counts)[:, None]
    once = 1 / np.maximum(counts, 1.0)
    if fit_intercept:
        Y = Y - counts @ Y / total
        K, _ = centred(K, counts / total)
    K *= root
    K *= root.T
    path = RidgePath(K, root * Y, intercept=False, overwrite=True)
    for alpha in alphas:
        if alpha >= path.smallest_penalty or alpha == max(alphas):
            h = 1 - alpha * product(path.U_squared, 1 / (path.eigenvalues + alpha))
            h += counts / total * fit_intercept
            kept = np.maximum(1 - h * once, np.finfo(np.float64).eps)
            coefficients = path.coefficients(alpha)
            error = float(np.sum((alpha * coefficients / kept[:, None]) ** 2))
            error *= 1.0 + _rounded(path, alpha)
            extra = noise * float(np.sum((root * coefficients) ** 2)) / Y.shape[1]
            yield error / (total * Y.shape[1]) + extra, alpha


def _folds(
    K: Array,
    Y: Array,
    alphas: Sequence[float],
    selection: Selection,
    counts: Array,
    *,
    fit_intercept: bool,
    noise: float,
) -> Iterator[tuple[float, float]]:
    """One eigendecomposition for each set of rows that is left out."""
    totals, n_values = np.zeros(len(alphas)), 0.0
    for train, test in selection.splits(len(Y)):
        inner, mean = K[np.ix_(train, train)], np.zeros(len(train), dtype=K.dtype)
        shares = counts[train] / counts[train].sum()
        root, left = np.sqrt(counts[train])[:, None], counts[test][:, None]
        y_mean = shares @ Y[train] * fit_intercept
        if fit_intercept:
            inner, mean = centred(inner, shares)
        inner *= root
        inner *= root.T
        path = RidgePath(inner, root * (Y[train] - y_mean), intercept=fit_intercept, overwrite=True)
        across = K[np.ix_(test, train)] - mean
        for i, alpha in enumerate(alphas):
            if alpha < path.smallest_penalty and alpha != max(alphas):
                totals[i] = np.inf
                continue
            C = root * path.coefficients(alpha)
            C -= shares[:, None] * C.sum(axis=0) * fit_intercept
            error = float(np.sum(left * (Y[test] - y_mean - product(across, C)) ** 2))
            totals[i] += error * (1.0 + _rounded(path, alpha))
            totals[i] += noise * np.sum(C**2) * left.sum()
        n_values += float(left.sum()) * Y.shape[1]
    yield from zip((totals / max(n_values, 1e-300)).tolist(), alphas, strict=True)
