"""Regularised principal manifolds."""
