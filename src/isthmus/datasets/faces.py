"""Heads made of shaded ellipsoids: pictures of faces without a face database."""

import numpy as np
from sklearn.utils import Bunch, check_random_state

# Every part of the head is an ellipsoid (centre, half axes) in a frame whose
# axes point to the head's left, up, and out of the face. Unit: about half a head.
_PARTS = {
    "skull": ((0.0, 0.25, -0.10), (0.70, 0.72, 0.76)),
    "jaw": ((0.0, -0.30, 0.06), (0.52, 0.62, 0.56)),
    "nose": ((0.0, -0.08, 0.68), (0.10, 0.22, 0.18)),
    "left ear": ((0.68, 0.02, -0.12), (0.09, 0.20, 0.14)),
    "right ear": ((-0.68, 0.02, -0.12), (0.09, 0.20, 0.14)),
    "neck": ((0.0, -1.05, -0.18), (0.36, 0.70, 0.36)),
}
_IDENTITY = (
    "width", "height", "jaw", "nose", "eyes", "brows", "mouth", "skin", "hair", "hairline"
)  # fmt: skip
_OVERSAMPLING = 2
_BACKGROUND = 0.08


def make_faces(n_samples=500, size=60, *, n_identities=None, random_state=None):
    r"""Pictures of shaded heads of varying identity, pose and light.

    A head is the union of six ellipsoids, seen in parallel projection. The ray
    of a pixel meets an ellipsoid with centre c and half axes s where
    :math:`\sum_k ((a_k + t\,d_k - c_k) / s_k)^2 = 1`; the nearest of the
    intersections is shaded by Lambert's law,
    :math:`\text{albedo} \times (0.25 + 0.75 \max(0, n^\top l))`, where the albedo is
    painted on the surface (eyes, brows, mouth, hair). Each pixel averages 2 × 2 rays.

    Parameters
    ----------
    n_samples : int, default=500
        Number of pictures.
    size : int, default=60
        Height and width in pixels.
    n_identities : int or None, default=None
        Number of different persons; None makes every picture a different person.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    sklearn.utils.Bunch
        ``images`` (n_samples, size, size) grey values in [0, 1], ``X`` the same
        flattened; ``pose`` (n_samples, 2) yaw and pitch in radians, ``light``
        (n_samples, 2) azimuth and elevation in radians, ``identity`` (n_samples, 10)
        uniform in [-1, 1], with ``identity_names``, and ``person`` (n_samples,).
    """
    rng = check_random_state(random_state)
    n_identities = n_samples if n_identities is None else n_identities
    persons = rng.uniform(-1, 1, size=(n_identities, len(_IDENTITY)))
    person = np.arange(n_samples) % n_identities
    pose = rng.uniform([-0.5, -0.2], [0.5, 0.2], size=(n_samples, 2))
    light = rng.uniform([-0.9, 0.0], [0.9, 0.7], size=(n_samples, 2))
    images = np.stack([_face(persons[p], *pose[i], *light[i], size) for i, p in enumerate(person)])
    return Bunch(
        images=images,
        X=images.reshape(n_samples, -1),
        pose=pose,
        light=light,
        identity=persons[person],
        identity_names=_IDENTITY,
        person=person,
    )


def _face(identity, yaw, pitch, azimuth, elevation, size):
    """One picture (size, size); rows run from top to bottom."""
    traits = dict(zip(_IDENTITY, identity, strict=True))
    centres, axes = _parts(traits)
    R = _rotation(yaw, pitch)  # camera = R @ head
    fine = size * _OVERSAMPLING
    ticks = 1.2 * (np.arange(fine) + 0.5 - fine / 2) / (fine / 2)
    u, v = np.meshgrid(ticks, -ticks)
    # The ray of pixel (u, v) in the head frame is a + t d with a = R'(u, v, 0), d = R'(0, 0, 1).
    a, d = R[:2].T @ np.stack([u.ravel(), v.ravel()]), R[2]
    hit, points, normals = _nearest_surface(a, d, centres, axes)
    flat = np.cos(elevation)
    to_light = np.array([np.sin(azimuth) * flat, np.sin(elevation), np.cos(azimuth) * flat])
    lambert = np.clip(to_light @ R @ normals, 0, None)
    grey = np.full(fine**2, _BACKGROUND)
    grey[hit] = _albedo(points, traits) * (0.25 + 0.75 * lambert)
    blocks = grey.reshape(size, _OVERSAMPLING, size, _OVERSAMPLING)
    return np.clip(blocks.mean(axis=(1, 3)), 0, 1)


