"""Solvers that no library has in the form we need."""

from isthmus.optimize._batched_lbfgs import SolverResult, minimize_rows

__all__ = ["SolverResult", "minimize_rows"]
