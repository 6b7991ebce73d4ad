"""Regression of limited rank."""
