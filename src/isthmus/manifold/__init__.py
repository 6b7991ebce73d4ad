"""Manifolds with both directions: coordinates for objects, and objects for coordinates."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
