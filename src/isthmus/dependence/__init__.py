"""How strongly two spaces depend on each other: measures and tests.

All of them take paired collections of objects (``mmd`` and ``two_sample_test`` two samples), work
with any kernel or with distances, and are zero only under independence where kernel or exponent
allow it.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
