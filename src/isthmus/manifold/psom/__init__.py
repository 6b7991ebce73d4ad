"""Parametrised self-organising maps."""
