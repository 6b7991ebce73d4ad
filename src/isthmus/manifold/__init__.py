"""Manifolds with both directions: coordinates of things, and things from coordinates."""

__all__: list[str] = []
