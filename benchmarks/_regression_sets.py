"""Real regression data of many shapes, each cut again and again into training and test rows."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from isthmus import datasets

# A folder with corn_m5spec.csv and corn_propvals.csv, the corn spectra of Cargill that chemometrics
# has used for decades: 80 rows, 700 wavelengths, four outputs. They are not among our data.
SPECTRA = "ISTHMUS_SPECTRA"

Pair = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class RegressionSet:
    """Where rows and outputs come from, and how many of them are fitted and tested.

    ``scaled`` says that columns have units of their own, so that every method is given columns of
    unit variance on the training rows; otherwise (spectra, pixels) all are given what was measured.
    """

    name: str
    load: Callable[[], Pair]
    n_train: int
    n_test: int
    scaled: bool = True

    def splits(self, n_splits: int) -> Iterator[tuple[np.ndarray, ...]]:
        """Training inputs and outputs, test inputs and outputs; the same in every process."""
        X, Y = self.load()
        X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
        for seed in range(n_splits):
            order = np.random.default_rng(seed).permutation(len(X))
            train, test = np.split(order[: self.n_train + self.n_test], [self.n_train])
            scaler = StandardScaler(with_mean=self.scaled, with_std=self.scaled).fit(X[train])
            yield scaler.transform(X[train]), Y[train], scaler.transform(X[test]), Y[test]


def _corn() -> Pair:
    folder = Path(os.environ[SPECTRA])
    return tuple(
        np.loadtxt(folder / f"corn_{part}.csv", delimiter=",", skiprows=1)
        for part in ("m5spec", "propvals")
    )


def _mixtures() -> Pair:
    """Measured reflectances from 0.4 to 2.5 µm, mixed as in an image, with 1 % of noise."""
    data = datasets.load_unmixing()
    rows = np.random.default_rng(0).choice(len(data.X), 1000, replace=False)
    X = np.asarray(data.X)[rows]
    noise = np.random.default_rng(1).normal(scale=0.01 * X.std(), size=X.shape)
    return X + noise, np.asarray(data.abundance).reshape(-1, 9)[rows]


def _faces() -> Pair:
    """The upper half of a face, every fourth pixel, to the lower one."""
    small = datasets.load_olivetti().images[:, ::4, ::4]
    return small[:, :8].reshape(len(small), -1), small[:, 8:].reshape(len(small), -1)


def _oil() -> Pair:
    data = datasets.load_oilflow()
    return data.X_train, data.fractions_train


def _poser() -> Pair:
    """Silhouettes to the places of joints, without the coordinates that never change."""
    data = datasets.load_poser()
    return data.X_train, data.Y_train[:, data.Y_train.std(axis=0) > 1e-2]


def _positions() -> Pair:
    """Strengths of 520 wireless senders, none heard as the weakest, to longitude and latitude."""
    data = datasets.load_uji_indoor()
    rows = np.random.default_rng(0).choice(len(data.X_train), 3000, replace=False)
    X = data.X_train[rows].astype(float)
    return np.where(X == 100, -105, X) + 105, data.Y_train[rows]


def _columns(load: Callable[[], dict], outputs: str = "y") -> Callable[[], Pair]:
    def pair() -> Pair:
        data = load()
        return data["X"], data[outputs]

    return pair


def _abalone() -> Pair:
    data = datasets.load_abalone()
    return data.X_train, data.y_train


def _blog() -> Pair:
    data = datasets.load_blogfeedback()
    rows = np.random.default_rng(0).choice(len(data.X_train), 3000, replace=False)
    return data.X_train[rows], np.log1p(data.y_train[rows])


SETS = (
    RegressionSet("corn spectra", _corn, 60, 20, scaled=False),
    RegressionSet("mixed spectra", _mixtures, 150, 500, scaled=False),
    RegressionSet("faces", _faces, 300, 100, scaled=False),
    RegressionSet("diabetes", lambda: load_diabetes(return_X_y=True), 330, 112),
    RegressionSet("boston", _columns(datasets.load_boston), 300, 206),
    RegressionSet("oil flow", _oil, 300, 700),
    RegressionSet("CT slices", _columns(datasets.load_ct_slices), 300, 457, scaled=False),
    RegressionSet("poser", _poser, 300, 1000, scaled=False),
    RegressionSet("positions", _positions, 300, 1000, scaled=False),
    RegressionSet("music", _columns(datasets.load_music_origin, "Y"), 300, 759),
    RegressionSet("blog", _blog, 300, 1000),
    RegressionSet("abalone", _abalone, 300, 1000),
    RegressionSet("puma 32nm", _columns(datasets.load_pumadyn), 300, 1000),
    RegressionSet("kin 8nm", _columns(datasets.load_kin8nm), 1050, 1000),
)


def available_sets() -> list[RegressionSet]:
    """The sets that this machine has; the spectra where a folder is named."""
    if not os.environ.get(SPECTRA):
        return [one for one in SETS if one.load is not _corn]
    return list(SETS)
