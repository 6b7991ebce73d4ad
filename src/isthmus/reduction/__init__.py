"""Making kernel expansions cheap: few points that do the work of many."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