def _parts(traits):
    centres = np.array([centre for centre, _ in _PARTS.values()])
    axes = np.array([half for _, half in _PARTS.values()])
    axes[:2, 0] *= 1 + 0.10 * traits["width"]
    axes[1, 0] *= 1 + 0.10 * traits["jaw"]
    axes[:2, 1] *= 1 + 0.08 * traits["height"]
    axes[2] *= 1 + np.array([0.2, 0.15, 0.25]) * traits["nose"]
    centres[3:5, 0] *= 1 + 0.10 * traits["width"]  # the ears stay on the skull
    return centres, axes


def _rotation(yaw, pitch):
    cy, sy, cp, sp = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch)
    turn = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    nod = np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]])
    return nod @ turn


def _nearest_surface(a, d, centres, axes):
    """Rays that hit anything, their surface points and outward normals (3, n_hits)."""
    # The three coordinates come first: sums over them then run along whole rows.
    q = (a[:, None, :] - centres.T[:, :, None]) / axes.T[:, :, None]  # 3 × parts × rays
    e = (d / axes).T[:, :, None]
    # |q + t e|² = 1, the root nearest to the camera, which looks along -d.
    A, B, C = (e**2).sum(0), (q * e).sum(0), (q**2).sum(0) - 1
    discriminant = B**2 - A * C
    hit = (discriminant > 0).any(axis=0)
    q, B, discriminant = q[:, :, hit], B[:, hit], discriminant[:, hit]
    t = np.where(discriminant > 0, (-B + np.sqrt(np.maximum(discriminant, 0))) / A, -np.inf)
    depth = t.max(axis=0)
    # Normals are blended where two parts are about equally near, which rounds the seams.
    weights = np.exp((t - depth) / 0.04)
    normals = (weights * (q + depth * e) / axes.T[:, :, None]).sum(axis=1)
    normals /= np.sqrt((normals**2).sum(axis=0))
    return hit, a[:, hit] + depth * d[:, None], normals


def _albedo(points, traits):
    """Albedo of the surface points: skin, then hair, brows, eyes and mouth painted on it."""
    x, y, z = points
    in_front = _step(z - 0.25, 0.05)
    paint = np.full(len(x), 0.75 + 0.15 * traits["skin"])

    def cover(colour, mask):
        paint[:] = (1 - mask) * paint + mask * colour

    hairline = 0.62 + 0.12 * traits["hairline"] - 0.9 * np.maximum(0.0, 0.35 - z)
    cover(0.30 + 0.25 * traits["hair"], _step(y - hairline, 0.03) * _step(y + 0.15, 0.05))
    eye_x = 0.27 + 0.04 * traits["eyes"]
    for side in (-1, 1):
        across, up = x - side * eye_x, y - 0.16
        cover(0.95, in_front * _step(1 - (across / 0.13) ** 2 - (up / 0.06) ** 2, 0.2))
        cover(0.08, in_front * _step(1 - (across**2 + up**2) / 0.055**2, 0.2))
        lift = up - 0.15 - 0.04 * traits["brows"] + 0.8 * across**2
        cover(0.22, in_front * _step(1 - (across / 0.17) ** 2 - (lift / 0.035) ** 2, 0.3))
    lip_y = y + 0.48 - 0.25 * x**2 * traits["mouth"]
    wide = 0.22 + 0.05 * traits["mouth"]
    cover(0.38, in_front * _step(1 - (x / wide) ** 2 - (lip_y / 0.055) ** 2, 0.3))
    return paint


def _step(value, softness):
    """0 below zero, 1 above, smooth in between so that edges are not jagged."""
    return 0.5 * (1 + np.tanh(value / softness))
