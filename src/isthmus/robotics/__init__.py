"""A body to move: kinematic chains, movements, and imitation learned from images."""

__all__: list[str] = []
