"""Slow feature analysis."""
