"""Losses of objects: what a person names, and how the best answer for it is found."""
