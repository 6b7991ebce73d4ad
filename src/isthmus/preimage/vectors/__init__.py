"""Pre-images that are vectors."""
