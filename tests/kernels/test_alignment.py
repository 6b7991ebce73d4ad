"""Kernels of time series."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.kernels import DistanceKernel, DTWKernel, GlobalAlignment, Normalized
from isthmus.kernels.series.alignment_loops import log_alignment
from isthmus.series import dtw, edit_matrix


def plain(x, z, similarity):
    """The recursion as it is printed."""
    M = np.zeros((len(x) + 1, len(z) + 1))
    M[0, 0] = 1
    for i in range(len(x)):
        for j in range(len(z)):
            M[i + 1, j + 1] = similarity(i, j) * (M[i, j] + M[i, j + 1] + M[i + 1, j])
    return M[-1, -1]


def series(rng, n=10, channels=2):
    return [rng.normal(size=(length, channels)) for length in rng.integers(3, 12, n)]


@pytest.mark.parametrize("triangle", [None, 1, 3, 6])
@pytest.mark.parametrize("local", ["geometric", "exponential"])
def test_it_is_the_printed_recursion(triangle, local, rng):
    X, gamma = series(rng), 0.3
    K = GlobalAlignment(gamma, triangle=triangle, local=local, normalize=False)(X)
    for a, x in enumerate(X):
        for b, z in enumerate(X):

            def similarity(i, j, x=x, z=z):
                e = np.exp(-gamma * ((x[i] - z[j]) ** 2).sum())
                if triangle is not None:
                    e *= max(0, 1 - abs(i - j) / triangle)
                return e / (2 - e) if local == "geometric" else e

            assert K[a, b] == pytest.approx(plain(x, z, similarity), rel=1e-12)


def test_published_values():
    x, z = [1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 3.0]  # gamma = 1 / (2 sigma²), sigma = 2
    assert GlobalAlignment(1 / 8, normalize=False)([x], [z])[0, 0] == pytest.approx(
        15.3582, abs=5e-5
    )
    assert GlobalAlignment(1 / 8)([x], [z])[0, 0] == pytest.approx(0.839337, abs=5e-7)


def test_alignments_of_equal_elements_are_counted():
    k = GlobalAlignment(1.0, normalize=False)
    assert k([np.zeros(3)])[0, 0] == pytest.approx(13)  # Delannoy numbers
    assert k([np.zeros(4)])[0, 0] == pytest.approx(63)


def test_it_is_between_the_best_alignment_and_as_many_as_there_are(rng):
    x, z = rng.normal(size=4), rng.normal(size=4)
    k = GlobalAlignment(0.5, local="exponential", normalize=False)([x], [z])[0, 0]
    best = np.exp(-0.5 * dtw(x, z))
    assert best < k < 63 * best


@pytest.mark.parametrize("gamma", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("triangle", [None, 40])
def test_the_fast_form_has_the_logarithm_of_the_slow_one(gamma, triangle, rng):
    X = rng.normal(size=(6, 150)).cumsum(axis=1)
    kernel = GlobalAlignment(gamma, triangle=triangle)
    columns = [x[:, None] for x in X]
    T = np.inf if triangle is None else float(triangle)
    slow = [[log_alignment(a, b, gamma, T, (2.0, 1.0)) for b in columns] for a in columns]
    own = np.diag(slow)
    assert_allclose(kernel(X), np.exp(slow - own[:, None] / 2 - own / 2), rtol=1e-9, atol=1e-300)


def test_long_series_stay_in_the_range(rng):
    X = rng.normal(size=(3, 2000))
    K = GlobalAlignment()(X)
    assert_array_equal(np.diag(K), 1)
    assert np.isfinite(K).all()
    # log k(x, x) at γ → 0 is the logarithm of a Delannoy number: checked value of N = 2000.
    nearly_equal = log_alignment(np.zeros((2000, 1)), np.zeros((2000, 1)), 1.0, np.inf, (1.0, 0.0))
    with pytest.raises(ValueError, match=r"overflows: k = exp\("):
        GlobalAlignment(1.0, normalize=False)(np.zeros((1, 2000)))
    assert nearly_equal == pytest.approx(3519.37386, abs=1e-4)


@pytest.mark.parametrize("triangle", [None, 2, 3])
def test_the_geometric_form_is_positive(triangle, rng):
    X = [rng.normal(size=n) for n in rng.integers(3, 7, 60)]
    for gamma in (0.05, 0.5, 2.0):
        K = GlobalAlignment(gamma, triangle=triangle)(X)
        assert np.linalg.eigvalsh(K).min() > -1e-12


def test_series_of_too_different_lengths_do_not_meet_in_a_triangle(rng):
    assert GlobalAlignment(1.0, triangle=3)([rng.normal(size=4)], [rng.normal(size=7)])[0, 0] == 0


def test_a_triangle_of_one_is_lock_step(rng):
    x, z = rng.normal(size=6), rng.normal(size=6)
    e = np.exp(-((x - z) ** 2))
    k = GlobalAlignment(1.0, triangle=1, normalize=False)([x], [z])[0, 0]
    assert k == pytest.approx(np.prod(e / (2 - e)))


def test_normalizing_twice_changes_nothing(rng):
    X = series(rng)
    expected = GlobalAlignment(0.2)(X)
    assert_allclose(Normalized(GlobalAlignment(0.2))(X), expected)
    assert_allclose(Normalized(GlobalAlignment(0.2, normalize=False))(X), expected, rtol=1e-10)


def test_the_median_width_makes_it_free_of_scale(rng):
    X = series(rng)
    assert_allclose(GlobalAlignment()([1000 * x for x in X]), GlobalAlignment()(X), rtol=1e-7)


def test_threads_change_nothing(rng):
    X = rng.normal(size=(70, 12))
    one, three = GlobalAlignment(0.1, n_jobs=1), GlobalAlignment(0.1, n_jobs=3)
    assert_array_equal(one(X), three(X))


def test_warping_similarity_is_its_formula(rng):
    X = series(rng)
    expected = np.exp([[-0.1 * dtw(a, b, window=3) for b in X] for a in X])
    assert_allclose(DTWKernel(0.1, window=3)(X), expected)
    assert_allclose(DTWKernel(0.1, window=3)(X[:4], X), expected[:4])


def test_median_of_distances(rng):
    X = rng.normal(size=(9, 6))
    D = -np.log(DTWKernel(1.0)(X))
    median = np.median(D[np.triu_indices(9, 1)])
    assert DTWKernel().resolve(X).gamma == pytest.approx(1 / median)
    assert DTWKernel().resolve([[1.0, 2.0]] * 3).gamma == 1


def test_a_kernel_of_edit_distances():
    words = ["kitten", "sitting", "mitten"]
    D = edit_matrix(words)
    assert_allclose(DistanceKernel(edit_matrix, gamma=0.2)(words), np.exp(-0.2 * D))
    assert_allclose(DistanceKernel(edit_matrix, form="squared")(words), -0.5 * D**2)
    assert_allclose(DistanceKernel(edit_matrix).diag(words), 1)
    assert_allclose(DistanceKernel(edit_matrix, form="squared").diag(words), 0)


@pytest.mark.parametrize(
    ("kernel", "X", "message"),
    [
        (GlobalAlignment(-1.0), [[1.0]], "'gamma' parameter of GlobalAlignment"),
        (GlobalAlignment("mean"), [[1.0]], "'gamma' parameter of GlobalAlignment"),
        (GlobalAlignment(triangle=0), [[1.0]], "'triangle' parameter of GlobalAlignment"),
        (GlobalAlignment(local="linear"), [[1.0]], "'local' parameter of GlobalAlignment"),
        (GlobalAlignment(), [[1.0], [np.nan]], "series 1 of X. Got nan at position 0"),
        (GlobalAlignment(), [[1.0], []], "series 1 of X. Got an empty series"),
        (DTWKernel(0.0), [[1.0]], "'gamma' parameter of DTWKernel"),
        (DTWKernel(), [[np.inf]], "series 0 of X. Got inf at position 0"),
        (DistanceKernel(edit_matrix, form="cubic"), ["a"], "'form' parameter of DistanceKernel"),
        (DistanceKernel(lambda X, Z: np.ones(2), gamma=1.0), ["a"], r"of shape \(1, 1\)"),
    ],
)
def test_bad_input_is_named(kernel, X, message):
    with pytest.raises(ValueError, match=message):
        kernel(X)
