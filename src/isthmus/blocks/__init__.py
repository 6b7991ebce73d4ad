"""Sums over rows, computed block by block, in memory, from files or on a cluster, and merged."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
