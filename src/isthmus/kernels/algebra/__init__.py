"""Kernels made of kernels, of functions and of matrices."""
