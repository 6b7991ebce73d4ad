"""Which pre-image a kernel gets where none is named."""

from isthmus.kernels.base import Kernel
from isthmus.kernels.vectors.dot import Linear
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.preimage.base import BasePreimage
from isthmus.preimage.candidate import CandidatePreimage
from isthmus.preimage.vectors.analytic import AnalyticPreimage
from isthmus.preimage.vectors.fixed_point import FixedPointPreimage
from isthmus.preimage.vectors.learned import LearnedPreimage


def default_preimage(kernel: Kernel | None, *, vectors: bool | None = None) -> BasePreimage:
    """A good pre-image for outputs compared by ``kernel``.

    Exact for a linear kernel; fixed points for a Gaussian one, at or near the lowest error in
    our reproductions; learned for other vectors; candidates for everything else.

    >>> from isthmus.kernels import Delta, Gaussian, Linear
    >>> [default_preimage(k) for k in (Linear(), Gaussian(), Delta())]
    [AnalyticPreimage(), FixedPointPreimage(), CandidatePreimage()]
    """
    if isinstance(kernel, Linear):
        return AnalyticPreimage()
    if isinstance(kernel, Gaussian):
        return FixedPointPreimage()
    if vectors is None:
        vectors = kernel is not None and kernel.vectors
    return LearnedPreimage() if vectors else CandidatePreimage()
