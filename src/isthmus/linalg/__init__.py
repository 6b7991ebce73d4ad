"""Numerical care in one place: spectra, centring, signs, moments over blocks."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
