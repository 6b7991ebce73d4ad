"""Solvers and geometry that no library has in the form we need."""

from isthmus.optimize._batched_lbfgs import SolverResult, minimize_rows
from isthmus.optimize._least_squares_rows import LeastSquaresRows, least_squares_rows
from isthmus.optimize._riemannian import (
    FixedRank,
    FixedRankResult,
    Slope,
    minimize_fixed_rank,
    riemannian_gradient,
)
from isthmus.optimize._stiefel_geometry import (
    canonical_gradient,
    geodesic,
    geodesic_flow,
    haar_sample,
    polar_retraction,
    qr_retraction,
    tangent_projection,
)

__all__ = [
    "FixedRank",
    "FixedRankResult",
    "LeastSquaresRows",
    "Slope",
    "SolverResult",
    "canonical_gradient",
    "geodesic",
    "geodesic_flow",
    "haar_sample",
    "least_squares_rows",
    "minimize_fixed_rank",
    "minimize_rows",
    "polar_retraction",
    "qr_retraction",
    "riemannian_gradient",
    "tangent_projection",
]
