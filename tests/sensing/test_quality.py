"""Restricted isometry and the classical sampling theorem."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.sensing import (
    guaranteed_sparsity,
    mutual_coherence,
    phase_transition,
    recovery_constants,
    restricted_isometry,
    sensing_matrix,
    sinc_reconstruct,
)


def slow_constant(A, S):
    worst = 0.0
    for support in combinations(range(A.shape[1]), S):
        values = np.linalg.svd(A[:, support], compute_uv=False) ** 2
        worst = max(worst, abs(values[0] - 1), abs(values[-1] - 1))
    return worst


def test_constant_of_a_small_matrix_is_exact():
    A = sensing_matrix("gaussian", 10, 14, random_state=0)
    for S in (1, 2, 3):
        bounds = restricted_isometry(A, S)
        assert bounds.exact
        assert_allclose(bounds.lower, slow_constant(A, S))


def test_sampled_bounds_enclose_the_exact_constant():
    A = sensing_matrix("sphere", 20, 24, random_state=1)
    exact = restricted_isometry(A, 3).lower
    bounds = restricted_isometry(A, 3, n_supports=50, max_exact=0, random_state=0)
    assert not bounds.exact
    assert 0.9 * exact <= bounds.lower <= exact * (1 + 1e-12)
    assert exact <= bounds.upper <= 2 * mutual_coherence(A) + 1e-12


def test_exchanging_columns_raises_the_lower_bound():
    A = sensing_matrix("gaussian", 60, 120, random_state=0)
    G = A.T @ A
    rng = np.random.default_rng(0)
    drawn = 0.0
    for _ in range(200):
        support = rng.choice(120, 6, replace=False)
        values = np.linalg.eigvalsh(G[np.ix_(support, support)])
        drawn = max(drawn, abs(values[0] - 1), abs(values[-1] - 1))
    assert restricted_isometry(A, 6, n_supports=200, random_state=0).lower > 1.2 * drawn


def test_orthonormal_columns_have_constant_zero():
    assert restricted_isometry(np.eye(8), 3).upper < 1e-12
    assert guaranteed_sparsity(np.eye(8)) == 8


def test_constant_grows_with_the_number_of_entries():
    A = sensing_matrix("dct", 12, 16, random_state=0)
    found = [restricted_isometry(A, S).lower for S in (1, 2, 3, 4)]
    assert found == sorted(found)


def test_constants_of_the_bound_grow_without_limit():
    assert_allclose(recovery_constants(0.0), (2, 4))
    assert recovery_constants(0.414)[1] > 1000
    with pytest.raises(ValueError, match=r"0\.4142"):
        recovery_constants(0.42)


def test_transition_rises_from_nothing_to_everything():
    delta = np.array([1e-3, 0.1, 0.5, 0.9, 0.999])
    rho = phase_transition(delta)
    assert np.all(np.diff(rho) > 0)
    assert_allclose(phase_transition(0.5), 0.385, atol=2e-3)  # Donoho and Tanner
    assert rho[-1] > 0.95
    with pytest.raises(ValueError, match=r"in \(0, 1\)\. Got 1"):
        phase_transition(1)


@pytest.mark.parametrize("n_nonzero", [0, 30, 1.5])
def test_impossible_sparsity_is_refused(n_nonzero):
    message = r"'n_nonzero' parameter of restricted_isometry.*\[1, 20\]"
    with pytest.raises((TypeError, ValueError), match=message):
        restricted_isometry(np.ones((10, 20)), n_nonzero)


def test_samples_determine_a_band_limited_signal():
    def signal(t):
        return np.sinc(t / 4) ** 4  # falls like t^-4, no frequency of 1/2 and above

    n = np.arange(-400, 401)
    t = np.linspace(-3, 3, 101)
    found = sinc_reconstruct(signal(n), 1.0, t, start=-400)
    assert np.abs(found - signal(t)).max() < 1e-8
    assert_allclose(
        sinc_reconstruct(signal(n), 1.0, n[390:410], start=-400), signal(n[390:410]), atol=1e-12
    )


def test_a_frequency_above_the_limit_is_taken_for_another():
    T, f = 0.1, 3.0
    n = np.arange(200)
    assert_allclose(
        np.sin(2 * np.pi * f * n * T), np.sin(2 * np.pi * (f + 1 / T) * n * T), atol=1e-9
    )
    t = 10 + np.linspace(-0.5, 0.5, 7)
    fast = sinc_reconstruct(np.sin(2 * np.pi * (f + 1 / T) * n * T), T, t)
    assert_allclose(fast, np.sin(2 * np.pi * f * t), atol=0.02)


def test_sampling_refuses_what_it_cannot_use():
    with pytest.raises(ValueError, match=r"'period' of sinc_reconstruct.*Got 0"):
        sinc_reconstruct(np.ones(3), 0, [1.0])
    with pytest.raises(ValueError, match=r"series of samples. Got shape \(2, 2\)"):
        sinc_reconstruct(np.ones((2, 2)), 1, [1.0])
    assert sinc_reconstruct(np.ones(3), 1.0, np.zeros((2, 3))).shape == (2, 3)
