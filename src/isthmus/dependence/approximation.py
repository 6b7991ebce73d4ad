"""Kernels of low rank in place of their Gram matrices, so that time is linear in the objects."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from isthmus._checks import refusal
from isthmus._parameters import Constraint, check_parameters, integer, seed
from isthmus._piece import Piece
from isthmus.blocks.sampling import sample_rows
from isthmus.kernels.base import Kernel
from isthmus.kernels.landmarks import LandmarkFeatures
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.kernels.vectors.laplacian import Laplacian
from isthmus.typing import Array, IntArray, Objects


class LowRank(Piece):
    """Base: features whose inner products stand for the kernel."""

    random_state: Any

    @abstractmethod
    def landmarks(self, n_objects: int) -> IntArray:
        """Which of the objects the features are made of; none where they are not."""

    @abstractmethod
    def features(self, kernel: Kernel, landmarks: Objects, owner: str) -> Callable[[Any], Array]:
        """The map from objects to features."""


@dataclass
class Nystroem(LowRank):
    """Projections on the span of some of the objects.

    For objects of any kind, and exact where there are as many landmarks as objects. The variance
    outside the span is missed, which makes a measure a little smaller.

    Parameters
    ----------
    n_landmarks : int, default=100
        Drawn at random.
    random_state : int or None, default=0

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.dependence import Nystroem, hsic
    >>> X = np.random.default_rng(0).normal(size=(5000, 2))
    >>> y = X[:, 0] * X[:, 1]
    >>> exact, quick = hsic(X, y), hsic(X, y, approximation=Nystroem(100))
    >>> bool(abs(quick / exact - 1) < 0.05)
    True
    """

    __module__ = "isthmus.dependence"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_landmarks": integer(1),
        "random_state": seed,
    }

    n_landmarks: int = 100
    random_state: Any = 0

    def landmarks(self, n_objects: int) -> IntArray:
        return sample_rows(n_objects, self.n_landmarks, self.random_state)

    def features(self, kernel: Kernel, landmarks: Objects, owner: str) -> Callable[[Any], Array]:
        return LandmarkFeatures(kernel, landmarks, owner=owner)


@dataclass
class RandomFourier(LowRank):
    r"""Cosines and sines of random frequencies, drawn from the spectrum of the kernel.

    :math:`k(x-z)\approx\frac2D\sum_{j\le D/2}\cos w_j^\top(x-z)`, right on average
    [RahimiRecht2007]_, with errors of the order :math:`D^{-1/2}` whatever the dimension. For
    vectors under a Gaussian or a Laplacian kernel.

    Parameters
    ----------
    n_features : int, default=200
        :math:`D`, an even number or one less.
    random_state : int or None, default=0

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.dependence import RandomFourier, hsic
    >>> X = np.random.default_rng(0).normal(size=(5000, 2))
    >>> exact, quick = (hsic(X, X[:, 0], approximation=a) for a in (None, RandomFourier(1000)))
    >>> bool(abs(quick / exact - 1) < 0.1)
    True
    """

    __module__ = "isthmus.dependence"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_features": integer(2),
        "random_state": seed,
    }

    n_features: int = 200
    random_state: Any = 0

    def landmarks(self, n_objects: int) -> IntArray:
        return np.arange(1)  # the number of columns is all that is asked for

    def features(self, kernel: Kernel, landmarks: Objects, owner: str) -> Callable[[Any], Array]:
        if not isinstance(kernel, (Gaussian, Laplacian)):
            raise TypeError(
                f"RandomFourier in {owner} knows the spectra of Gaussian and Laplacian. Got "
                f"{kernel!r}: use Nystroem, which takes any kernel."
            )
        rng = np.random.default_rng(self.random_state)
        shape = (landmarks.shape[1], self.n_features // 2)
        if isinstance(kernel, Gaussian):
            return FourierFeatures(np.sqrt(2 * kernel.gamma) * rng.standard_normal(shape))
        return FourierFeatures(kernel.gamma * rng.standard_cauchy(shape))


@dataclass(frozen=True)
class FourierFeatures:
    """The map itself: frequencies are the columns of ``W``."""

    W: Array

    def __call__(self, X: Array) -> Array:
        phase = np.asarray(X, dtype=np.float64) @ self.W
        return np.hstack([np.cos(phase), np.sin(phase)]) / np.sqrt(self.W.shape[1])


NAMES: dict[str, Callable[[], LowRank]] = {"nystroem": Nystroem, "fourier": RandomFourier}


def as_low_rank(value: Any, owner: str) -> LowRank | None:
    """The piece of a name, None for none, or the piece itself, checked.

    >>> as_low_rank("nystroem", "hsic")
    Nystroem(n_landmarks=100, random_state=0)
    """
    if value is None:
        return None
    if isinstance(value, str) and value in NAMES:
        return NAMES[value]()
    if not isinstance(value, LowRank):
        names = ", ".join(map(repr, NAMES))
        expected = f"None, one of {names}, a Nystroem or a RandomFourier"
        raise ValueError(refusal(owner, "approximation", expected, value))
    check_parameters(value)
    return value
