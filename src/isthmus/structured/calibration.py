r"""Probabilities from the columns of a regression, calibrated on rows that were left out.

A regression of indicators predicts about the probability of each class, but for kernel ridge
regression some are below zero or above one. They are clipped and scaled to sum to one, then
sharpened or flattened by a power that makes the left-out rows most likely.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import optimize
from scipy.special import expit, logit

from isthmus.typing import Array, IntArray

# What a class is given at least before the others are scaled, offered in turn.
FLOORS = (1e-3, 1e-2, 3e-2, 1e-1)
# The logarithm of the power is looked for between these.
POWERS = (-3.0, 3.0)
N_BINS = 10


class ClassCalibration(NamedTuple):
    """Probabilities ∝ max(value, floor)^power, and how well they fit the left-out rows."""

    floor: float
    power: float
    error_before: float
    error: float

    def probabilities(self, values: Array) -> Array:
        """Probabilities (n, n_classes) for values of the columns; the order of a row is kept."""
        return _sharpened(values, self.floor, self.power)


class LabelCalibration(NamedTuple):
    """Probabilities of single labels, σ(slope · logit(value) + shift)."""

    floor: float
    slope: float
    shift: float
    error_before: float
    error: float

    def probabilities(self, values: Array) -> Array:
        """Probabilities (n, n_labels) for values of the columns."""
        return expit(self.slope * logit(np.clip(values, self.floor, 1 - self.floor)) + self.shift)


def calibrate_classes(
    values: Array, classes: IntArray, counts: Array | None = None
) -> ClassCalibration:
    """Floor and power of largest likelihood; ``classes`` are the numbers of the right columns.

    Row i counts ``counts[i]`` times.
    """
    rows = np.arange(len(classes))

    def loss(log_power: float, floor: float) -> float:
        p = _sharpened(values, floor, float(np.exp(log_power)))
        likely = np.log(np.maximum(p[rows, classes], 1e-300))
        return -float(np.average(likely, weights=counts))

    found = []
    for floor in FLOORS:
        best = optimize.minimize_scalar(loss, bounds=POWERS, args=(floor,), method="bounded")
        found.append((float(best.fun), floor, float(np.exp(best.x))))
    _, floor, power = min(found)
    plain = _sharpened(values, FLOORS[0], 1.0)
    after = _sharpened(values, floor, power)
    return ClassCalibration(
        floor,
        power,
        calibration_error(plain, classes, counts),
        calibration_error(after, classes, counts),
    )


def calibrate_labels(values: Array, labels: Array, counts: Array | None = None) -> LabelCalibration:
    """Slope and shift of largest likelihood, the same for all labels."""
    floor = 1e-3
    odds, truth = logit(np.clip(values, floor, 1 - floor)).ravel(), labels.ravel() > 0
    each = None if counts is None else np.repeat(counts, values.shape[1])

    def loss(at: Array) -> float:
        z = np.exp(at[0]) * odds + at[1]
        return float(np.average(np.logaddexp(0, np.where(truth, -z, z)), weights=each))

    best = optimize.minimize(loss, np.zeros(2), method="Nelder-Mead")
    slope, shift = float(np.exp(best.x[0])), float(best.x[1])
    before, after = expit(odds), expit(slope * odds + shift)
    return LabelCalibration(
        floor, slope, shift, binned_error(before, truth, each), binned_error(after, truth, each)
    )


def calibration_error(
    probabilities: Array, classes: IntArray, counts: Array | None = None
) -> float:
    """Mean gap between how sure the answers are and how often they are right, in ten bins.

    >>> calibration_error(np.array([[0.8, 0.2], [0.8, 0.2]]), np.array([0, 1])).__round__(3)
    0.3
    """
    top = np.argmax(probabilities, axis=1)
    return binned_error(probabilities[np.arange(len(top)), top], top == classes, counts)


def binned_error(sure: Array, right: Any, counts: Array | None = None) -> float:
    """The same for one probability per row."""
    bins = np.minimum((sure * N_BINS).astype(int), N_BINS - 1)
    times = np.ones(len(bins)) if counts is None else counts
    gaps = np.bincount(bins, times * (sure - np.asarray(right, dtype=float)), minlength=N_BINS)
    return float(np.abs(gaps).sum() / max(times.sum(), np.finfo(float).tiny))


def _sharpened(values: Array, floor: float, power: float) -> Array:
    logs = power * np.log(np.maximum(values, floor))
    # What lies below the floor keeps its order, by less than any difference that matters.
    logs = logs + 1e-9 * np.minimum(values - floor, 0)
    P = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(P / P.sum(axis=1, keepdims=True))
