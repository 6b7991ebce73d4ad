r"""Basis functions over a latent box: Gaussians at the points of a lattice, a plane beside them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from isthmus._parameters import Constraint, boolean, choice, integer, none, real, several
from isthmus._piece import Piece
from isthmus.typing import Array

# Basis functions in all, about, where their number on an axis is not given.
N_CENTRES = 64
# Widths that are tried, in units of the distance between neighbouring centres.
WIDTHS = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8)


@dataclass
class GaussianBasis(Piece):
    r"""Gaussians :math:`\exp(-\|x-c_m\|^2/2\sigma^2)` at the points of a lattice.

    Parameters
    ----------
    n_centres : int, tuple of int or None, default=None
        Number of centres on each latent axis. None takes 20 on one axis and about 64 in all on
        several. As many as affordable: the prior on the weights limits the map.
    width : float or "evidence", default="evidence"
        :math:`\sigma` in units of the distance between neighbouring centres. "evidence" takes
        the one of 0.5, 0.7, 1, 1.4, 2 and 2.8 under which the data are most probable.
    linear : bool, default=True
        Whether there is a plane beside the Gaussians, on which no prior lies, so that the map
        tends to the principal plane, and not to a point, where the prior is strong. The
        published model has the constant alone.

    Examples
    --------
    >>> from isthmus.manifold import GaussianBasis, GenerativeTopographicMapping
    >>> published = GenerativeTopographicMapping(2, basis=GaussianBasis(4, width=1.0, linear=False))
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_centres": integer(1) | several(integer(1)) | none,
        "width": real(0, include_low=False) | choice("evidence"),
        "linear": boolean,
    }

    n_centres: Any = None
    width: Any = "evidence"
    linear: bool = True


@dataclass(frozen=True, eq=False)
class Basis:
    """Functions of latent points: Gaussians at ``centres`` (m, q), a constant, perhaps a plane."""

    centres: Array
    widths: Array  # one for each latent axis
    linear: bool

    @cached_property
    def free(self) -> int:
        """Number of functions on whose weights no prior lies: the last ones."""
        return 1 + (self.centres.shape[1] if self.linear else 0)

    @property
    def size(self) -> int:
        return len(self.centres) + self.free

    def __call__(self, Z: Array) -> Array:
        """Values at latent points, (n, size)."""
        scaled, centres = Z / self.widths, self.centres / self.widths
        squares = (
            (scaled**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2 * scaled @ centres.T
        )
        parts = [np.exp(-0.5 * np.maximum(squares, 0.0)), np.ones((len(Z), 1))]
        return np.hstack([*parts, Z] if self.linear else parts)

    def combine(self, Z: Array, W: Array, jacobian: bool) -> tuple[Array, Array | None]:
        """Values (n, d) of the map with weights ``W`` (size, d), and slopes (n, d, q)."""
        B = self(Z)
        if not jacobian:
            return B @ W, None
        m, q = self.centres.shape
        slopes = np.empty((len(Z), W.shape[1], q))
        for axis in range(q):
            gaps = (self.centres[:, axis] - Z[:, axis, None]) / self.widths[axis] ** 2
            slopes[:, :, axis] = (B[:, :m] * gaps) @ W[:m]
            if self.linear:
                slopes[:, :, axis] += W[m + 1 + axis]
        return B @ W, slopes


def lattice(counts: tuple[int, ...]) -> Array:
    """Regular points of the box [-1, 1]^q, the last axis fastest; one point lies in the middle."""
    axes = [np.linspace(-1.0, 1.0, n) if n > 1 else np.zeros(1) for n in counts]
    return np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)


def spacing(counts: tuple[int, ...]) -> Array:
    """Distance of neighbouring points of a lattice on each axis."""
    return np.array([2.0 / (n - 1) if n > 1 else 2.0 for n in counts])


def make_basis(counts: tuple[int, ...], width: float, linear: bool) -> Basis:
    """Gaussians on a lattice; ``width`` is in units of its spacing."""
    return Basis(lattice(counts), width * spacing(counts), bool(linear))


def counts_on_axes(given: Any, q: int, total: int, single: int) -> tuple[int, ...]:
    """Points on each of ``q`` axes: as given, or about ``total`` in all (``single`` on one)."""
    if given is None:
        given = single if q == 1 else max(2, round(total ** (1.0 / q)))
    return (int(given),) * q if np.ndim(given) == 0 else tuple(int(n) for n in given)
