"""One table of errors against rank."""

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from isthmus.features import KernelPCA
from isthmus.regression import ReducedRankRegression, StiefelRegression, compare_ranks
from isthmus.structured import DependencyEstimator


@pytest.fixture(name="data")
def planted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    F = rng.normal(size=(5, 2)) @ rng.normal(size=(2, 6))
    return X, X @ F.T + rng.normal(size=(120, 5))


def test_table_has_one_row_for_each_estimator_rank_and_fold(data):
    models = {
        "RRR": ReducedRankRegression(),
        "PLS": PLSRegression(scale=False),
        "PCR": make_pipeline(PCA(), LinearRegression()),
        "ridge": Ridge(),
    }
    table = compare_ranks(*data, models, ranks=[1, 2, 5], cv=4)
    assert len(table) == 4 * 3 * 4
    assert not table.duplicated(["estimator", "rank", "fold"]).any()
    assert set(table.columns) >= {"estimator", "rank", "fold", "rmse", "train_rmse"}
    mean = table.groupby(["estimator", "rank"]).rmse.mean()
    assert mean["RRR", 2] == mean["RRR"].min()
    assert mean["RRR", 2] < mean["PLS", 2] < mean["PCR", 2]
    assert mean["ridge"].nunique() == 1


@pytest.mark.parametrize(
    "model",
    [ReducedRankRegression(alpha=0.3), ReducedRankRegression(alpha=[0.01, 100.0], cv=3)],
)
def test_errors_are_those_of_plain_cross_validation(data, model):
    table = compare_ranks(*data, [model], ranks=[1, 3], cv=KFold(3))
    for rank in (1, 3):
        scores = cross_val_score(
            model.set_params(rank=rank),
            *data,
            cv=KFold(3),
            scoring="neg_root_mean_squared_error",
        )
        ours = table[table["rank"] == rank].rmse.to_numpy()
        # scikit-learn averages the roots over outputs, which is never more.
        assert (ours >= -scores - 1e-12).all()
        mse = cross_val_score(model, *data, cv=KFold(3), scoring="neg_mean_squared_error")
        np.testing.assert_allclose(ours**2, -mse, rtol=1e-9)


def test_rank_of_a_regressor_in_a_slot_is_found(data):
    model = DependencyEstimator(
        x_features=KernelPCA(20, kernel="gaussian"),
        regressor=StiefelRegression(1, alpha=1e-2),
    )
    table = compare_ranks(*data, {"kernel": model}, ranks=[1, 2], cv=2)
    assert table.groupby("rank").train_rmse.mean().diff().iloc[-1] < 0


def test_equal_types_get_names_of_their_own_and_no_ranks_are_refused(data):
    models = [ReducedRankRegression(), ReducedRankRegression(alpha=1.0)]
    table = compare_ranks(*data, models, ranks=[1], cv=2)
    assert sorted(table.estimator.unique()) == [
        "ReducedRankRegression-1",
        "ReducedRankRegression-2",
    ]
    with pytest.raises(ValueError, match="at least one rank"):
        compare_ranks(*data, models, ranks=[])
