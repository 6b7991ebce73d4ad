"""Many columns: what training sees through principal components, and what it must not lose."""

import numpy as np
import pytest

from isthmus.losses import Huber
from isthmus.manifold import Landmarks, UnsupervisedKernelRegression
from isthmus.manifold.ukr import columns, learning
from isthmus.manifold.ukr.columns import few_columns
from isthmus.manifold.ukr.settings import check_settings


def curve(n, d, noise=0.02, seed=0):
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 3, n))
    F = np.column_stack([np.cos(t), np.sin(t), 0.3 * np.cos(3 * t)])
    return F @ rng.normal(size=(3, d)) + noise * rng.normal(size=(n, d)), t


def fitted(Y, **options):
    model = UnsupervisedKernelRegression(1, degree=0, random_state=0, max_iter=8, **options)
    with pytest.warns(match="not settled"):
        return model.fit(Y)


def test_fewer_rows_than_columns_lose_nothing(monkeypatch):
    monkeypatch.setattr(columns, "SHARE", 1.0)
    Y, t = curve(40, 300, noise=0.3)
    start = np.column_stack([t]) * 3
    new = fitted(Y, init=start)
    monkeypatch.setattr(learning, "few_columns", lambda Y, settings: None)
    old = fitted(Y, init=start)
    np.testing.assert_allclose(new.embedding_, old.embedding_, rtol=0, atol=1e-7)
    np.testing.assert_allclose(new.outputs_, old.outputs_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(new.objective_, old.objective_, rtol=1e-8)
    np.testing.assert_allclose(new.reconstruct(Y), old.reconstruct(Y), rtol=0, atol=1e-5)


def test_the_map_is_made_of_whole_rows_where_training_saw_part_of_them():
    Y, _ = curve(150, 120)
    model = UnsupervisedKernelRegression(1, random_state=0).fit(Y)
    np.testing.assert_allclose(model.outputs_ + model.mean_, Y, atol=1e-10)
    values = model.evaluate(model.embedding_).values
    np.testing.assert_allclose(values, model.starts()[1], atol=1e-10)


def seen(Y, **options):
    settings = check_settings(UnsupervisedKernelRegression(1, **options))
    return few_columns(Y - Y.mean(axis=0), settings)


def test_who_sees_what():
    long, wide = curve(150, 120)[0], curve(50, 120, noise=1.0)[0]
    assert seen(long).scores.shape[1] == 3
    assert seen(long, loss="huber") is None  # of columns, not of lengths
    assert seen(long, loss=Huber(shape="ball")).scores.shape[1] == 3
    assert seen(long, loss="epsilon") is None
    assert seen(long, n_landmarks=Landmarks(20)) is None
    assert seen(long[:, :40]) is None
    everything = seen(wide, loss="epsilon")
    assert everything.exact
    assert everything.scores.shape[1] == 49
    centred = wide - wide.mean(axis=0)
    np.testing.assert_allclose(everything.scores @ everything.axes, centred, atol=1e-10)
    np.testing.assert_allclose(everything.axes @ everything.axes.T, np.eye(49), atol=1e-12)
