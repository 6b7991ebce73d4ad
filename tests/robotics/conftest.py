import numpy as np
import pytest

from isthmus.robotics import KinematicChain, pa10


def random_pose(rng):
    pose = np.eye(4)
    pose[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    pose[:3, 0] *= np.sign(np.linalg.det(pose[:3, :3]))
    pose[:3, 3] = rng.normal(size=3)
    return pose


def random_chain(convention, seed=0, n_joints=6):
    """A chain without any special angle, with constant angles and a lifted base."""
    rng = np.random.default_rng(seed)
    base = random_pose(rng)
    return KinematicChain(rng.uniform(-1.5, 1.5, (n_joints, 4)), convention, base=base)


def sliding_chain(convention):
    """Joints that slide or count the other way, a lifted base and a tool."""
    rng = np.random.default_rng(1)
    joints = "RPRPRR"
    limits = [(-3.0, 3.0) if letter == "R" else (-1.0, 2.0) for letter in joints]
    return KinematicChain(
        rng.uniform(-1.5, 1.5, (6, 4)),
        convention,
        joints=joints,
        flip=[False, True, True, False, False, True],
        limits=limits,
        base=random_pose(rng),
        tool=random_pose(rng),
    )


CHAINS = {
    "pa10": pa10(),
    "modified": random_chain("modified"),
    "standard": random_chain("standard"),
    "sliding modified": sliding_chain("modified"),
    "sliding standard": sliding_chain("standard"),
}


@pytest.fixture(params=list(CHAINS))
def chain(request):
    return CHAINS[request.param]


@pytest.fixture
def rng():
    return np.random.default_rng(7)
