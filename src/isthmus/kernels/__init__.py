"""Kernels: how similar two objects are, for vectors, labels, words, series and graphs.

A kernel is a callable piece: ``k(X, Z=None)`` is the Gram matrix, ``k.diag(X)`` its
diagonal, ``k.blocks(X, Z)`` the same row block by row block. Kernels add and multiply.
Only the kernel knows the type of the objects; nothing else in the library depends on it.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
