"""Whoever learns from blocks learns the same from every container of the same blocks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import clone

from isthmus.coreset import (
    CoreVectorClassifier,
    CoreVectorOutlierDetector,
    CoreVectorRegressor,
    MinimumEnclosingBall,
)
from isthmus.dependence import coco, hsic, mmd
from isthmus.features import KernelPCA, SlowFeatureAnalysis, Whitening
from isthmus.kernels import Gaussian
from isthmus.manifold import KHarmonicMeans, SmoothPSOM
from isthmus.regression import (
    BayesianLinearRegression,
    GaussianProcess,
    Inducing,
    KernelRidgeCV,
    ReducedRankRegression,
    StiefelRegression,
)
from isthmus.sparse import KSVD, NonnegativeFactorization, SparseDictionary
from isthmus.structured import DependencyEstimator

da = pytest.importorskip("dask.array")
pytestmark = [
    pytest.mark.usefixtures("threads"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
]

N, CHUNK = 120, 60
RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(N, 4))) + 0.1
WEIGHTS = RNG.normal(size=(4, 2))
OUTPUTS = {
    "two": np.tanh(X @ WEIGHTS),
    "one": np.sin(X[:, 0]),
    "labels": (X[:, 0] > X[:, 1]).astype(int),
    None: None,
}
SEED = {"random_state": 0}
SOME = {"n_landmarks": 15, **SEED}
KERNEL = {"kernel": Gaussian(0.3), **SEED}


def predicted(model):
    return lambda X_, y: model().fit(X_, y).predict(X[:9])


def learned(model, name):
    return lambda X_, y: getattr(model().fit(X_), name)


FOLDS = {
    "ReducedRankRegression": (predicted(ReducedRankRegression), "two"),
    "StiefelRegression": (predicted(lambda: StiefelRegression(1, loss="huber")), "two"),
    "BayesianLinearRegression": (predicted(BayesianLinearRegression), "two"),
    "KernelRidgeCV": (predicted(lambda: KernelRidgeCV(Gaussian(0.3), **SOME)), "two"),
    "DependencyEstimator": (
        predicted(
            lambda: DependencyEstimator(
                x_features=KernelPCA(kernel="gaussian", **SOME),
                y_features=KernelPCA(2, kernel="gaussian", **SOME),
            )
        ),
        "two",
    ),
    "GaussianProcess": (
        predicted(lambda: GaussianProcess(approximation=Inducing(9), n_init=1, max_iter=3, **SEED)),
        "one",
    ),
    "SlowFeatureAnalysis": (learned(lambda: SlowFeatureAnalysis(2), "slowness_"), None),
    "Whitening": (learned(lambda: Whitening(2), "components_"), None),
    "KernelPCA": (learned(lambda: KernelPCA(3, kernel="gaussian", **SOME), "eigenvalues_"), None),
    "SmoothPSOM": (lambda X, y: SmoothPSOM((3, 3)).fit(X, latent=y).weights_, "two"),
    "KSVD": (
        learned(lambda: KSVD(4, n_nonzero=2, max_iter=2, **SEED), "components_"),
        None,
    ),
    "SparseDictionary": (
        learned(lambda: SparseDictionary(4, max_iter=2, **SEED), "components_"),
        None,
    ),
    "NonnegativeFactorization": (
        learned(lambda: NonnegativeFactorization(2, max_iter=3, **SEED), "objective_"),
        None,
    ),
    "KHarmonicMeans": (learned(lambda: KHarmonicMeans(2, **SEED), "inertia_"), None),
    "MinimumEnclosingBall": (
        learned(lambda: MinimumEnclosingBall(**SEED), "radius_"),
        None,
    ),
    "CoreVectorClassifier": (
        lambda X_, y: CoreVectorClassifier(**KERNEL).fit(X_, y).decision_function(X[:9]),
        "labels",
    ),
    "CoreVectorRegressor": (predicted(lambda: CoreVectorRegressor(tube=0.3, **KERNEL)), "one"),
    "CoreVectorOutlierDetector": (
        learned(lambda: CoreVectorOutlierDetector(**KERNEL), "offset_"),
        None,
    ),
    "hsic": (hsic, "two"),
    "hsic of low rank": (lambda X, y: hsic(X, y, approximation="nystroem"), "two"),
    "coco of low rank": (lambda X, y: coco(X, y, approximation="nystroem"), "two"),
    "mmd": (lambda X, y: mmd(X, lambda: iter([OUTPUTS["two"] @ WEIGHTS.T])), None),
}


def blocks_of(A):
    return [A[i : i + CHUNK] for i in range(0, N, CHUNK)]


def containers(A, folder, name):
    """The rows of A in the same blocks, in what no other test gives to an estimator."""
    import dask
    import dask.bag
    import dask.dataframe as dd
    import h5py
    import pandas as pd
    import pyarrow.dataset

    flat = A.ndim == 1
    table = pd.DataFrame(A[:, None] if flat else A).add_prefix(name)
    parts = blocks_of(table)
    (folder / name).mkdir()
    for i, part in enumerate(parts):
        part.to_parquet(folder / name / f"part-{i}.parquet", index=False)
    columns = [part.iloc[:, 0] for part in parts] if flat else parts
    return {
        "h5py": h5py.File(folder / f"{name}.h5", "w").create_dataset(
            "A", data=A, chunks=(CHUNK, *A.shape[1:])
        ),
        "pyarrow": pyarrow.dataset.dataset(folder / name, format="parquet"),
        "dask dataframe": dd.from_delayed(
            [dask.delayed(part) for part in columns], meta=columns[0].iloc[:0]
        ),
        "dask bag": dask.bag.from_delayed([dask.delayed(list(part)) for part in blocks_of(A)]),
    }


@pytest.mark.parametrize("name", FOLDS)
def test_every_fold_takes_every_container(name, tmp_path):
    fit, needed = FOLDS[name]
    y = OUTPUTS[needed]
    expected = fit(lambda: iter(blocks_of(X)), y)
    outputs = {} if y is None else containers(y, tmp_path, "y")
    for kind, rows in containers(X, tmp_path, "x").items():
        # A file has no blocks of its own but for whole chunks; one block rounds differently.
        rtol = 1e-6 if kind == "h5py" else 1e-9
        if not (kind == "h5py" and name in OTHER_PATHS):
            found = np.reshape(fit(rows, outputs.get(kind)), np.shape(expected))  # of one column
            assert_allclose(found, expected, rtol=rtol, err_msg=kind)


# What ends elsewhere where the blocks are others.
OTHER_PATHS = {
    "CoreVectorClassifier",
    "CoreVectorRegressor",
    "CoreVectorOutlierDetector",
    "MinimumEnclosingBall",
}


def test_lists_that_are_no_rows_of_numbers_are_refused():
    import dask.bag

    words = dask.bag.from_sequence(["a", "b", "c"], npartitions=2)
    with pytest.raises(TypeError, match="needs numbers in X"):
        ReducedRankRegression().fit(words, np.ones(3))
    ragged = iter([[np.ones(3), np.ones(2)]])
    with pytest.raises(ValueError, match=r"equal length in X\. Got others in the first"):
        ReducedRankRegression().fit(ragged, np.ones(2))
    for model in (ReducedRankRegression(), KernelRidgeCV("linear", **SOME)):
        with pytest.raises(TypeError, match="takes no sparse blocks"):
            model.fit(lambda: iter([csr_array(np.eye(3))]), np.ones(3))
    with pytest.raises(ValueError, match=r"reads the rows several times \(core sets first"):
        CoreVectorClassifier().fit(iter(blocks_of(X)), OUTPUTS["labels"])


@pytest.mark.parametrize(
    ("model", "outputs"),
    [
        (ReducedRankRegression(2, alpha=1.0), "two"),
        (KernelRidgeCV(**SOME), "one"),
        (GaussianProcess(approximation=Inducing(20), **SEED), "one"),
        (CoreVectorRegressor(**KERNEL), "one"),
        (CoreVectorClassifier(**KERNEL), "labels"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_blocks_may_be_pairs_of_rows_and_outputs(model, outputs):
    Y = OUTPUTS[outputs]

    def pairs():
        return zip(blocks_of(X), blocks_of(Y), strict=True)

    found = clone(model).fit(pairs).predict(X)
    expected = clone(model).fit(lambda: iter(blocks_of(X)), Y).predict(X)
    assert_allclose(found, expected, rtol=1e-10)
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        clone(model).fit(lambda: iter(blocks_of(X)))
