"""Sums over rows, block by block: what is a sum can be computed anywhere and merged."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
