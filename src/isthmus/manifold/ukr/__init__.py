"""Unsupervised kernel regression."""
