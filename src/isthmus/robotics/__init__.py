"""Robot arms: kinematic chains, movements, and imitation learned from images."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
