import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from isthmus.dependence import (
    cka,
    dependence_matrix,
    distance_correlation,
    distance_covariance,
    hsic,
)

MEASURES = {
    "dcor": distance_correlation,
    "dcov": distance_covariance,
    "hsic": hsic,
    "cka": cka,
}


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("measure", MEASURES)
def test_entries_are_the_measures_of_pairs(rng, measure, unbiased):
    X = rng.normal(size=(150, 6))
    X[:, 5] = X[:, 0] ** 2
    M = dependence_matrix(X, measure=measure, unbiased=unbiased, n_jobs=2).to_numpy()
    assert_allclose(M, M.T)
    for a in range(6):
        for b in range(6):
            expected = MEASURES[measure](X[:, a], X[:, b], unbiased=unbiased)
            assert_allclose(M[a, b], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"exponent": 1.5}, {"exponent": 2}, {"measure": "cka"}])
def test_groups_of_columns(rng, options):
    X = rng.normal(size=(140, 6))
    groups = {"first": [0, 1], "one": 2, "rest": range(3, 6)}
    M = dependence_matrix(X, groups, **options)
    assert list(M.columns) == list(M.index) == ["first", "one", "rest"]
    kernel_free = {k: v for k, v in options.items() if k == "exponent"}
    measure = MEASURES[options.get("measure", "dcor")]
    assert_allclose(M.loc["first", "rest"], measure(X[:, :2], X[:, 3:], **kernel_free), rtol=1e-9)
    assert_allclose(np.diag(M), 1)


def test_columns_of_a_table_keep_their_names(rng):
    table = pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "c"])
    assert list(dependence_matrix(table).columns) == ["a", "b", "c"]
    assert list(dependence_matrix(table, [["a", "b"], "c"]).columns) == ["a, b", "c"]
    assert list(dependence_matrix(table, [["a", "b"], "c"], names="xy").index) == ["x", "y"]


def test_a_constant_column_is_tied_to_nothing(rng):
    X = np.column_stack([rng.normal(size=20), np.full(20, 0.1)])
    for measure in ("dcor", "cka"):
        M = dependence_matrix(X, measure=measure).to_numpy()
        assert_allclose(M, np.diag([1.0, 0.0]), atol=1e-12)


def test_collections_are_groups_themselves(rng):
    X, Y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    M = dependence_matrix({"x": X, "y": Y})
    assert list(M.columns) == ["x", "y"]
    assert_allclose(M.loc["x", "y"], distance_correlation(X, Y))
    assert_allclose(dependence_matrix([X, Y]), M)
    assert list(dependence_matrix([X, Y], names="ab").index) == ["a", "b"]


def test_groups_of_other_objects_have_kernels_of_their_own(rng):
    x = rng.normal(size=60)
    words = ["low" if v < 0 else "high" for v in x]
    M = dependence_matrix({"x": x, "w": words}, measure="hsic", kernel={"w": "delta"})
    assert_allclose(M.loc["x", "w"], hsic(x, words, y_kernel="delta"))


def test_collections_do_not_go_with_groups_of_columns(rng):
    with pytest.raises(ValueError, match="collections and groups of columns"):
        dependence_matrix({"x": rng.normal(size=9)}, [0])
    with pytest.raises(ValueError, match="Got 9, 8 objects"):
        dependence_matrix({"x": rng.normal(size=9), "y": rng.normal(size=8)})
