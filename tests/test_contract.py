"""Every public estimator against scikit-learn's checks, and the table of how they went."""

import inspect
from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from isthmus.features import DistanceCorrelationReduction, KernelPCA, SlowFeatureAnalysis
from isthmus.kernels import Gaussian
from isthmus.manifold import (
    PSOM,
    Annealing,
    Charting,
    CurvilinearComponents,
    GenerativeTopographicMapping,
    LocalPCA,
    PrincipalCurve,
    RegularizedPrincipalManifold,
    SmoothPSOM,
    UnsupervisedKernelRegression,
)
from isthmus.preimage import BasePreimage, LearnedPreimage, MinimumRiskPreimage
from isthmus.regression import (
    Committee,
    GaussianProcess,
    Inducing,
    KernelRidgeCV,
    LocalPolynomialRegression,
    ParameterBounds,
    SupportFeatureMachine,
)
from isthmus.sparse import (
    KSVD,
    ConvexFactorization,
    DictionaryClassifier,
    NonnegativeFactorization,
    SparseCoder,
    SparseDictionary,
    SparseNet,
)
from isthmus.structured import (
    DependencyClassifier,
    DependencyEstimator,
    TwinGaussianProcess,
    TwinKernelLearner,
)
from isthmus.testing import all_estimators

# Checks that one of ours cannot pass, with the reason; empty is the aim.
EXEMPT: dict[str, dict[str, str]] = {
    "KernelPCA": dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        "an axis has either sign, and a median width counts a row once; "
        "tests/features/test_kernel_pca_rows.py compares weights with copies up to the sign",
    ),
    "KHarmonicMeans": {
        "check_sample_weight_equivalence_on_dense_data": "centres begin at rows drawn at random, "
        "of which there are more where rows are repeated; scikit-learn exempts KMeans, too"
    },
    "TimeWindows": dict.fromkeys(
        ("check_methods_sample_order_invariance", "check_methods_subset_invariance"),
        "a window is made of neighbouring rows, so their order counts",
    ),
    "ConformalSets": dict.fromkeys(
        (
            "check_estimators_pickle",
            "check_methods_sample_order_invariance",
            "check_methods_subset_invariance",
            "check_fit_idempotent",
        ),
        "predictions are sets, of which the check takes differences; tests/structured compares "
        "their ends",
    )
    | dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        "weights are for the estimator's fit; calibration counts every row once",
    ),
}

# Settings worth a run of their own besides the defaults.
VARIANTS = [
    KernelPCA(kernel="linear"),
    KernelPCA(kernel=Gaussian(0.5), center=False),
    KernelPCA(n_landmarks=10, random_state=0),
    SlowFeatureAnalysis(expansion=2, lag=(1, 2)),
    SlowFeatureAnalysis(expansion="gaussian", n_landmarks=10, random_state=0),
    SlowFeatureAnalysis(graph="classes"),
    SlowFeatureAnalysis(graph="target", alpha=1e-3),
    SlowFeatureAnalysis(solver="online", max_iter=1, random_state=0),
    DistanceCorrelationReduction(1, solver="semi"),
    GaussianProcess(bounds=ParameterBounds(noise=(1e-3, 10.0)), n_init=1),
    # Multiplicative updates come close to a limit soon and reach it late.
    NonnegativeFactorization(2, divergence=1.5, tol=1e-3, random_state=0),
    NonnegativeFactorization(2, solver="projected", tol=1e-2, random_state=0),
    SparseDictionary(4, alpha=0.1, positive_atoms=True, max_iter=3, random_state=0),
    KernelRidgeCV(alpha=0.1, fit_intercept=False),
    LocalPolynomialRegression(0, bandwidth="loo-ard", density_kernel="student"),
    LocalPolynomialRegression(2, cross_terms=False, bandwidth=1.0),
    SupportFeatureMachine("margin", C=1.0, refit=False),
    GaussianProcess("ard", criterion="loo", n_init=2),
    GaussianProcess(approximation=Inducing(20), n_init=1),
    GaussianProcess(approximation=Inducing(20, bound=False), n_init=1),
    GaussianProcess(approximation=Committee(3), n_init=1),
    GaussianProcess("matern", noise=0.1, n_init=1),
    DistanceCorrelationReduction(solver="gradient"),
    DistanceCorrelationReduction(solver="gradient", mapping="linear"),
    GenerativeTopographicMapping(1, n_nodes=20, init="pca", alpha=0.1, coordinates="mode"),
    PSOM(basis="chebyshev", local=3),
    CurvilinearComponents(distance="euclidean", n_landmarks=15, random_state=0),
    PrincipalCurve("polygonal", random_state=0),
    PrincipalCurve("segments", closed=True, random_state=0),
    PrincipalCurve("generative", random_state=0),
    Charting(1, local=LocalPCA(n_models=3, method="kmeans")),
    LocalPCA(1, n_models=3, method="reconstruction", blend=True),
    RegularizedPrincipalManifold(1, regularizer="sparse", alpha=0.01, n_nodes=8, init="pca"),
    SmoothPSOM((6,), smoothness=0.1, annealing=Annealing(0.2)),
    KSVD(5, batch_size=10, max_iter=2, random_state=0),
    KSVD(update="exact", rule="correlation", monotone=True, max_iter=3, random_state=0),
    DictionaryClassifier(4, discrimination=10.0, max_iter=3, random_state=0),
    SparseCoder(n_nonzero=2),
    SparseCoder(algorithm="coordinate_descent", positive=True),
    SparseDictionary(5, batch_size=20, max_iter=2, random_state=0),
    SparseNet(5, solver="published", max_iter=2, random_state=0),
    SparseNet(5, prior="abs", batch_size=None, random_state=0),
    NonnegativeFactorization(2, divergence="kullback-leibler", random_state=0),
    NonnegativeFactorization(2, sparsity="park", random_state=0),
    NonnegativeFactorization(2, sparsity=0.3, tol=1e-2, random_state=0),
    ConvexFactorization(2, constraint="cone", random_state=0),
    ConvexFactorization(2, candidates="hull", random_state=0),
    UnsupervisedKernelRegression(1, density_kernel="gaussian", degree=0, random_state=0),
    UnsupervisedKernelRegression(1, n_landmarks=8, loss="huber", random_state=0),
    UnsupervisedKernelRegression(1, max_iter=500, data_kernel="linear", random_state=0),
    DependencyEstimator(y_features="gaussian"),
    DependencyEstimator(y_features="gaussian", preimage=LearnedPreimage()),
    DependencyEstimator(x_features=KernelPCA(kernel="gaussian"), y_features="passthrough"),
    DependencyEstimator(loss="squared"),
    DependencyEstimator(loss="absolute"),
    DependencyClassifier(class_weight="balanced", cv=3),
    TwinGaussianProcess(n_neighbors=15, tune=None),
    TwinGaussianProcess(n_landmarks=60, tune="ml"),
    TwinGaussianProcess(criterion="hsic", tune=None),
    TwinGaussianProcess(criterion="inverse_kl", tune=None),
    TwinGaussianProcess(learner=TwinKernelLearner(x_degree=2, y_degree=3), tune=None),
]

