"""Losses: how much a residual costs."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
