"""Noisy curves and surfaces with known shape, and the distance of points to that shape."""

from functools import cache

import numpy as np
from scipy.spatial import cKDTree
from sklearn.utils import check_random_state

RADIUS = 10.0  # of the half circle and of the fish bowl
RIM = -0.7  # cosine of the angle at which the fish bowl is open
ROLL = (1.5 * np.pi, 4.5 * np.pi)
N_CURVE = 20_000


def make_noisy_spiral(
    n_samples=300, *, noise=0.1, law="uniform", spacing="regular", random_state=None
):
    r"""Two windings of a spiral in the plane, with noise in both coordinates.

    :math:`y = (t + 0.2)\,(\sin 4\pi t, \cos 4\pi t) + \varepsilon` with t in [0, 1], the radius
    growing from 0.2 to 1.2 [Klanke2007]_.

    Parameters
    ----------
    n_samples : int, default=300
        Number of points.
    noise : float, default=0.1
        Half the width of uniform noise, the standard deviation of the other laws.
    law : {"uniform", "gaussian", "laplacian"}, default="uniform"
        Law of the noise.
    spacing : {"regular", "random", "arc"}, default="regular"
        Whether t is equidistant, drawn from the uniform law, or drawn so that the points are
        spread evenly over the length of the curve.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    Y : ndarray of shape (n_samples, 2)
    t : ndarray of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.datasets import distance_to_manifold, make_noisy_spiral
    >>> Y, t = make_noisy_spiral(50, noise=0.0)
    >>> bool(distance_to_manifold(Y, "spiral").max() < 1e-6)
    True
    """
    rng = check_random_state(random_state)
    if spacing == "arc":
        t = _even_along("spiral", rng.uniform(size=n_samples))
    else:
        t = _parameter(n_samples, spacing, rng)
    Y = _spiral(t)
    return Y + _noise(law, noise, Y.shape, rng), t


def make_half_circle(
    n_samples=100, *, noise=0.25, law="gaussian", n_outliers=0, spacing="regular", random_state=None
):
    r"""Half a circle of radius 10, with noise in both coordinates.

    :math:`y = 10\,(\cos a, \sin a) + \varepsilon` with a in [0, π] [Klanke2007]_.

    Parameters
    ----------
    n_samples : int, default=100
        Number of points.
    noise : float, default=0.25
        Half the width of uniform noise, the standard deviation of the other laws.
    law : {"gaussian", "laplacian", "uniform"}, default="gaussian"
        Law of the noise.
    n_outliers : int, default=0
        Number of points, drawn at random, that are multiplied by a number
        between 0.5 and 1.5 before the noise is added.
    spacing : {"regular", "random"}, default="regular"
        Whether the angles are equidistant or drawn from the uniform law.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    Y : ndarray of shape (n_samples, 2)
    angle : ndarray of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.datasets import make_half_circle
    >>> Y, angle = make_half_circle(noise=0.0)
    >>> bool(np.allclose(np.linalg.norm(Y, axis=1), 10))
    True
    """
    rng = check_random_state(random_state)
    angle = np.pi * _parameter(n_samples, spacing, rng)
    Y = RADIUS * np.column_stack([np.cos(angle), np.sin(angle)])
    if n_outliers:
        far = rng.permutation(n_samples)[:n_outliers]
        Y[far] *= rng.uniform(0.5, 1.5, size=(len(far), 1))
    return Y + _noise(law, noise, Y.shape, rng), angle


