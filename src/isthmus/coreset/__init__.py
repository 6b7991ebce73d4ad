"""Machines on core sets: quadratic programs solved on a few points that represent all others."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
