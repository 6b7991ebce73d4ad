"""Local smoothers and the density kernels that weigh neighbours."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
