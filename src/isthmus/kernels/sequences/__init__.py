"""Kernels on strings and sequences of symbols."""
