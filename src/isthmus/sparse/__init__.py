"""Sparse codes: pursuits, learned dictionaries, factorisations, and pictures restored with them.

Atoms are rows, like ``components_``: a signal is ``code @ dictionary``.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
