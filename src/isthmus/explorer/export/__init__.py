"""The page in one file: a grid of objects that were computed beforehand, and a short script."""
