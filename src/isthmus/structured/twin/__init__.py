"""Twin Gaussian processes."""
