"""Codebooks of self-organising maps as smooth maps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.manifold import PSOM


def codebook(shape=(5, 4)):
    axes = np.meshgrid(*(np.linspace(-1, 1, n) for n in shape), indexing="ij")
    return np.stack([*axes, axes[0] * axes[-1]], axis=-1)


class Trained:
    """What packages return, with the weights under any of their names."""

    def __init__(self, name, weights, topology="rectangular"):
        self.topology = topology
        setattr(self, name, (lambda: weights) if name == "get_weights" else weights)


@pytest.mark.parametrize("name", ["get_weights", "codebook", "unsuper_som_", "weights"])
def test_a_trained_map_is_its_weights(name):
    W = codebook()
    plain = PSOM.from_codebook(W)
    model = PSOM.from_codebook(Trained(name, W))
    assert_array_equal(model.weights_, W)
    assert_array_equal(model.nodes, plain.nodes)
    Z = np.random.default_rng(0).uniform(-1, 1, size=(20, 2))
    x, y = Z.T
    assert_allclose(model.inverse_transform(Z), np.c_[x, y, x * y], atol=1e-12)
    assert_allclose(model.transform(np.c_[x, y, x * y]), Z, atol=1e-6)


def test_rows_of_a_grid_chains_and_windows():
    W = codebook()
    flat = PSOM.from_codebook(W.reshape(-1, 3), grid=(5, 4))
    assert_array_equal(flat.weights_, W)
    chain = PSOM.from_codebook(W[:, 0])
    assert chain.embedding_.shape == (5, 1)
    assert chain.local is None
    large = codebook((12, 9))
    assert PSOM.from_codebook(large).local == 3
    assert PSOM.from_codebook(large.reshape(-1, 3), grid=(12, 9)).local == 3
    assert PSOM.from_codebook(large, local=5, outside="raise").get_params()["local"] == 5
    # Windows do not ring: a codebook with noise is followed, not amplified.
    noisy = large + 0.02 * np.random.default_rng(0).normal(size=large.shape)
    Z = np.random.default_rng(1).uniform(-1, 1, size=(200, 2))
    truth = np.c_[Z, Z[:, 0] * Z[:, 1]]
    error = abs(PSOM.from_codebook(noisy).inverse_transform(Z) - truth).max()
    assert error < 0.2
    assert error < abs(PSOM.from_codebook(noisy, local=None).inverse_transform(Z) - truth).max()


def test_what_is_no_codebook_is_named():
    with pytest.raises(TypeError, match=r"PSOM.from_codebook needs an array .* get_weights"):
        PSOM.from_codebook(object())
    with pytest.raises(ValueError, match=r"rectangular grid of units\. Got a hexagonal one"):
        PSOM.from_codebook(Trained("codebook", codebook(), topology="hexagonal"))
    with pytest.raises(ValueError, match=r"'codebook' parameter of PSOM.from_codebook must be"):
        PSOM.from_codebook(np.full((3, 3, 2), np.nan))
    with pytest.raises(ValueError, match="nodes that match its grid"):
        PSOM.from_codebook(codebook().reshape(-1, 3), grid=(5, 5))
