"""A camera with one light sensor: random mirrors in front, sparse reconstruction behind."""

from dataclasses import dataclass
from math import prod
from numbers import Integral
from typing import Any

import numpy as np

from isthmus._checks import check_choice, check_int, check_seed, refusal
from isthmus._piece import Piece
from isthmus.sensing.bases import BASES, orthonormal_basis
from isthmus.sensing.certificate import RecoveryCertificate
from isthmus.sensing.matrices import sensing_matrix
from isthmus.sensing.pursuit import basis_pursuit
from isthmus.typing import Array


@dataclass(kw_only=True)
class SinglePixelCamera(Piece):
    r"""Take a picture of ``shape`` with far fewer exposures than it has pixels [Duarte2008]_.

    An array of mirrors sends a random half of the pixels to one light sensor, which measures the
    sum :math:`y_i=\langle p_i,\text{image}\rangle`, :math:`p_i\in\{0,1\}^n`. One exposure with
    all mirrors on, :math:`y_0`, turns them into :math:`2y_i-y_0`, measurements by signs
    :math:`\pm1`, from which :func:`basis_pursuit` finds the sparsest coefficients in ``basis``.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns of the picture; for ``"hadamard"`` powers of two.
    n_exposures : int
        Number of patterns besides the one with all mirrors on; four to six for each coefficient
        that matters.
    patterns : {"hadamard", "bernoulli"}, default="hadamard"
        Rows of a Walsh basis with randomly exchanged signs, whose fast transform serves pictures
        of any size, or independent coins, which are kept as a matrix.
    basis : str, default="haar"
        The basis in which pictures are sparse, as in :func:`orthonormal_basis`.
    random_state : int, default=0
        Camera and decoder must know it: the patterns come from it alone.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sensing import SinglePixelCamera
    >>> scene = np.zeros((32, 32))
    >>> scene[8:24, 12:20] = 1.0
    >>> camera = SinglePixelCamera(shape=(32, 32), n_exposures=200)
    >>> exposures = camera.measure(scene)
    >>> exposures.shape
    (201,)
    >>> bool(np.allclose(camera.reconstruct(exposures), scene))
    True
    """

    __module__ = "isthmus.sensing"

    shape: tuple[int, int]
    n_exposures: int
    patterns: str = "hadamard"
    basis: str = "haar"
    random_state: int = 0

    def _check_parameters(self) -> None:
        shape = self.shape
        sides = list(shape) if isinstance(shape, (tuple, list, np.ndarray)) else []
        whole = all(isinstance(n, Integral) and not isinstance(n, bool) for n in sides)
        if len(sides) != 2 or not whole or min(sides) < 1:
            raise ValueError(refusal(self, "shape", "two ints in [1, inf)", shape))
        check_int(self.n_exposures, "n_exposures", self, low=1)
        check_choice(self.patterns, "patterns", self, ("hadamard", "bernoulli"))
        check_choice(self.basis, "basis", self, BASES)
        check_seed(self.random_state, "random_state", self)

    def _signs(self) -> Any:
        """Rows of signs, divided by the root of their number."""
        self._check_parameters()
        return sensing_matrix(
            self.patterns,
            self.n_exposures,
            prod(self.shape),
            random_state=self.random_state,
            scramble=self.patterns == "hadamard",
        )

    def pattern(self, i: int) -> Array:
        """Return the mirrors of exposure ``i`` (0 for all on) as an image of zeros and ones."""
        self._check_parameters()
        if not 0 <= i <= self.n_exposures:
            raise ValueError(f"There are exposures 0 to {self.n_exposures}. Got {i}.")
        if i == 0:
            return np.ones(self.shape)
        only = np.zeros(self.n_exposures)
        only[i - 1] = 1
        row = self._signs().T @ only
        return ((np.sign(row) + 1) / 2).reshape(self.shape)

    def measure(self, image: Any, *, sigma: float = 0.0, random_state: Any = None) -> Array:
        """Return what the sensor reads: all mirrors on, then one value per pattern.

        ``sigma`` is the standard deviation of the noise that is added to each reading.
        """
        self._check_parameters()
        pixels = np.asarray(image, dtype=np.float64)
        if pixels.shape != tuple(self.shape):
            raise ValueError(
                f"SinglePixelCamera sees images of shape {tuple(self.shape)}. Got {pixels.shape}."
            )
        total = pixels.sum()
        signed = np.sqrt(self.n_exposures) * (self._signs() @ pixels.ravel())
        readings = np.concatenate([[total], (signed + total) / 2])
        if sigma:
            readings += sigma * np.random.default_rng(random_state).normal(size=len(readings))
        return readings

    def reconstruct(
        self,
        exposures: Any,
        *,
        sigma: float = 0.0,
        basis: str | None = None,
        return_certificate: bool = False,
        verbose: int = 0,
    ) -> Array | tuple[Array, RecoveryCertificate]:
        """Return the picture.

        Parameters
        ----------
        exposures : array of shape (n_exposures + 1,)
        sigma : float, default=0.0
            Standard deviation of the noise of one reading.
        basis : str, optional
            A basis other than that of the camera: the readings do not depend on it.
        return_certificate : bool, default=False
        verbose : int
        """
        self._check_parameters()
        y = np.asarray(exposures, dtype=np.float64)
        if y.shape != (self.n_exposures + 1,):
            raise ValueError(
                f"SinglePixelCamera needs {self.n_exposures + 1} readings, the first with all "
                f"mirrors on. Got shape {y.shape}."
            )
        m = self.n_exposures
        D = orthonormal_basis(self.basis if basis is None else basis, tuple(self.shape))
        signed = (2 * y[1:] - y[0]) / np.sqrt(m)
        # 2 y_i - y_0 has five times the variance of a reading; two deviations of the norm to spare.
        slack = np.sqrt(5) * sigma * (1 + 2 / np.sqrt(2 * m))
        solver = "first-order" if self.patterns == "hadamard" else "auto"
        if self.patterns == "hadamard":
            A = self._signs() @ D
        else:
            A = (D.T @ self._signs().T).T
        found, certificate = basis_pursuit(
            A, signed, noise=slack, solver=solver, return_certificate=True, verbose=verbose
        )
        image = np.asarray(D @ found).reshape(self.shape)
        return (image, certificate) if return_certificate else image
