"""Nonnegative and convex factorisations."""
