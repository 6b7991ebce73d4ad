"""Local polynomial regression."""
