"""Rivals of supervised reduction that slice the outputs: SIR, SAVE, LAD.

All return directions (p, d) for centred inputs, from the public estimators.
"""

from isthmus.features import (
    LikelihoodAcquiredDirections,
    SlicedAverageVariance,
    SlicedInverseRegression,
)

# Outputs with many ties make fewer slices than asked for; SIR needs more slices than directions.
N_SLICES = (10, 30, 100, 300)


def sir(X, y, d):
    """Sliced inverse regression; as many directions as the slices can show, where that is fewer."""
    for n_slices in N_SLICES:
        try:
            return SlicedInverseRegression(d, n_slices=n_slices).fit(X, y).components_.T
        except ValueError:  # fewer slices than directions
            continue
    return sir(X, y, d - 1)


def save(X, y, d):
    """Sliced average variance estimation."""
    return SlicedAverageVariance(d).fit(X, y).components_.T


def lad(X, y, d):
    """Likelihood acquired directions."""
    return LikelihoodAcquiredDirections(d).fit(X, y).components_.T