# Arguments without which a class makes no sense.
REQUIRED: dict[str, dict] = {
    "ManifoldClassifier": {
        "manifold": UnsupervisedKernelRegression(
            1, init="pca", homotopy=None, max_iter=60, tol=1.0, random_state=0
        )
    },
    "RegularizedPrincipalManifold": {"alpha": 0.01, "init": "pca"},
    "GaussianProcessClassifier": {"n_init": 1},  # many fits, whose starts do not matter
}


CLASSES = [estimator.cls for estimator in all_estimators()]


def estimators():
    # A pre-image is fitted on objects and a feature map, so scikit-learn's checks of fit(X, y)
    # do not apply to it; isthmus.testing.check_preimage is run for all of them.
    classes = [c for c in CLASSES if not issubclass(c, (BasePreimage, MinimumRiskPreimage))]
    built = [c(**REQUIRED.get(c.__name__, {})) for c in classes]
    # Nor are there checks for what takes pictures and no tables; tests/robotics has its own.
    return [e for e in built if e.__sklearn_tags__().input_tags.two_d_array] + VARIANTS


# The checks' tables are as small as slow feature analysis warns of, and some as hard to order.
@pytest.mark.filterwarnings("ignore:The core set has reached max_core")
@pytest.mark.filterwarnings("ignore:SlowFeatureAnalysis has .* independent functions")
@pytest.mark.filterwarnings("ignore:KHarmonicMeans has not converged")
@pytest.mark.filterwarnings("ignore:LocalPolynomialRegression. a polynomial of degree")
@pytest.mark.filterwarnings("ignore:UnsupervisedKernelRegression has found .* repeated rows")
@pytest.mark.filterwarnings("ignore:.* calibration rows are too few")
@pytest.mark.filterwarnings("ignore:MaximumVarianceUnfolding has not settled")
# A round cloud has no principal curve: whether one settles there is up to rounding.
@pytest.mark.filterwarnings("ignore:PrincipalCurve has not settled")
@pytest.mark.parametrize("estimator", estimators(), ids=lambda e: str(e)[:90])
def test_scikit_learn_checks(estimator, record_property):
    exempt = EXEMPT.get(type(estimator).__name__)
    results = check_estimator(estimator, expected_failed_checks=exempt, on_fail=None, on_skip=None)
    counts = Counter(result["status"] for result in results)
    record_property("contract", (str(estimator), dict(counts)))
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert not failed
    assert counts["passed"] > 30


@pytest.mark.filterwarnings("ignore")  # the table is small, and settling is not the point
@pytest.mark.parametrize(
    "estimator",
    [e for e in estimators()[: -len(VARIANTS)] if e.__sklearn_tags__().target_tags.required],
    ids=lambda e: type(e).__name__,
)
def test_a_failing_refit_leaves_the_former_fit(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(0.1, 1.0, size=(40, 4)), np.repeat([0, 1], 20)
    estimator = clone(estimator).fit(X, y)
    before = dict(vars(estimator))
    with pytest.raises(ValueError):
        estimator.fit(X[:, :3], y[:-3])
    assert vars(estimator).keys() == before.keys()
    assert all(vars(estimator)[name] is value for name, value in before.items())


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_clones_to_what_was_built(cls):
    estimator = cls(**REQUIRED.get(cls.__name__, {}))
    assert repr(clone(estimator)) == repr(estimator)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_everything_after_the_first_argument_is_keyword_only(cls):
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert len(positional) <= 1, positional


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_every_estimator_has_a_runnable_example(cls):
    assert ">>>" in (cls.__doc__ or "")
