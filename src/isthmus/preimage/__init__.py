"""Pre-images Γ: from coordinates back to objects.

Every pre-image is fitted on objects and a feature map, then solves for many points at once:
``solve(coordinates)`` returns objects, and ``objective(coordinates, objects)`` says how close their
images are to the points asked for.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
