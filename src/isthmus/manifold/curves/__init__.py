"""Principal curves: one smooth line through the middle of a cloud."""
