"""Numerical care in one place: spectra, centring, signs, moments over blocks."""

from isthmus.linalg._blocks import block_slices
from isthmus.linalg._centering import center_gram
from isthmus.linalg._moments import Moments, map_block, merge
from isthmus.linalg._ridge import RidgePath, solve_positive
from isthmus.linalg._signs import fix_signs
from isthmus.linalg._spectrum import inverse_root, leading_eigenpairs, positive_part

__all__ = [
    "Moments",
    "RidgePath",
    "block_slices",
    "center_gram",
    "fix_signs",
    "inverse_root",
    "leading_eigenpairs",
    "map_block",
    "merge",
    "positive_part",
    "solve_positive",
]
