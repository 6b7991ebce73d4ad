"""What ``isthmus demo`` does."""
