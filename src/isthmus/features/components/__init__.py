"""Directions of large and small variance: whitening, and components of streams."""
