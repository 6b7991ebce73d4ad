"""A person who moves an arm, drawn from capsules, and the robot postures that copy it."""

import numpy as np
from sklearn.utils import Bunch, check_random_state

MOTIONS = ("random", "raise", "wave")
# Ranges in degrees: height of the upper arm above hanging, its turn from sideways to forward,
# bend of the elbow, turn of the forearm about the upper arm (0 is up).
RANGES = np.radians([[15.0, 140.0], [0.0, 50.0], [15.0, 110.0], [-80.0, 40.0]])
SKIN, SHIRT, TROUSERS = (0.86, 0.62, 0.50), (0.20, 0.34, 0.62), (0.25, 0.24, 0.26)
N_SKIN_PIXELS = 354
# Body: shoulder, elbow and so on in shoulder widths, x to the person's right, y up, z forward.
SHOULDER, UPPER_ARM, FOREARM = np.array([0.5, 0.0, 0.0]), 0.75, 0.70
# Axes of the robot's base, as rows in the body frame (which is left-handed, the base is not).
# Its z axis points backward to the right, so that no arm in the ranges comes near it: there the
# first joint would jump.
BACKWARD = np.radians(30.0)
BASE = np.array(
    [
        [np.sin(BACKWARD), 0.0, np.cos(BACKWARD)],
        [0.0, 1.0, 0.0],
        [np.cos(BACKWARD), 0.0, -np.sin(BACKWARD)],
    ]
)

