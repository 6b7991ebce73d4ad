"""Smoothers, which predict weighted sums of training outputs, and kernels that weigh neighbours."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
