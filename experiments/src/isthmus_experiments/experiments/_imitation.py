"""Scenes, models and errors that the imitation experiments share."""

import numpy as np

from isthmus.datasets import make_imitation_scenes
from isthmus.kernels import Gaussian
from isthmus.robotics import PoseFeatures, PoseKernel, pa10

ARM = pa10()
BASES = {
    "Gaussian": PoseKernel(ARM, base=Gaussian.from_width(450.0)),
    "linear": PoseKernel(ARM),
}
STAND_IN = (
    "The camera images, the skin pixels and the robot of the document are lost. Pictures are drawn "
    "here: a figure of capsules in parallel projection with a bare right arm, at random places, "
    "sizes and lights; postures copy the directions of upper arm and forearm. Numbers that depend "
    "on the pictures are therefore not expected to be the same."
)


def scenes(n, seed, number, **settings):
    """Pictures that no other number of the same experiment gives again."""
    rng = np.random.RandomState(np.random.SeedSequence([seed, number]).generate_state(1))
    return make_imitation_scenes(n, random_state=rng, **settings)


def pose_features(frames, n_codewords, n_contexts, seed):
    return PoseFeatures(
        n_codewords,
        background=frames.background,
        skin_pixels=frames.skin_pixels,
        max_contexts=n_contexts,
        random_state=seed,
    )


def direction_errors(postures, directions):
    """Angles between wanted and reached upper arms and forearms, (n, 2) in degrees."""
    P = ARM.positions(postures)
    reached = np.stack([P[:, 2] / 450, (P[:, 4] - P[:, 2]) / 500], axis=1)
    cosines = np.einsum("nkc,nkc->nk", reached, directions)
    return np.degrees(np.arccos(np.clip(cosines, -1, 1)))


def in_picture(postures, camera):
    """Places of shoulder, elbow, wrist and hand as the camera sees them, (n, 4, 2)."""
    return ARM.positions(postures)[:, [0, 2, 4, 6]] @ camera.T
