"""Numerical care in one place: spectra, centring, signs, ridge paths, Cholesky factors."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
