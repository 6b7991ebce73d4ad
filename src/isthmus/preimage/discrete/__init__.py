"""Pre-images that are sequences or graphs."""
