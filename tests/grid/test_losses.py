"""Every loss of objects with every regressor, and with every feature map of the inputs."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from isthmus.kernels import LabelledGraph
from isthmus.losses import Quantile, as_task_loss
from isthmus.losses.tasks.resolve import TASK_LOSSES
from isthmus.structured import DependencyEstimator

from .cells import WORD
from .parts import N_TRAIN, REGRESSORS, TRANSFORMERS, series, tables, words
from .test_grid import data


def labels(X):
    return np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [0.45, 0.8])]


def label_sets(X):
    return (np.median(X, axis=0) < X).astype(int)


def vectors(X):
    return np.column_stack([np.sin(2 * X[:, 0]), X[:, 1]])


def rankings(X):
    return np.argsort(np.argsort(X, axis=1), axis=1)


def chains(X):
    sizes = 2 + (3 * (X[:, 0] > 0.7)).astype(int)
    names = np.where(X[:, 1] > 0.7, "C", "N").tolist()
    return [
        LabelledGraph(name * n, [(i, i + 1) for i in range(n - 1)])
        for name, n in zip(names, sizes, strict=True)
    ]


OUTPUTS = {
    "zero_one": labels, "hamming": label_sets, "f1": label_sets, "jaccard": label_sets,
    "precision_at_k": label_sets, "absolute": vectors, "quantile": vectors, "squared": vectors,
    "huber": vectors, "epsilon": vectors, "interval": vectors, "kendall": rankings,
    "spearman": rankings, "edit": words, "graph_edit": chains, "alignment": series,
}  # fmt: skip


def check(record_property, grid, X, loss, **slots):
    """Better than the best constant answer, or refused with the word that is missing."""
    Y = OUTPUTS[loss](X)
    train, new = slice(0, N_TRAIN), slice(N_TRAIN, None)
    parts = {k: clone(v) if hasattr(v, "get_params") else v for k, v in slots.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small data, few iterations
        try:
            model = DependencyEstimator(loss=loss, **parts).fit(X[train], Y[train])
        except (TypeError, ValueError) as error:
            if not WORD.search(str(error)):
                raise
            record_property("grid", (grid, "refused"))
            return
        answers = model.predict(X[new])
    piece = as_task_loss(loss).resolve(as_task_loss(loss).check(Y[train]))
    flat = piece.decode(np.full((1, N_TRAIN), 1 / N_TRAIN), piece.prepare(Y[train]))
    constant = [flat.outputs[0]] * (len(X) - N_TRAIN)
    if isinstance(Y, np.ndarray):
        constant = np.array(constant)
    assert piece.paired(answers, Y[new]).mean() < piece.paired(constant, Y[new]).mean()
    record_property("grid", (grid, "works"))


@pytest.mark.parametrize("regressor", REGRESSORS)
@pytest.mark.parametrize("loss", OUTPUTS)
def test_losses(loss, regressor, record_property):
    X, _ = tables()
    check(record_property, "loss × regressor", X, loss, regressor=REGRESSORS[regressor])


@pytest.mark.parametrize("features", TRANSFORMERS)
@pytest.mark.parametrize("loss", ["hamming", "absolute"])
def test_losses_on_features(loss, features, record_property):
    X, _ = data(features)
    check(record_property, "loss × x_features", X, loss, x_features=TRANSFORMERS[features])


def test_every_named_loss_is_in_the_grid():

    assert set(OUTPUTS) == set(TASK_LOSSES)
    model = DependencyEstimator(loss=Quantile(0.7)).fit(*(part[:40] for part in tables()))
    assert model.predict(tables()[0][:2]).shape == (2, 3)
