"""Single-precision rows: the same errors, and no claim that predictions do not keep."""

import numpy as np
import pytest
from sklearn.base import clone

from isthmus.regression import (
    BayesianLinearRegression,
    GaussianProcess,
    Inducing,
    KernelRidgeCV,
    LocalPolynomialRegression,
    ReducedRankRegression,
    Selection,
    SequentialStiefelRegression,
    StiefelRegression,
)

MODELS = {
    "kernel ridge": KernelRidgeCV(),
    "one width": KernelRidgeCV("gaussian"),
    "linear": KernelRidgeCV("linear"),
    "process": GaussianProcess(random_state=0, n_init=1),
    "inducing": GaussianProcess(random_state=0, n_init=1, approximation=Inducing(40)),
    "reduced rank": ReducedRankRegression(),
    "huber": StiefelRegression(loss="huber"),
    "stream": SequentialStiefelRegression(2),
    "Bayesian": BayesianLinearRegression(),
    "local": LocalPolynomialRegression(2, cv=Selection(max_rows=60)),
}


def surfaces(Z):
    return np.c_[np.sin(3 * Z[:, 0]) * np.cos(2 * Z[:, 1]), Z[:, 0] ** 2 + Z[:, 1]]


@pytest.mark.parametrize("shift", [0.0, 30.0])
@pytest.mark.parametrize("name", list(MODELS))
def test_single_precision_predicts_as_well_as_double(name, shift):
    rng = np.random.default_rng(0)
    X, new = rng.uniform(size=(150, 2)), rng.uniform(size=(200, 2))
    Y = surfaces(X) + 0.003 * rng.normal(size=(150, 2))
    errors = []
    for kind in (np.float64, np.float32):
        model = clone(MODELS[name]).fit((X + shift).astype(kind), Y.astype(kind))
        predicted = model.predict((new + shift).astype(kind))
        errors.append(np.sqrt(np.mean((predicted - surfaces(new)) ** 2)))
    assert errors[1] < 1.5 * errors[0] + 1e-5
