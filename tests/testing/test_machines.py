"""Smoothers, regressors that leave rows out and machines that hold expansions keep contracts."""

import pytest

from isthmus.coreset import (
    CoreVectorClassifier,
    CoreVectorOutlierDetector,
    CoreVectorRanker,
    CoreVectorRegressor,
    MinimumEnclosingBall,
)
from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian, Spectrum
from isthmus.manifold import UnsupervisedKernelRegression
from isthmus.regression import GaussianProcess, KernelRidgeCV, LocalPolynomialRegression
from isthmus.structured import DependencyEstimator
from isthmus.testing import (
    all_estimators,
    check_expansion_holder,
    check_left_out,
    check_smoother,
)
from isthmus.typing import provides

from .data import CLASSES, CURVE, GRAM, OUTPUTS, VECTORS, WORDS, name
from .foreign import NeighborMean, PlainMean, RidgeMachine

LENGTHS = [float(len(word)) for word in WORDS]
SMOOTHERS = [
    (KernelRidgeCV(), VECTORS, OUTPUTS),
    (KernelRidgeCV(fit_intercept=False), VECTORS, OUTPUTS[:, 0]),
    (KernelRidgeCV(Spectrum(2)), WORDS, LENGTHS),
    (GaussianProcess(n_init=1), VECTORS, OUTPUTS),
    (LocalPolynomialRegression(1), VECTORS, OUTPUTS),
    (LocalPolynomialRegression(0, density_kernel="quartic", bandwidth=2.0), VECTORS, OUTPUTS[:, 0]),
    (NeighborMean(), VECTORS, OUTPUTS),
]
LEAVING_OUT = [
    (KernelRidgeCV(), VECTORS, OUTPUTS),
    (KernelRidgeCV(), VECTORS, OUTPUTS[:, 0]),
    (KernelRidgeCV("gaussian", fit_intercept=False), VECTORS, OUTPUTS[:, :1]),
    (KernelRidgeCV(Gaussian(2.0), alpha=0.0), VECTORS, OUTPUTS),
    (KernelRidgeCV(n_landmarks=12), VECTORS, OUTPUTS),
    (KernelRidgeCV(Spectrum(2)), WORDS, LENGTHS),
    (KernelRidgeCV("precomputed"), GRAM, OUTPUTS),
    (PlainMean(), VECTORS, OUTPUTS),
]
HOLDERS = [
    (KernelPCA(4), VECTORS, None),
    (KernelPCA(4, kernel=Spectrum(2)), WORDS, None),
    (KernelRidgeCV(), VECTORS, OUTPUTS),
    (GaussianProcess(n_init=1), VECTORS, OUTPUTS),
    (CoreVectorClassifier(), VECTORS, CLASSES),
    (CoreVectorRegressor(), VECTORS, OUTPUTS[:, 0]),
    (CoreVectorOutlierDetector(), VECTORS, None),
    (CoreVectorRanker(), VECTORS, OUTPUTS[:, 0]),
    (MinimumEnclosingBall(), VECTORS, None),
    (DependencyEstimator(), VECTORS, OUTPUTS),
    (DependencyEstimator(x_features=KernelPCA(5)), VECTORS, OUTPUTS),
    (
        UnsupervisedKernelRegression(
            1, data_kernel="gaussian", init="pca", homotopy=None, random_state=0
        ),
        CURVE,
        None,
    ),
    (RidgeMachine(), VECTORS, OUTPUTS),
]


@pytest.mark.parametrize(("smoother", "objects", "y"), SMOOTHERS, ids=name)
def test_smoother(smoother, objects, y):
    facts = check_smoother(smoother, objects, y).facts
    assert ("every row of weights sums to one, as it declares" in facts) == smoother.sums_to_one


def test_no_smoother_is_left_out():
    classes = [e.cls for e in all_estimators("regression")]
    smoothers = {cls for cls in classes if "weights" in provides(cls())}
    assert smoothers <= {type(smoother) for smoother, _, _ in SMOOTHERS}


@pytest.mark.parametrize(("regressor", "objects", "y"), LEAVING_OUT, ids=name)
def test_regressor_that_leaves_rows_out(regressor, objects, y):
    facts = check_left_out(regressor, objects, y).facts
    assert "a row's own output does not change its prediction" in facts


def test_nobody_who_leaves_rows_out_is_left_out():
    classes = [e.cls for e in all_estimators() if e.name != "ManifoldClassifier"]  # needs one
    leaving = {cls for cls in classes if "left_out" in provides(cls())}
    assert leaving == {type(regressor) for regressor, _, _ in LEAVING_OUT} - {PlainMean}


@pytest.mark.parametrize(("machine", "objects", "y"), HOLDERS, ids=name)
def test_holder_of_an_expansion(machine, objects, y):
    check_expansion_holder(machine, objects, y)


def test_no_holder_is_left_out():
    holders = {e.cls for e in all_estimators() if hasattr(e.cls, "with_expansion")}
    left_out = {c for c in holders if c.__name__ == "ImitationModel"}  # it takes pictures
    assert holders - left_out <= {type(machine) for machine, _, _ in HOLDERS}
