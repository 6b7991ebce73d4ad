"""Similarity of things: one kernel system for every type of object.

A kernel is a callable piece: ``k(X, Z=None)`` is the Gram matrix, ``k.diag(X)`` its
diagonal, ``k.blocks(X, Z)`` the same row block by row block. Kernels add and multiply.
What type of object is compared is the kernel's business and nobody else's.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
