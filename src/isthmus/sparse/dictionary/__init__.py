"""Dictionaries learned from signals."""