def make_s_triangle(n_samples=1000, *, noise=0.1, random_state=None):
    r"""A triangle bent into an S in space: its corners show whether a map is faithful.

    With :math:`t_1 = \sqrt{u_1}`, :math:`t_2 = t_1(2u_2 - 1)` and u uniform on [0, 1],
    :math:`y = (\sin(-1.5\pi(2t_1 - 1)),\ 2t_2,\ 2\sin(2.3(2t_1 - 1))) + \varepsilon`
    [Klanke2007]_.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    noise : float, default=0.1
        Standard deviation of Gaussian noise in every coordinate.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    Y : ndarray of shape (n_samples, 3)
    T : ndarray of shape (n_samples, 2)
        The places in the flat triangle.

    Examples
    --------
    >>> from isthmus.datasets import make_s_triangle
    >>> Y, T = make_s_triangle(20, random_state=0)
    >>> Y.shape, T.shape, bool((abs(T[:, 1]) <= T[:, 0]).all())
    ((20, 3), (20, 2), True)
    """
    rng = check_random_state(random_state)
    first = np.sqrt(rng.uniform(size=n_samples))
    second = first * rng.uniform(-1, 1, size=n_samples)
    side = 2 * first - 1
    Y = np.column_stack([np.sin(-1.5 * np.pi * side), 2 * second, 2 * np.sin(2.3 * side)])
    return Y + noise * rng.normal(size=Y.shape), np.column_stack([first, second])


def make_fish_bowl(n_samples=1000, *, noise=0.1, random_state=None):
    r"""A sphere of radius 10 without its bottom.

    :math:`y = 10\,(\sqrt{1-c^2}\cos\varphi, \sqrt{1-c^2}\sin\varphi, c) + \varepsilon`
    with c uniform on [-0.7, 1] and φ on [0, 2π], so that the points are spread evenly over
    the sphere [Klanke2007]_.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    noise : float, default=0.1
        Standard deviation of Gaussian noise in every coordinate.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    Y : ndarray of shape (n_samples, 3)
    places : ndarray of shape (n_samples, 2)
        c and φ.

    Examples
    --------
    >>> from isthmus.datasets import distance_to_manifold, make_fish_bowl
    >>> Y, places = make_fish_bowl(100, noise=0.0, random_state=0)
    >>> bool(distance_to_manifold(Y, "fish_bowl").max() < 1e-9)
    True
    """
    rng = check_random_state(random_state)
    height = rng.uniform(RIM, 1.0, size=n_samples)
    angle = rng.uniform(0, 2 * np.pi, size=n_samples)
    around = np.sqrt(1 - height**2)
    Y = RADIUS * np.column_stack([around * np.cos(angle), around * np.sin(angle), height])
    return Y + noise * rng.normal(size=Y.shape), np.column_stack([height, angle])


def make_noisy_swiss_roll(
    n_samples=1000, *, noise=0.5, law="gaussian", height=30.0, random_state=None
):
    r"""A rolled-up sheet in space, :math:`y = (t\cos t,\ h,\ t\sin t) + \varepsilon`.

    t is uniform on [1.5π, 4.5π] and h on [0, ``height``]. Unlike
    :func:`sklearn.datasets.make_swiss_roll` it offers a choice of noise and height, and
    :func:`distance_to_manifold` knows its shape.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    noise : float, default=0.5
        Half the width of uniform noise, the standard deviation of the other laws.
    law : {"gaussian", "laplacian", "uniform"}, default="gaussian"
        Law of the noise.
    height : float, default=30
        Width of the sheet.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    Y : ndarray of shape (n_samples, 3)
    places : ndarray of shape (n_samples, 2)
        t and h.

    Examples
    --------
    >>> from isthmus.datasets import distance_to_manifold, make_noisy_swiss_roll
    >>> Y, places = make_noisy_swiss_roll(100, noise=0.0, random_state=0)
    >>> bool(distance_to_manifold(Y, "swiss_roll").max() < 1e-4)
    True
    """
    rng = check_random_state(random_state)
    t = rng.uniform(*ROLL, size=n_samples)
    h = rng.uniform(0, height, size=n_samples)
    Y = np.column_stack([t * np.cos(t), h, t * np.sin(t)])
    return Y + _noise(law, noise, Y.shape, rng), np.column_stack([t, h])


