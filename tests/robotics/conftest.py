import numpy as np
import pytest

from isthmus.robotics import KinematicChain, pa10


def random_chain(convention, seed=0, n_joints=6):
    """A chain without any special angle, with constant angles and a lifted base."""
    rng = np.random.default_rng(seed)
    base = np.eye(4)
    base[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    base[:3, 0] *= np.sign(np.linalg.det(base[:3, :3]))
    base[:3, 3] = rng.normal(size=3)
    return KinematicChain(rng.uniform(-1.5, 1.5, (n_joints, 4)), convention, base=base)


CHAINS = {
    "pa10": pa10(),
    "modified": random_chain("modified"),
    "standard": random_chain("standard"),
}


@pytest.fixture(params=list(CHAINS))
def chain(request):
    return CHAINS[request.param]


@pytest.fixture
def rng():
    return np.random.default_rng(7)
