"""Sufficient dimension reduction: projections after which the other columns say no more of y."""
