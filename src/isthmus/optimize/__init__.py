"""Solvers and geometry that other libraries do not offer in this form."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
