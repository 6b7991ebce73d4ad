"""Generative topographic mapping."""
