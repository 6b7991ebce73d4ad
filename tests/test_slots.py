"""Parameters of a part that is not there are refused with what to set first."""

import pytest

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.structured import DependencyEstimator


@pytest.mark.parametrize(
    ("estimator", "parameters", "message"),
    [
        (
            DependencyEstimator(),
            {"y_features__n_components": 3},
            r"'y_features' of DependencyEstimator is None, which has no parameter 'n_components'. "
            r"Set it first to a part that has one, such as y_features=KernelPCA\(\).",
        ),
        (
            KernelPCA(kernel="gaussian"),
            {"kernel__gamma": 2.0},
            r"'kernel' of KernelPCA is 'gaussian', which .* such as kernel=Gaussian\(\)",
        ),
        (
            DependencyEstimator(crossfit=5),
            {"crossfit__n": 2},
            "'crossfit' of DependencyEstimator is 5, which has no parameter 'n'.",
        ),
        (Gaussian(), {"gamma__x": 2.0}, "'gamma' of Gaussian is 'median', which has no parameter"),
    ],
)
def test_a_slot_without_a_part_says_what_to_set_first(estimator, parameters, message):
    with pytest.raises(ValueError, match=message):
        estimator.set_params(**parameters)


def test_part_and_parameter_may_be_set_together():
    model = DependencyEstimator().set_params(y_features=KernelPCA(), y_features__n_components=3)
    assert model.y_features.n_components == 3
    model.set_params(y_features__kernel=Gaussian(), y_features__kernel__gamma=2.0)
    assert model.y_features.kernel.gamma == 2.0


def test_an_unknown_parameter_is_still_named():
    with pytest.raises(ValueError, match="Invalid parameter 'rank'"):
        DependencyEstimator().set_params(rank=3)
    with pytest.raises(ValueError, match="Invalid parameter 'slot'"):
        DependencyEstimator().set_params(slot__rank=3)
