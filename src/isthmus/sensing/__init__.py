"""Γ of a measurement: a sparse signal from far fewer numbers than it has entries.

Measure with :func:`sensing_matrix`, reconstruct with :func:`basis_pursuit`; bases in which signals
are sparse come from :func:`orthonormal_basis`.
"""

from isthmus.sensing._bases import orthonormal_basis
from isthmus.sensing._camera import SinglePixelCamera
from isthmus.sensing._certificate import Certificate
from isthmus.sensing._matrices import sensing_matrix
from isthmus.sensing._pursuit import basis_pursuit
from isthmus.sensing._quality import (
    RestrictedIsometry,
    guaranteed_sparsity,
    mutual_coherence,
    phase_transition,
    recovery_constants,
    restricted_isometry,
)
from isthmus.sensing._sampling import sinc_reconstruct

__all__ = [
    "Certificate",
    "RestrictedIsometry",
    "SinglePixelCamera",
    "basis_pursuit",
    "guaranteed_sparsity",
    "mutual_coherence",
    "orthonormal_basis",
    "phase_transition",
    "recovery_constants",
    "restricted_isometry",
    "sensing_matrix",
    "sinc_reconstruct",
]
