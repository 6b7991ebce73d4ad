"""Compressed sensing: recover a sparse signal from far fewer measurements than it has entries.

Measure with :func:`sensing_matrix`, reconstruct with :func:`basis_pursuit`; bases in which signals
are sparse come from :func:`orthonormal_basis`.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
