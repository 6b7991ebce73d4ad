"""Random walks on the Stiefel manifold have the laws that they should have."""

import numpy as np
import pytest

from isthmus.optimize import haar_sample, stiefel_metropolis, tangent_gaussian_step


def test_proposal_stays_on_the_manifold_and_short_steps_have_their_length(rng):
    V = haar_sample(6, 2, rng)
    squares = []
    for _ in range(2000):
        W = tangent_gaussian_step(V, 0.01, rng)
        np.testing.assert_allclose(W.T @ W, np.eye(2), atol=1e-12)
        squares.append(np.sum((W - V) ** 2))
    # (n - r) r entries outside the span and twice r (r - 1) / 2 within it, each 0.01² / 2.
    assert np.mean(squares) == pytest.approx((4 * 2 + 2) * 0.5e-4, rel=0.05)


def test_flat_density_gives_the_uniform_law(rng):
    found = stiefel_metropolis(
        lambda V: 0.0, np.eye(4)[:, :2], n_samples=3000, rng=rng, thin=2, n_warmup=200
    )
    assert found.acceptance == 1
    mean = np.mean([V @ V.T for V in found.draws], axis=0)
    np.testing.assert_allclose(mean, np.eye(4) / 2, atol=0.05)


@pytest.mark.parametrize("concentration", [1.0, 4.0])
def test_directions_around_an_axis_have_their_mean(rng, concentration):
    found = stiefel_metropolis(
        lambda V: concentration * V[0, 0], np.eye(3)[:, :1], n_samples=4000, rng=rng, thin=3
    )
    wanted = 1 / np.tanh(concentration) - 1 / concentration
    assert found.draws[:, 0, 0].mean() == pytest.approx(wanted, abs=0.05)
    assert found.draws.shape == (4000, 3, 1)
    np.testing.assert_allclose(
        found.log_densities, concentration * found.draws[:, 0, 0], atol=1e-12
    )
    assert 0.1 < found.acceptance < 0.7


def test_excluded_points_are_never_drawn(rng):
    found = stiefel_metropolis(
        lambda V: 0.0 if V[0, 0] > 0 else -np.inf, np.eye(3)[:, :1], n_samples=300, rng=rng
    )
    assert found.draws[:, 0, 0].min() > 0


def test_bad_starts_are_refused(rng):
    with pytest.raises(ValueError, match="orthonormal columns"):
        stiefel_metropolis(lambda V: 0.0, np.ones((3, 2)), n_samples=1, rng=rng)
    with pytest.raises(ValueError, match="positive density"):
        stiefel_metropolis(lambda V: -np.inf, np.eye(3)[:, :1], n_samples=1, rng=rng)
