"""Machines on core sets: quadratic programs solved on few points that stand for all."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
