"""Supervised reduction by distance correlation."""
