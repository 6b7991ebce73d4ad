"""K-SVD."""
