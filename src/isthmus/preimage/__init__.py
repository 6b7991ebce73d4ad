"""Γ: coordinates back to things.

Every pre-image is fitted on objects and a feature map, then solves for many points at once:
``solve(coordinates)`` returns objects, ``objective(coordinates, objects)`` says how near
their images are.
"""

from isthmus.preimage._analytic import AnalyticPreimage
from isthmus.preimage._base import BasePreimage
from isthmus.preimage._candidate import CandidatePreimage
from isthmus.preimage._constrained import ConstrainedPreimage
from isthmus.preimage._default import default_preimage
from isthmus.preimage._fixed_point import FixedPointPreimage
from isthmus.preimage._gradient import GradientPreimage
from isthmus.preimage._graph import GraphPreimage
from isthmus.preimage._learned import LearnedPreimage
from isthmus.preimage._neighbor import NeighborPreimage
from isthmus.preimage._sequence import SequencePreimage

__all__ = [
    "AnalyticPreimage",
    "BasePreimage",
    "CandidatePreimage",
    "ConstrainedPreimage",
    "FixedPointPreimage",
    "GradientPreimage",
    "GraphPreimage",
    "LearnedPreimage",
    "NeighborPreimage",
    "SequencePreimage",
    "default_preimage",
]