def distance_to_manifold(points, manifold, *, signed=False, height=30.0):
    """Distance of points to the noise-free shape of a generator.

    Parameters
    ----------
    points : array-like of shape (n_points, 2 or 3)
        Points whose distance is measured.
    manifold : {"spiral", "half_circle", "fish_bowl", "swiss_roll"}
        The shape of ``make_noisy_spiral`` and so on. Ends and rims count: past them the
        distance is that to the nearest point of the shape.
    signed : bool, default=False
        Negative inside, towards the centre of curvature, positive outside.
    height : float, default=30
        Width of the sheet of the Swiss roll.

    Returns
    -------
    ndarray of shape (n_points,)
        To about 1e-6 of the size of the shape.

    Examples
    --------
    >>> from isthmus.datasets import distance_to_manifold
    >>> distance_to_manifold([[0, 9], [0, 11.5]], "half_circle", signed=True).round(4).tolist()
    [-1.0, 1.5]
    """
    points = np.asarray(points, dtype=float)
    if manifold == "fish_bowl":
        distance, inside = _from_bowl(points)
    elif manifold == "swiss_roll":
        across, inside = _from_curve(points[:, [0, 2]], manifold)
        beyond = points[:, 1] - np.clip(points[:, 1], 0, height)
        distance = np.hypot(across, beyond)
    elif manifold in _CURVES:
        distance, inside = _from_curve(points, manifold)
    else:
        raise ValueError(
            "The manifold of distance_to_manifold must be one of 'spiral', 'half_circle', "
            f"'fish_bowl', 'swiss_roll'. Got {manifold!r} instead."
        )
    return np.where(inside, -distance, distance) if signed else distance


def _spiral(t):
    return (t + 0.2)[:, None] * np.column_stack([np.sin(4 * np.pi * t), np.cos(4 * np.pi * t)])


def _arc(t):
    return RADIUS * np.column_stack([np.cos(np.pi * t), np.sin(np.pi * t)])


def _roll(t):
    angle = ROLL[0] + (ROLL[1] - ROLL[0]) * t
    return angle[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


_CURVES = {"spiral": _spiral, "half_circle": _arc, "swiss_roll": _roll}


@cache
def _curve_and_tree(manifold):
    curve = _CURVES[manifold](np.linspace(0, 1, N_CURVE))
    return curve, cKDTree(curve)


def _from_curve(points, manifold):
    """Distance to the curve, and on which side: all our curves bend around the origin."""
    curve, tree = _curve_and_tree(manifold)
    nearest = tree.query(points)[1]
    found = []
    for start in (np.maximum(nearest - 1, 0), np.minimum(nearest, N_CURVE - 2)):
        a, along = curve[start], curve[start + 1] - curve[start]
        share = np.sum((points - a) * along, axis=1) / np.sum(along**2, axis=1)
        found.append(points - a - np.clip(share, 0, 1)[:, None] * along)
    sizes = np.linalg.norm(found, axis=2)
    best = sizes.argmin(axis=0)
    offset = np.array(found)[best, np.arange(len(points))]
    return sizes.min(axis=0), np.sum(offset * curve[nearest], axis=1) < 0


def _from_bowl(points):
    radius = np.linalg.norm(points, axis=1)
    distance = np.abs(radius - RADIUS)
    below = points[:, 2] < RIM * radius
    around = np.hypot(points[:, 0], points[:, 1])
    rim = np.hypot(around - RADIUS * np.sqrt(1 - RIM**2), points[:, 2] - RADIUS * RIM)
    return np.where(below, rim, distance), radius < RADIUS


def _parameter(n_samples, spacing, rng):
    if spacing == "regular":
        return np.linspace(0, 1, n_samples)
    if spacing == "random":
        return rng.uniform(size=n_samples)
    raise ValueError(f"The spacing must be 'regular' or 'random'. Got {spacing!r} instead.")


def _even_along(manifold, shares):
    """Parameters in [0, 1] at which these shares of a curve's length have been gone."""
    curve, _ = _curve_and_tree(manifold)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    return np.interp(shares, length / length[-1], np.linspace(0, 1, N_CURVE))


def _noise(law, size, shape, rng):
    if law == "gaussian":
        return size * rng.normal(size=shape)
    if law == "laplacian":
        return rng.laplace(scale=size / np.sqrt(2), size=shape)
    if law == "uniform":
        return rng.uniform(-size, size, size=shape)
    raise ValueError(
        f"The law of the noise must be 'gaussian', 'laplacian' or 'uniform'. Got {law!r} instead."
    )
