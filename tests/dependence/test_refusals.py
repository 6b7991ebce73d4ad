import numpy as np
import pytest

from isthmus.dependence import (
    cka,
    coco,
    dependence_matrix,
    distance_correlation,
    distance_covariance,
    hsic,
    independence_test,
    mmd,
    partial_distance_correlation,
    two_sample_test,
)
from isthmus.kernels import FunctionKernel

PAIRED = [hsic, cka, coco, distance_correlation, distance_covariance, independence_test]
x = np.arange(5.0)


@pytest.mark.parametrize("measure", PAIRED)
def test_unequal_lengths_are_named(measure):
    with pytest.raises(ValueError, match=r"equal length.*Got 5, 4 objects"):
        measure(x, x[:4])


@pytest.mark.parametrize("measure", PAIRED)
def test_missing_values_are_refused(measure):
    with pytest.raises(ValueError, match="contains NaN"):
        measure(x, np.array([0, 1, np.nan, 2, 3]))


@pytest.mark.parametrize("measure", [hsic, cka, distance_correlation, distance_covariance])
def test_the_unbiased_estimator_names_how_many_it_needs(measure):
    with pytest.raises(ValueError, match=r"unbiased estimator.*at least 4 objects. Got 3"):
        measure(x[:3], x[:3], unbiased=True)
    with pytest.raises(ValueError, match=r"at least 2 objects. Got 1"):
        measure(x[:1], x[:1])


def test_partial_needs_three_of_equal_length():
    with pytest.raises(ValueError, match="Got 5, 5, 4 objects"):
        partial_distance_correlation(x, x, x[:4])


def test_samples_of_two_spaces_are_refused():
    with pytest.raises(ValueError, match="Got 2 and 1 columns"):
        mmd(np.ones((4, 2)), np.ones((3, 1)))
    with pytest.raises(ValueError, match=r"at least 2 objects in each sample. Got 5 and 1"):
        two_sample_test(x, x[:1], unbiased=True)
    with pytest.raises(ValueError, match=r"Precomputed\(matrix\)"):
        mmd(np.eye(3), np.eye(3), kernel="precomputed")


@pytest.mark.parametrize("exponent", [0, -1, 2.1, "one"])
def test_exponents_beyond_their_range_are_refused(exponent):
    with pytest.raises((TypeError, ValueError), match=r"float in \(0.0, 2.0\]. Got"):
        distance_covariance(x, x, exponent=exponent)


def test_matrices_that_are_no_distances_are_refused():
    options = {"metric": "precomputed"}
    with pytest.raises(ValueError, match="square matrix"):
        distance_covariance(np.ones((3, 2)), np.ones((3, 2)), **options)
    with pytest.raises(ValueError, match="symmetric"):
        distance_covariance(np.triu(np.ones((3, 3)), 1), np.zeros((3, 3)), **options)
    with pytest.raises(ValueError, match="zero on the diagonal"):
        distance_covariance(np.eye(3), np.zeros((3, 3)), **options)
    with pytest.raises(ValueError, match="'euclidean', 'precomputed'"):
        distance_covariance(x, x, metric="manhattan")


def test_kernels_that_are_none_are_refused():
    indefinite = FunctionKernel(lambda a, b: -abs(a - b), pairwise_calls=True)
    with pytest.raises(ValueError, match="positive semi-definite"):
        coco([1.0, 2.0, 4.0], x[:3], x_kernel=indefinite)
    infinite = FunctionKernel(lambda a, b: np.inf, pairwise_calls=True)
    with pytest.raises(ValueError, match="not finite"), np.errstate(invalid="ignore"):
        hsic([1.0, 2.0, 4.0], x[:3], x_kernel=infinite)


def test_tests_name_what_they_offer():
    with pytest.raises(ValueError, match=r"'hsic', 'dcor', 'coco'. Got 'pearson'"):
        independence_test(x, x, statistic="pearson")
    with pytest.raises(ValueError, match=r"statistic='hsic'\) must be one of.*Got 't'"):
        independence_test(x, x, method="t")
    with pytest.raises(ValueError, match="'n_permutations' parameter of independence_test"):
        independence_test(x, x, n_permutations=0)
    with pytest.raises(ValueError, match="coco has no unbiased"):
        independence_test(x, x, statistic="coco", unbiased=True)
    with pytest.raises(ValueError, match=r"at least 4 objects. Got 3"):
        independence_test(x[:3], x[:3], method="gamma")


def test_hsic_norms_are_named():
    with pytest.raises(ValueError, match=r"'n', 'n-1'. Got 'm'"):
        hsic(x, x, norm="m")
    with pytest.raises(ValueError, match="biased estimator"):
        hsic(x, x, norm="n-1", unbiased=True)


def test_unknown_columns_of_groups_are_named():
    with pytest.raises(ValueError, match=r"Got \[7\] instead"):
        dependence_matrix(np.ones((4, 2)), [[0], [7]])
    with pytest.raises(ValueError, match="Expected 2 names"):
        dependence_matrix(np.ones((4, 2)), names=["a"])
    with pytest.raises(ValueError, match=r"'dcor', 'dcov', 'hsic', 'cka'. Got 'mi'"):
        dependence_matrix(np.ones((4, 2)), measure="mi")


def test_text_is_told_which_measures_take_it():
    words = ["a", "b", "a", "c"]
    with pytest.raises(ValueError, match=r"got text.*Name a kernel for text"):
        hsic(words, np.arange(4.0))
    with pytest.raises(ValueError, match=r"holds text. Use hsic"):
        distance_correlation(words, np.arange(4.0))


def test_memory_is_looked_for_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("isthmus._memory.available_bytes", lambda: 10 * 2**30)
    rows = np.arange(50_000.0)
    with pytest.raises(MemoryError, match=r"coco needs 37.3 GiB .* 10.0 GiB are available.*hsic"):
        coco(rows, rows)
