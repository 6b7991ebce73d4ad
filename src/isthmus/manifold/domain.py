"""Where latent points may lie: a box, some of whose coordinates may be periodic."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.typing import Array, BoolArray


@dataclass(frozen=True, eq=False)
class Domain:
    """A box in latent space; by default all of it.

    Other limits of a map, such as the region where training data are dense, are given by the
    ``feasible`` flags of its values; see :meth:`BaseLatentMap.evaluate`.

    Parameters
    ----------
    low, high : float or array-like of shape (n_components,)
        Ends of the box, by default infinite.
    periodic : bool or array-like of bool of shape (n_components,), default=False
        Coordinates for which ``low`` and ``high`` are the same place, such as angles.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.manifold import Domain
    >>> angles = Domain(0.0, 360.0, periodic=True)
    >>> angles.wrap(np.array([[370.0], [-10.0]])).ravel()
    array([ 10., 350.])
    >>> Domain(-1.0, 1.0).clip(np.array([[0.5, 7.0]]))
    array([[0.5, 1. ]])
    >>> Domain(-1.0, 1.0).contains(np.array([[0.5, 7.0], [0.5, 0.7]]))
    array([False,  True])
    """

    __module__ = "isthmus.manifold"

    low: Any = -np.inf
    high: Any = np.inf
    periodic: Any = False

    def __post_init__(self) -> None:
        low, high = np.asarray(self.low, dtype=float), np.asarray(self.high, dtype=float)
        if not np.all(low < high):
            raise ValueError(f"A Domain needs low < high. Got low={self.low}, high={self.high}.")
        if np.any(np.asarray(self.periodic) & ~np.isfinite(high - low)):
            raise ValueError(
                "A periodic coordinate of a Domain needs finite ends, whose distance is the period."
            )

    def contains(self, Z: Array) -> BoolArray:
        """Return which rows of ``Z`` lie in the box, shape (n,); a period has no outside."""
        return np.asarray(((self.low <= Z) & (self.high >= Z) | self.periodic).all(axis=1))

    def clip(self, Z: Array) -> Array:
        """Return the points of the box nearest to the rows of ``Z``."""
        return np.where(self.periodic, Z, np.clip(Z, self.low, self.high))

    def wrap(self, Z: Array) -> Array:
        """Return ``Z`` with periodic coordinates brought between ``low`` and ``high``."""
        if not np.any(self.periodic):
            return Z
        low, period = self._period()
        return np.where(self.periodic, low + np.mod(Z - low, period), Z)

    def difference(self, Z: Array, other: Array) -> Array:
        """Return ``Z - other``, the short way round in periodic coordinates."""
        step = Z - other
        if not np.any(self.periodic):
            return step
        _, period = self._period()
        return np.where(self.periodic, step - period * np.round(step / period), step)

    def bounds(self) -> tuple[Array, Array]:
        """Return the ends that a search must not cross: none where a coordinate is periodic."""
        return np.where(self.periodic, -np.inf, self.low), np.where(
            self.periodic, np.inf, self.high
        )

    def periods(self, n_components: int) -> Array:
        """Return the lengths of the periods, (n_components,), zero where there is none."""
        length = np.where(self.periodic, self._period()[1], 0.0)
        return np.array(np.broadcast_to(length, (n_components,)))

    def lattice(self, n_components: int, n_points: int) -> Array:
        """Return about ``n_points`` regular points of a finite box, (n, n_components)."""
        q = n_components
        low, high = np.broadcast_to(self.low, (q,)), np.broadcast_to(self.high, (q,))
        periodic = np.broadcast_to(self.periodic, (q,))
        n = max(2, round(n_points ** (1.0 / q)))
        axes = [
            np.linspace(a, b, n, endpoint=not around)
            for a, b, around in zip(low, high, periodic, strict=True)
        ]
        return np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)

    def _period(self) -> tuple[Array, Array]:
        """Lower end and length of every period, harmless numbers where there is none."""
        low = np.where(self.periodic, self.low, 0.0)
        return low, np.where(self.periodic, np.asarray(self.high) - low, 1.0)
