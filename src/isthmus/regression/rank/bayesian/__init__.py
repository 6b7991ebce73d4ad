"""Bayesian regression of limited rank."""
