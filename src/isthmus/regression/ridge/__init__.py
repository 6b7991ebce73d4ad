"""Ridge regression: kernel, Bayesian, shrunken."""
