"""Kernels on labelled graphs."""
