"""Twin Gaussian processes on real images: minutes a row, so a page of their own."""

import numpy as np
from sklearn.model_selection import KFold

from benchmarks._harness import Unavailable, benchmark
from benchmarks.bench_twin import PEERS, contest
from isthmus.datasets import DataNotAvailable, load_poser, load_usps_roweis
from isthmus.structured import TwinSearch

N_USPS_TRAIN, N_USPS_TEST = 7425, 2475


def _available(load):
    try:
        return load()
    except DataNotAvailable as missing:
        raise Unavailable(str(missing)) from missing


def _usps(n_train=N_USPS_TRAIN, n_test=N_USPS_TEST):
    """The 16 pixels in the middle from the 240 around them, nine classes, pixels in [-1, 1]."""
    digits = _available(load_usps_roweis)
    keep = digits.y != 0
    images = digits.X[keep].astype(float) / 127.5 - 1
    images = images[np.random.default_rng(0).permutation(len(images))]
    middle = np.zeros((16, 16), dtype=bool)
    middle[6:10, 6:10] = True
    middle = middle.ravel()
    train, test = images[:n_train], images[n_train : n_train + n_test]
    return train[:, ~middle], train[:, middle], test[:, ~middle], test[:, middle]


@benchmark(
    "twin-usps",
    work="7425 USPS digits, 16 centre pixels from 240, 2475 new; all pairs, one start a point",
    peer="scikit-learn, width and penalty tuned; its Gaussian process on 1500 rows",
    cases=PEERS,
    unit="peer",
    goal="the smallest MAE, in minutes",
    why="kernel ridge factors one matrix and solves for 16 columns; a twin process factors two, "
    "and solves for every new row with its input and twice with its output",
    shared=True,
)
def usps(name):
    return contest(name, _usps(), 3, search=TwinSearch(n_init=1))


@benchmark(
    "twin-usps-landmarks",
    work="the same with 2000 landmarks and two starts a point",
    peer="scikit-learn KernelRidge on all pairs, width and penalty tuned",
    cases=("kernel ridge",),
    unit="peer",
    goal="the smallest MAE, in less than a minute",
    why="every new row is searched over outputs from two starts, where the peer has one factor of "
    "all pairs and one product",
)
def usps_landmarks(name):
    return contest(name, _usps(), 3, n_landmarks=2000)


@benchmark(
    "twin-poser",
    work="1927 silhouettes to 63 coordinates of joints, 418 new, folds in one piece",
    peer="scikit-learn, width and penalty tuned on the same folds; its Gaussian process on 1500",
    cases=PEERS,
    unit="peer",
    goal="the smallest MAE",
    why="kernel ridge solves for 63 columns once; a twin process searches over outputs for every "
    "new row, and its choice of parameters does so for rows left out",
    shared=True,
)
def poser(name):
    poses = _available(load_poser)
    task = (poses.X_train, poses.Y_train, poses.X_test, poses.Y_test)
    return contest(name, [np.asarray(part, dtype=float) for part in task], KFold(5))
