"""Γ: coordinates back to things.

Every pre-image is fitted on objects and a feature map, then solves for many points at once:
``solve(coordinates)`` returns objects, ``objective(coordinates, objects)`` says how near
their images are.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
