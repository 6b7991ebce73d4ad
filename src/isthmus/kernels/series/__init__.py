"""Kernels on time series."""
