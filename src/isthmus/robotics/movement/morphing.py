"""Blends of movements in space and time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import cdist

from isthmus._checks import check_float, check_int
from isthmus.robotics.movement.primitive import (
    MovementPrimitive,
    as_primitive,
    check_trajectory,
    resample,
)
from isthmus.typing import Array

RESOLUTION = 4  # positions per step of the reference, so that shifts can be fractions of a step


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
    ``max_slope`` [Giese2000]_. The reference is searched in quarter steps.

    Parameters
    ----------
    reference, pattern : array-like of shape (n_steps, ...)
        Trajectories with the same coordinates; their lengths may differ.
    time_weight, slope_weight : float, default=0.01 and 0.0
        The weights :math:`\lambda` and :math:`\mu`.
    max_slope : float, default=2.0
        How many times faster or slower the pattern may run locally, at least 1.

    Returns
    -------
    Correspondence
        Shift and offset at the times of the pattern.

    Examples
    --------
    The same movement in another rhythm differs only in time:

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

    A = check_trajectory(reference, "correspondence")
    B = check_trajectory(pattern, "correspondence")
    if A.shape[1:] != B.shape[1:]:
        raise ValueError(
            "correspondence needs trajectories with the same coordinates. Got "
            f"{A.shape[1:]} and {B.shape[1:]}."
        )
    check_float(max_slope, "max_slope", "correspondence", low=1.0)
    check_float(time_weight, "time_weight", "correspondence")
    check_float(slope_weight, "slope_weight", "correspondence")
    n = len(B)
    n_places = RESOLUTION * (n - 1) + 1
    places, times = np.linspace(0, 1, n_places), np.linspace(0, 1, n)
    dense = resample(A, places)
    flat_A, flat_B = dense.reshape(n_places, -1), B.reshape(n, -1)
    together = np.concatenate([A.reshape(len(A), -1), flat_B])
    variance = together.var(axis=0).sum()
    costs = cdist(flat_B, flat_A, "sqeuclidean") / (variance if variance > 0 else 1.0)
    costs += time_weight * (places[None, :] - times[:, None]) ** 2
    smallest = max(1, int(np.ceil(RESOLUTION / max_slope)))
    moves = np.arange(smallest, int(np.floor(RESOLUTION * max_slope)) + 1)
    path = cheapest_path(costs, slope_weight * (moves / RESOLUTION - 1.0) ** 2, smallest)
    warped = places[path]
    return Correspondence(warped - times, B - resample(A, warped))


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

    Starting points are not matched but blended separately, as are durations. A weight of 1 returns
    that prototype. Weights outside [0, 1] exaggerate what is special about a prototype: a
    caricature. Then :math:`t + \tau` may not increase everywhere, and is replaced by the closest
    function that does.

    Parameters
    ----------
    prototypes : sequence of MovementPrimitive or array-like of shape (n_steps, ...)
        Movements with the same coordinates.
    weights : array-like of shape (n_prototypes,) or (n_morphs, n_prototypes)
        Rows sum to 1.
    reference : int, "mean" or array-like of shape (n_steps, ...), default=0
        Index of the prototype that is the reference; or the mean of all, which treats them
        equally but is blurred if they differ much in time; or a trajectory.
    n_steps : int, default=None
        Number of steps of the morphs. None: that of the longest prototype.
    time_weight, max_slope : float
        As in :func:`correspondence`.

    Returns
    -------
    MovementPrimitive, or a list of them
        One per row of weights.

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
            "morph needs movements with the same coordinates. Got "
            f"{', '.join(str(part.start.shape) for part in parts)}."
        )
    n = max(len(part.shape) for part in parts) if n_steps is None else n_steps
    check_int(n, "n_steps", "morph", low=2)
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
    # Durations are blended by their logarithms, so that extrapolated ones stay positive.
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
                "The 'reference' parameter of morph must be the index of a prototype, 'mean' or a "
                f"trajectory. Got {reference!r} instead."
            )
        mean: Array = np.mean(shapes, axis=0)
        return mean
    if np.ndim(reference) == 0:
        if not 0 <= int(reference) < len(shapes):
            raise ValueError(
                f"The 'reference' parameter of morph must be an int in [0, {len(shapes) - 1}]. "
                f"Got {reference!r} instead."
            )
        return shapes[int(reference)]
    given = resample(check_trajectory(reference, "morph"), times)
    shifted: Array = given - given[0]
    return shifted


def _blend(w: Array, times: Array, base: Array, shifts: Array, offsets: Array) -> Array:
    """The reference at blended times plus blended offsets."""
    warped = times + w @ shifts
    if np.any(np.diff(warped) < 0):
        warped = isotonic_regression(np.clip(warped, 0.0, 1.0)).x
    blended: Array = resample(base, warped) + np.tensordot(w, offsets, axes=1)
    return blended