# The person faces the camera: their right is the picture's left.
MIRROR = np.array([[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def make_imitation_scenes(
    n_samples=500,
    size=100,
    *,
    motion="random",
    angles=None,
    shift=0.08,
    scale=0.12,
    lighting=0.15,
    noise=0.01,
    skin=SKIN,
    random_state=None,
):
    r"""Pictures of a person with a bare right arm, and PA-10 postures that copy the arm.

    A stand-in for camera images that are not published: a figure of capsules in parallel
    projection before a plain wall. Face and right arm have the colour of skin. A robot
    posture has the same directions of upper arm u and forearm f, in closed form:
    :math:`q_2=\arccos u_z`, :math:`q_1=\operatorname{atan2}(u_y,u_x)`, and
    :math:`q_4, q_3` likewise from :math:`R_1^\top f`, :math:`R_1=R_z(q_1)R_y(q_2)`; the
    wrist stays straight.

    Parameters
    ----------
    n_samples : int, default=500
        Number of pictures.
    size : int, default=100
        Height and width in pixels.
    motion : {"random", "raise", "wave"}, default="random"
        Independent arms, or one movement over all pictures, there and back.
    angles : array-like of shape (n_samples, 4), default=None
        Instead of ``motion``: height of the upper arm above hanging, its turn from sideways to
        forward, bend of the elbow, turn of the forearm about the upper arm, in radians.
    shift, scale : float
        Largest displacement as a share of the picture, largest relative change of size; drawn
        for every picture, or once for a movement, as is the light.
    lighting : float, default=0.15
        Largest relative change of brightness, as a whole and from left to right; each colour
        changes by a fifth of it besides.
    noise : float, default=0.01
        Standard deviation of each pixel, where white is 1.
    skin : tuple of three floats
        Colour of face and arm; another one makes a person that a fitted skin model does not know.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    sklearn.utils.Bunch
        ``images`` (n_samples, size, size, 3), uint8; ``postures`` (n_samples, 7), radians;
        ``directions`` (n_samples, 2, 3), unit vectors of upper arm and forearm in the robot's
        base; ``angles`` (n_samples, 4); ``background`` (size, size, 3), the empty scene;
        ``skin_pixels`` (354, 3), picked from the pictures, 0 to 255; ``camera`` (2, 3) takes places
        in the robot's base to right and up in a picture.

    Examples
    --------
    >>> from isthmus.datasets import make_imitation_scenes
    >>> scenes = make_imitation_scenes(3, random_state=0)
    >>> scenes.images.shape, scenes.postures.shape
    ((3, 100, 100, 3), (3, 7))
    """
    if motion not in MOTIONS:
        raise ValueError(
            "The 'motion' parameter of make_imitation_scenes must be one of "
            f"{', '.join(map(repr, MOTIONS))}. Got {motion!r} instead."
        )
    rng = check_random_state(random_state)
    angles = _motion(motion, n_samples, rng) if angles is None else np.asarray(angles, dtype=float)
    if angles.shape != (n_samples, 4):
        raise ValueError(
            f"make_imitation_scenes expected angles of shape ({n_samples}, 4). "
            f"Got shape {angles.shape} instead."
        )
    upper, fore = arm_directions(angles)
    n_views = n_samples if motion == "random" else 1  # nobody moves the camera in a movement
    places = rng.uniform(-shift, shift, size=(n_views, 2))
    sizes = 1 + rng.uniform(-scale, scale, size=n_views)
    # Brightness, slope from left to right, and a slight tint.
    light = rng.uniform(-lighting, lighting, size=(n_views, 5)) * [1, 1, 0.2, 0.2, 0.2]
    slopes = 1 + light[:, 1:2] * np.linspace(-1, 1, size)
    gains = slopes[:, :, None] * (1 + light[:, :1] + light[:, 2:])[:, None]
    wall = _wall(size)
    images = np.empty((n_samples, size, size, 3), dtype=np.uint8)
    pixels = []
    for i in range(n_samples):
        view = i % n_views
        picture, bare = _draw(wall, upper[i], fore[i], places[view], sizes[view], skin)
        picture = picture * gains[view] + noise * rng.normal(size=picture.shape)
        images[i] = np.round(255 * np.clip(picture, 0, 1))
        if len(pixels) < N_SKIN_PIXELS:
            where = np.argwhere(bare > 0.99)
            chosen = where[rng.choice(len(where), min(12, len(where)), replace=False)]
            pixels.extend(images[i][tuple(chosen.T)])
    while len(pixels) < N_SKIN_PIXELS:  # few pictures: pick with repetition
        pixels.append(pixels[rng.randint(len(pixels))])
    directions = np.stack([upper, fore], axis=1) @ BASE.T
    return Bunch(
        images=images,
        postures=imitating_postures(directions),
        directions=directions,
        angles=angles,
        background=np.round(255 * wall).astype(np.uint8),
        skin_pixels=np.array(pixels[:N_SKIN_PIXELS], dtype=np.uint8),
        camera=MIRROR @ BASE.T,
    )


def arm_directions(angles):
    """Unit vectors of upper arm and forearm in the body frame, (n, 3) each."""
    height, turn, bend, roll = np.asarray(angles, dtype=float).T
    # Hanging is -y; the arm rises in a vertical plane between sideways (x) and forward (z).
    up = np.array([0.0, 1.0, 0.0])
    out = np.column_stack([np.cos(turn), np.zeros_like(turn), np.sin(turn)])
    upper = np.sin(height)[:, None] * out - np.cos(height)[:, None] * up
    lift = np.cos(height)[:, None] * out + np.sin(height)[:, None] * up  # across the arm, upward
    side = np.cross(lift, upper)
    across = np.cos(roll)[:, None] * lift + np.sin(roll)[:, None] * side
    fore = np.cos(bend)[:, None] * upper + np.sin(bend)[:, None] * across
    return upper, fore


def imitating_postures(directions):
    """PA-10 joint vectors (n, 7) with these directions (n, 2, 3) of upper arm and forearm."""
    u, f = directions[:, 0], directions[:, 1]
    q = np.zeros((len(u), 7))
    q[:, 0], q[:, 1] = np.arctan2(u[:, 1], u[:, 0]), np.arccos(np.clip(u[:, 2], -1, 1))
    c1, s1, c2, s2 = np.cos(q[:, 0]), np.sin(q[:, 0]), np.cos(q[:, 1]), np.sin(q[:, 1])
    # R1 = Rz(q1) Ry(q2), by columns.
    R1 = np.stack([np.c_[c1 * c2, s1 * c2, -s2], np.c_[-s1, c1, 0 * s1], u], axis=2)
    local = np.einsum("nij,ni->nj", R1, f)
    q[:, 2], q[:, 3] = np.arctan2(local[:, 1], local[:, 0]), np.arccos(np.clip(local[:, 2], -1, 1))
    return q


def _motion(motion, n, rng):
    if motion == "random":
        return rng.uniform(RANGES[:, 0], RANGES[:, 1], size=(n, 4))
    there_and_back = 0.5 - 0.5 * np.cos(np.linspace(0, 2 * np.pi, n))
    angles = np.tile(np.radians([30.0, 15.0, 30.0, 0.0]), (n, 1))
    if motion == "raise":
        angles[:, 0] += np.radians(100.0) * there_and_back
    else:
        angles[:, 0] = np.radians(85.0)
        angles[:, 2] = np.radians(75.0) + np.radians(30.0) * np.sin(np.linspace(0, 4 * np.pi, n))
    return angles


def _wall(size):
    rows, columns = np.linspace(0, 1, size)[:, None], np.linspace(0, 1, size)[None, :]
    shade = 0.72 + 0.10 * columns - 0.08 * rows
    return shade[:, :, None] * np.array([0.92, 1.0, 0.95])


def _draw(wall, upper, fore, place, size, skin):
    """The figure before the wall, and how much of each pixel is bare skin."""
    elbow = SHOULDER + UPPER_ARM * upper
    wrist = elbow + FOREARM * fore
    hand = wrist + 0.18 * fore
    head, neck = np.array([0.0, 0.62, 0.0]), np.array([0.0, 0.3, 0.0])
    # Start, end, radius, colour, whether it is bare; the arm last, before the body.
    parts = [
        ([0.22, -1.2, 0], [0.25, -2.2, 0], 0.20, TROUSERS, False),
        ([-0.22, -1.2, 0], [-0.25, -2.2, 0], 0.20, TROUSERS, False),
        ([-0.5, 0.0, 0], [-0.64, -0.75, 0], 0.15, SHIRT, False),
        ([-0.64, -0.75, 0], [-0.68, -1.3, 0], 0.13, SHIRT, False),
        ([0.28, -0.05, 0], [0.24, -1.1, 0], 0.26, SHIRT, False),
        ([-0.28, -0.05, 0], [-0.24, -1.1, 0], 0.26, SHIRT, False),
        ([0.0, -0.05, 0], [0.0, -1.1, 0], 0.24, SHIRT, False),
        (neck, head, 0.12, skin, True),
        (head, head + [0, 0.1, 0], 0.25, skin, True),
        (SHOULDER, elbow, 0.16, skin, True),
        (elbow, wrist, 0.14, skin, True),
        (wrist, hand, 0.12, skin, True),
    ]
    n = len(wall)
    unit = 0.23 * n * size
    origin = n * (np.array([0.60, 0.44]) + place)
    picture, bare = wall.copy(), np.zeros((n, n))
    for start, end, radius, colour, naked in parts:
        # Rows of a picture run downwards.
        a, b = (origin + unit * (MIRROR @ p) * [1, -1] for p in (np.asarray(start), end))
        box, cover = _capsule(a, b, unit * radius, n)
        picture[box] += cover[:, :, None] * (np.asarray(colour) - picture[box])
        bare[box] += cover * (naked - bare[box])
    return picture, bare


def _capsule(a, b, radius, n):
    """The part of the picture that a capsule covers, and how much of each of its pixels."""
    low = np.clip(np.floor(np.minimum(a, b) - radius - 1), 0, n).astype(int)
    high = np.clip(np.ceil(np.maximum(a, b) + radius + 1), low, n).astype(int)
    box = (slice(low[1], high[1]), slice(low[0], high[0]))
    y, x = np.mgrid[box] + 0.5
    along = b - a
    length = max(float(along @ along), 1e-12)
    t = np.clip(((x - a[0]) * along[0] + (y - a[1]) * along[1]) / length, 0, 1)
    distance = np.hypot(x - a[0] - t * along[0], y - a[1] - t * along[1])
    return box, np.clip(radius - distance + 0.5, 0, 1)
