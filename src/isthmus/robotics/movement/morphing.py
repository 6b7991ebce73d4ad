"""Blends of movements in space and time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import cdist

from isthmus.robotics.movement.primitive import (
    MovementPrimitive,
    as_primitive,
    checked_trajectory,
    resampled,
)
from isthmus.typing import Array

RESOLUTION = 4  # places of the reference for each of its steps, so that shifts are below a step


@dataclass(frozen=True, eq=False)
class Correspondence:
    r"""How a pattern differs from a reference, :math:`\zeta(t) = \zeta_0(t + \tau(t)) + \xi(t)`.

    Attributes
    ----------
    shift : ndarray of shape (n_steps,)
        :math:`\tau` in units of the whole duration; t + shift rises from 0 to 1.
    offset : ndarray of shape (n_steps, ...)
        :math:`\xi`, in the coordinates of the movement.
    """

    __module__ = "isthmus.robotics"

    shift: Array
    offset: Array


def correspondence(
    reference: Any,
    pattern: Any,
    *,
    time_weight: float = 0.01,
    slope_weight: float = 0.0,
    max_slope: float = 2.0,
) -> Correspondence:
    r"""Match a pattern with a reference in space and time, by dynamic programming.

    With times in [0, 1] and the variance v of reference and pattern together,

    .. math::
        \min_\tau \sum_t \|\zeta(t) - \zeta_0(t + \tau(t))\|^2 / v + \lambda\, \tau(t)^2
        + \mu\, \dot\tau(t)^2,

    where :math:`t + \tau(t)` rises from 0 to 1 with slopes between ``1 / max_slope`` and
    ``max_slope`` [Giese2000]_. The reference is searched at quarters of its steps.

    Parameters
    ----------
    reference, pattern : array-like of shape (n_steps, ...)
        Trajectories with the same coordinates; lengths may differ.
    time_weight, slope_weight : float, default=0.01 and 0.0
        The weights :math:`\lambda` and :math:`\mu`.
    max_slope : float, default=2.0
        How many times faster or slower the pattern may run in places, at least 1.

    Returns
    -------
    Correspondence
        Shift and offset at the times of the pattern.

    Examples
    --------
    The same movement in another rhythm differs in time only:

    >>> import numpy as np
    >>> from isthmus.robotics import correspondence
    >>> t = np.linspace(0, 1, 80)[:, None]
    >>> late = t - 0.06 * np.sin(2 * np.pi * t)
    >>> found = correspondence(np.sin(6 * t), np.sin(6 * late))
    >>> bool(np.abs(found.offset).max() < 0.02)
    True
    >>> bool(np.abs(found.shift - (late - t)[:, 0]).max() < 0.02)
    True
    """
    from isthmus.robotics.movement.morphing_loops import cheapest_path

    A = checked_trajectory(reference, "correspondence")
    B = checked_trajectory(pattern, "correspondence")
    if A.shape[1:] != B.shape[1:]:
        raise ValueError(
            "correspondence needs trajectories of the same coordinates. Got "
            f"{A.shape[1:]} and {B.shape[1:]}."
        )
    if not (np.isfinite(max_slope) and max_slope >= 1):
        raise ValueError(
            "The 'max_slope' argument of correspondence must be a float in [1, inf). "
            f"Got {max_slope!r} instead."
        )
    if min(time_weight, slope_weight) < 0:
        raise ValueError("The weights of correspondence must not be negative.")
    n = len(B)
    n_places = RESOLUTION * (n - 1) + 1
    places, times = np.linspace(0, 1, n_places), np.linspace(0, 1, n)
    dense = resampled(A, places)
    flat_A, flat_B = dense.reshape(n_places, -1), B.reshape(n, -1)
    together = np.concatenate([A.reshape(len(A), -1), flat_B])
    variance = together.var(axis=0).sum()
    costs = cdist(flat_B, flat_A, "sqeuclidean") / (variance if variance > 0 else 1.0)
    costs += time_weight * (places[None, :] - times[:, None]) ** 2
    smallest = max(1, int(np.ceil(RESOLUTION / max_slope)))
    moves = np.arange(smallest, int(np.floor(RESOLUTION * max_slope)) + 1)
    path = cheapest_path(costs, slope_weight * (moves / RESOLUTION - 1.0) ** 2, smallest)
    warped = places[path]
    return Correspondence(warped - times, B - resampled(A, warped))


def morph(
    prototypes: Sequence[Any],
    weights: Any,
    *,
    reference: Any = 0,
    n_steps: int | None = None,
    time_weight: float = 0.01,
    max_slope: float = 2.0,
) -> Any:
    r"""Blend movements: linear combinations in space and in time at once.

    Every prototype is brought into correspondence with a reference; then

    .. math::
        \zeta(t) = \zeta_0\bigl(t + \textstyle\sum_p w_p \tau_p(t)\bigr) + \sum_p w_p \xi_p(t),
        \qquad \sum_p w_p = 1.

    Starting points do not take part in the matching and are blended by themselves, as are
    durations. A weight of 1 gives that prototype back. Weights outside [0, 1] exaggerate what is
    special about a prototype: a caricature. Then :math:`t + \tau` may cease to rise, and is
    replaced by the nearest that does.

    Parameters
    ----------
    prototypes : sequence of MovementPrimitive or array-like of shape (n_steps, ...)
        Movements with the same coordinates.
    weights : array-like of shape (n_prototypes,) or (n_morphs, n_prototypes)
        Rows sum to 1.
    reference : int, "mean" or array-like of shape (n_steps, ...), default=0
        Number of the prototype that is the reference; or the mean of all, which treats them
        alike but is blurred if they differ much in time; or a trajectory.
    n_steps : int, default=None
        Steps of the morphs. None: those of the longest prototype.
    time_weight, max_slope : float
        As in :func:`correspondence`.

    Returns
    -------
    MovementPrimitive, or a list of them
        One for each row of weights.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.robotics import morph
    >>> t = np.linspace(0, np.pi, 40)
    >>> low, high = np.c_[t, np.sin(t)], np.c_[t, 3 * np.sin(t)]
    >>> morph([low, high], [0.5, 0.5]).trajectory()[:, 1].max().round(2)
    np.float64(2.0)
    >>> morph([low, high], [-0.5, 1.5]).trajectory()[:, 1].max().round(2)  # a caricature
    np.float64(4.0)
    """
    parts = [as_primitive(p) for p in prototypes]
    W = np.asarray(weights, dtype=float)
    if not parts or W.ndim not in (1, 2) or W.shape[-1] != len(parts):
        raise ValueError(
            f"morph needs one weight for each of the {len(parts)} prototypes. "
            f"Got weights of shape {W.shape}."
        )
    if not np.isfinite(W).all() or not np.allclose(W.sum(axis=-1), 1.0, atol=1e-8):
        raise ValueError(f"The 'weights' of morph must sum to 1. Got {weights!r}.")
    if len({part.start.shape for part in parts}) > 1:
        raise ValueError(
            "morph needs movements of the same coordinates. Got "
            f"{', '.join(str(part.start.shape) for part in parts)}."
        )
    n = max(len(part.shape) for part in parts) if n_steps is None else n_steps
    if n < 2:
        raise ValueError(f"The 'n_steps' argument of morph must be at least 2. Got {n}.")
    times = np.linspace(0, 1, n)
    whole = [part.trajectory(n) for part in parts]
    starts = np.stack([part.start for part in parts])
    shapes = [points - points[0] for points in whole]
    base = _reference_shape(reference, shapes, times)
    found = [
        correspondence(base, shape, time_weight=time_weight, max_slope=max_slope)
        for shape in shapes
    ]
    shifts = np.stack([c.shift for c in found])
    offsets = np.stack([c.offset for c in found])
    # Durations blend by their logarithms: an extrapolated one stays positive.
    tempos = np.log([part.duration for part in parts])
    morphs = [
        MovementPrimitive.from_trajectory(
            _blend(w, times, base, shifts, offsets) + np.tensordot(w, starts, axes=1),
            duration=float(np.exp(w @ tempos)),
        )
        for w in np.atleast_2d(W)
    ]
    return morphs[0] if W.ndim == 1 else morphs


def _reference_shape(reference: Any, shapes: list[Array], times: Array) -> Array:
    if isinstance(reference, str):
        if reference != "mean":
            raise ValueError(
                "The 'reference' argument of morph must be a number of a prototype, 'mean' or a "
                f"trajectory. Got {reference!r} instead."
            )
        mean: Array = np.mean(shapes, axis=0)
        return mean
    if np.ndim(reference) == 0:
        if not 0 <= int(reference) < len(shapes):
            raise ValueError(
                f"The 'reference' argument of morph must be an int in [0, {len(shapes) - 1}]. "
                f"Got {reference!r} instead."
            )
        return shapes[int(reference)]
    given = resampled(checked_trajectory(reference, "morph"), times)
    begun: Array = given - given[0]
    return begun


def _blend(w: Array, times: Array, base: Array, shifts: Array, offsets: Array) -> Array:
    """The reference at blended times plus blended offsets."""
    warped = times + w @ shifts
    if np.any(np.diff(warped) < 0):
        warped = isotonic_regression(np.clip(warped, 0.0, 1.0)).x
    blended: Array = resampled(base, warped) + np.tensordot(w, offsets, axes=1)
    return blended
