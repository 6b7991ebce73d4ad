"""Trials of a choice that share a side of the pairs: equal to those that compute all."""

import numpy as np
import pytest

from isthmus.kernels import Gaussian
from isthmus.regression import Selection
from isthmus.structured import TwinGaussianProcess, TwinKernelLearner
from isthmus.structured.twin import trials
from isthmus.structured.twin.recall import Recall


def pairs(n=60):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])


@pytest.mark.parametrize("criterion", ["kl", "inverse_kl", "hsic"])
@pytest.mark.parametrize("x_kernel", [None, Gaussian(0.2)], ids=["scaled", "given"])
def test_recalled_sides_change_no_choice(monkeypatch, criterion, x_kernel):
    X, Y = pairs()
    model = TwinGaussianProcess(criterion=criterion, x_kernel=x_kernel)
    found = model.fit(X, Y)
    fast = found.cv_error_, found.alpha_x_, found.alpha_y_, found.predict(X[:5])

    class NothingKept(Recall):
        def __call__(self, name, key, make):
            return make()

    monkeypatch.setattr(trials, "Recall", NothingKept)
    found = TwinGaussianProcess(criterion=criterion, x_kernel=x_kernel).fit(X, Y)
    assert fast[:3] == (found.cv_error_, found.alpha_x_, found.alpha_y_)
    np.testing.assert_array_equal(fast[3], found.predict(X[:5]))


@pytest.mark.parametrize("criterion", ["kl", "inverse_kl"])
def test_a_trial_of_degrees_does_not_depend_on_those_before(criterion):
    X, Y = pairs()
    model = TwinGaussianProcess(criterion=criterion, learner=TwinKernelLearner())
    common = {"x_scale": 1.0, "y_scale": 0.5, "alpha_x": 1e-2, "alpha_y": 0.1}

    def compared():
        return trials.Trials(model, trials.make_folds(Selection(3), X, Y), None)

    shared = compared()
    for degrees in ((1, 1), (4, 1), (1, 4), (4, 4), (1, 1)):
        settings = common | dict(zip(("x_degree", "y_degree"), degrees, strict=True))
        shared.best = None  # nothing is given up
        assert shared.error(settings) == compared().error(settings)


def test_only_the_newest_are_kept():
    recall, calls = Recall(n_kept=2), []
    for key in (1, 2, 1, 3, 1, 2):
        recall("square", key, lambda key=key: calls.append(key))
    assert calls == [1, 2, 3, 2]


@pytest.mark.parametrize("criterion", ["kl", "inverse_kl"])
def test_kept_forms_of_tried_outputs_change_no_prediction(monkeypatch, criterion):
    from isthmus.structured.twin.bridge import ExactBridge

    X, Y = pairs()
    model = TwinGaussianProcess(criterion=criterion, tune=None).fit(X, Y)
    kept = model.predict(X[:7])
    np.testing.assert_array_equal(kept, model.predict(X[:7]))
    monkeypatch.setattr(ExactBridge, "tried", None)
    computed = TwinGaussianProcess(criterion=criterion, tune=None).fit(X, Y)
    np.testing.assert_allclose(kept, computed.predict(X[:7]), atol=1e-8)


@pytest.mark.parametrize("criterion", ["kl", "inverse_kl", "hsic"])
def test_trials_that_learn_nothing_change_no_choice(monkeypatch, criterion):
    from isthmus.structured.twin import sides

    X, Y = pairs()
    learner = TwinKernelLearner(x_degree=(1, 3), y_degree=(1, 3))
    found = TwinGaussianProcess(criterion=criterion, learner=learner).fit(X, Y)
    fast = found.alpha_x_, found.alpha_y_, found.learner_.x_kernel_, found.learner_.y_kernel_
    monkeypatch.setattr(sides, "leaves_kernels", lambda *_: False)
    monkeypatch.setattr(sides, "untransformed", lambda kernel: kernel)
    slow = TwinGaussianProcess(criterion=criterion, learner=learner).fit(X, Y)
    assert fast == (slow.alpha_x_, slow.alpha_y_, slow.x_kernel_, slow.y_kernel_)
    if slow.x_kernel_.coefficients == (1.0,):
        assert found.x_kernel_ == slow.x_kernel_.base
    assert found.cv_error_ == pytest.approx(slow.cv_error_, rel=1e-6)
    np.testing.assert_allclose(found.predict(X[:5]), slow.predict(X[:5]), atol=1e-8)
