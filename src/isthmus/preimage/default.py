"""The pre-image that is used if none is named."""

from typing import Any

from isthmus.preimage.base import BasePreimage
from isthmus.preimage.candidate import CandidatePreimage
from isthmus.preimage.vectors.analytic import AnalyticPreimage
from isthmus.preimage.vectors.fixed_point import FixedPointPreimage
from isthmus.preimage.vectors.learned import LearnedPreimage
from isthmus.typing import provides


def default_preimage(part: Any, *, vectors: bool | None = None) -> BasePreimage:
    """A good pre-image for a kernel or a feature map, by what it provides.

    Exact for a linear kernel; fixed points for a Gaussian one, with the lowest error, or close to
    it, in our reproductions; learned for other vectors; candidates for everything else.

    >>> from isthmus.kernels import Delta, Gaussian, Linear
    >>> [type(default_preimage(k)).__name__ for k in (Linear(), Gaussian(), Delta())]
    ['AnalyticPreimage', 'FixedPointPreimage', 'CandidatePreimage']
    """
    words = frozenset() if part is None else provides(part)
    if "linear" in words:
        return AnalyticPreimage()
    if {"radial", "distances"} <= words:
        return FixedPointPreimage()
    if vectors is None:
        vectors = "vectors" in words
    return LearnedPreimage() if vectors else CandidatePreimage()
