r"""The functions that make up a sheet: a kernel at nodes, a constant and a plane."""

from dataclasses import dataclass

import numpy as np

from isthmus.kernels.base import Kernel
from isthmus.linalg.products import product
from isthmus.manifold.domain import Domain
from isthmus.manifold.latent_map import MapValues
from isthmus.typing import Array

# Points of the box, about, over which the squared slopes of a sheet are averaged.
N_QUADRATURE = 2000


@dataclass(frozen=True, eq=False)
class NodeBasis:
    """Functions of latent points: a kernel at ``nodes`` (m, q), a constant, perhaps a plane."""

    kernel: Kernel
    nodes: Array
    linear: bool

    @property
    def free(self) -> int:
        """Number of functions beside the kernel: the last ones."""
        return 1 + (self.nodes.shape[1] if self.linear else 0)

    @property
    def size(self) -> int:
        """Number of functions."""
        return len(self.nodes) + self.free

    def __call__(self, Z: Array) -> Array:
        """Values at latent points, (n, size)."""
        parts = [self.kernel.gram(Z, self.nodes), np.ones((len(Z), 1))]
        return np.hstack([*parts, Z] if self.linear else parts)

    def slopes(self, Z: Array, K: Array) -> list[Array]:
        """Derivatives (n, m) of the kernel's values ``K`` along each latent axis."""
        if "radial" in self.kernel.provides:
            S = 2 * self.kernel.radial_weights(Z, self.nodes, K)
            return [S * (self.nodes[:, a] - Z[:, a, None]) for a in range(Z.shape[1])]
        return list(np.moveaxis(self.kernel.gradient(Z, self.nodes), 2, 0))

    def combine(self, Z: Array, W: Array, jacobian: bool) -> tuple[Array, Array | None]:
        """Values (n, d) of the sheet with weights ``W`` (size, d), and slopes (n, d, q)."""
        B = self(Z)
        values = product(B, W)
        if not jacobian:
            return values, None
        m = len(self.nodes)
        found = np.empty((len(Z), W.shape[1], Z.shape[1]))
        for axis, S in enumerate(self.slopes(Z, B[:, :m])):
            found[:, :, axis] = product(S, W[:m])
            if self.linear:
                found[:, :, axis] += W[m + 1 + axis]
        return values, found

    def kernel_penalty(self) -> Array:
        r"""The matrix P of :math:`\|f\|_k^2=\operatorname{tr}W^\top PW`: the kernel at nodes."""
        P = np.zeros((self.size, self.size))
        m = len(self.nodes)
        P[:m, :m] = self.kernel.gram(self.nodes, self.nodes)
        return P

    def length_penalty(self) -> Array:
        r"""The matrix P of :math:`\operatorname{tr}W^\top PW`, the mean of squared slopes.

        It is the mean of :math:`\|\partial f/\partial x\|_F^2` over the box, for curves the
        squared length as long as they run at an even speed.
        """
        m, q = self.nodes.shape
        places = Domain(-1.0, 1.0).lattice(q, N_QUADRATURE)
        slopes = self.slopes(places, self.kernel.gram(places, self.nodes))
        P = np.zeros((self.size, self.size))
        for axis in range(q):
            G = np.zeros((len(places), self.size))
            G[:, :m] = slopes[axis]
            if self.linear:
                G[:, m + 1 + axis] = 1.0
            P += product(G.T, G) / len(places)
        return P


@dataclass(frozen=True, eq=False)
class Sheet:
    """A basis with weights, and latent points from which searches start."""

    basis: NodeBasis
    weights: Array
    places: Array
    images: Array

    domain = Domain(-1.0, 1.0)

    def evaluate(self, Z: Array, jacobian: bool = False) -> MapValues:
        """Values, and Jacobians if asked for, at latent points of the box."""
        values, slopes = self.basis.combine(Z, self.weights, jacobian)
        return MapValues(values, slopes, np.ones(len(Z), dtype=bool))

    def starts(self) -> tuple[Array, Array]:
        """The places from which searches start, and their images."""
        return self.places, self.images


def make_sheet(basis: NodeBasis, W: Array, places: Array) -> Sheet:
    """A sheet that is searched from some latent points."""
    return Sheet(basis, W, places, basis.combine(places, W, jacobian=False)[0])
