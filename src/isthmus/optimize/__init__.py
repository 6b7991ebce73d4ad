"""Solvers and geometry that no library has in the form we need."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
