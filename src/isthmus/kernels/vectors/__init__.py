"""Kernels on rows of numbers."""
