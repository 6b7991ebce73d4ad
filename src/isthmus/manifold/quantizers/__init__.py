"""A few points that stand for many rows."""
