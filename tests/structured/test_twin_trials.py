"""Trials of a choice that end before all folds are asked: the choice of those that ask all."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from isthmus.kernels import FunctionKernel
from isthmus.structured import TwinGaussianProcess
from isthmus.structured.twin import trials
from isthmus.structured.twin.trials import is_positive, piece_means

NEVER = 1e9


def pairs(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])
    return X, Y + 0.1 * rng.normal(size=Y.shape)


def difference_kernel(a, b):
    return np.exp(-np.abs(a - b).sum())


def test_folds_left_out_change_no_choice(monkeypatch):
    asked = []
    errors = trials.Trials._row_errors

    def counted(self, fold, settings):
        asked.append(trials.CERTAIN)
        return errors(self, fold, settings)

    monkeypatch.setattr(trials.Trials, "_row_errors", counted)
    for seed in range(3):
        X, Y = pairs(240, seed)
        fast = TwinGaussianProcess().fit(X, Y)
        with monkeypatch.context() as patch:
            patch.setattr(trials, "CERTAIN", NEVER)
            slow = TwinGaussianProcess().fit(X, Y)
        for name in ("cv_error_", "alpha_x_", "alpha_y_", "x_kernel_", "y_kernel_"):
            assert getattr(fast, name) == getattr(slow, name)
    assert asked.count(trials.CERTAIN) < asked.count(NEVER)


def test_a_mean_is_positive_beyond_doubt_or_not(rng):
    noise = rng.normal(size=(2, 100))
    assert is_positive(list(noise + 1.0))
    assert not is_positive(list(noise - 1.0))
    assert not is_positive(list(noise + 0.1))
    assert not is_positive([np.ones(5)])  # too few


def test_means_of_pieces_are_those_of_split_rows(rng):
    for n in (20, 23, 150):
        numbers = rng.normal(size=n)
        split = [piece.mean() for piece in np.array_split(numbers, trials.N_PIECES)]
        np.testing.assert_allclose(piece_means(numbers), split, atol=1e-12)


def test_neighbours_that_err_together_count_as_few():
    one_long_error = np.r_[np.ones(25), np.zeros(75)]
    assert one_long_error.mean() > 4 * one_long_error.std() / 10
    assert not is_positive([one_long_error])
    assert is_positive([np.tile([1.0, 0.0, 0.0, 0.0], 25) + 0.2])


@pytest.mark.parametrize("kernel", [None, FunctionKernel(difference_kernel, pairwise_calls=True)])
def test_folds_side_by_side_give_what_one_thread_gives(monkeypatch, kernel):
    X, Y = pairs(90, 0)
    found = []
    for n_threads, least in ((1, trials.LEAST_SHARED), (2, 1)):
        monkeypatch.setattr(trials, "LEAST_SHARED", least)
        with threadpool_limits(n_threads, user_api="blas"):
            model = TwinGaussianProcess(x_kernel=kernel).fit(X, Y)
            found.append((model.cv_error_, model.alpha_x_, model.predict(X[:5]).tolist()))
    assert found[0] == found[1]
