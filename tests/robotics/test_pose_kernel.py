"""The kernel of postures."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian, Kernel, Laplacian, Polynomial
from isthmus.preimage import ConstrainedPreimage
from isthmus.robotics import KinematicChain, PoseKernel, pa10

BASES = ["linear", Gaussian.from_width(450.0), Polynomial(2, gamma=1e-6)]


@pytest.fixture
def postures(rng):
    return rng.uniform(-1, 1, size=(50, 7))


def test_linear_base_counts_elbow_and_wrist_twice(postures):
    P = pa10().positions(postures)
    elbow, wrist, flange = P[:, 2], P[:, 4], P[:, 6]
    expected = 2 * elbow @ elbow.T + 2 * wrist @ wrist.T + flange @ flange.T
    assert_allclose(PoseKernel(pa10())(postures), expected, rtol=1e-12)


def test_linear_base_has_nine_components_and_never_the_published_thirteen(postures):
    pca = KernelPCA(kernel=PoseKernel(pa10())).fit(postures)
    assert pca.n_components_ == 9
    with pytest.raises(ValueError, match=r"\[1, 9\] \(rank of the Gram matrix\)"):
        KernelPCA(13, kernel=PoseKernel(pa10())).fit(postures)


def test_gaussian_base_of_about_450_mm_has_the_published_number_of_components(postures):
    found = {
        width: KernelPCA(0.95, kernel=PoseKernel(pa10(), base=Gaussian.from_width(width)))
        .fit(postures)
        .n_components_
        for width in (400.0, 450.0, 600.0)
    }
    assert found[400.0] >= 12 > found[600.0]
    assert 11 <= found[450.0] <= 14


@pytest.mark.parametrize("base", BASES, ids=repr)
class TestEveryBase:
    def test_last_joint_is_invisible(self, base, postures):
        k = PoseKernel(pa10(), base=base)
        turned = postures + np.r_[np.zeros(6), 0.7]
        assert_allclose(k(postures, turned), k(postures), rtol=1e-9)

    def test_gradients(self, base, postures, rng, assert_gradient):
        k = PoseKernel(pa10(), base=base).resolve(postures)
        X, Z = postures[:4], postures[4:9]
        W = rng.normal(size=(4, 5))
        assert_gradient(
            lambda X: (W * k.gram(X, Z)).sum(), lambda X: k.weighted_gradient(X, Z, W), X, rng
        )
        assert_gradient(lambda X: k.diag(X).sum(), k.diag_gradient, X, rng)

    def test_gram_is_symmetric_positive_with_its_diagonal(self, base, postures):
        k = PoseKernel(pa10(), base=base)
        K = k(postures)
        assert_allclose(K, K.T)
        assert np.linalg.eigvalsh(K).min() > -1e-9 * np.linalg.eigvalsh(K).max()
        assert_allclose(k.diag(postures), np.diag(K), rtol=1e-9)

    def test_many_functions_at_once_are_those_of_the_general_form(self, base, postures, rng):
        k = PoseKernel(pa10(), base=base).resolve(postures)
        B = rng.normal(size=(20, 3))
        fast = k.values_and_slopes(postures[:20], B)(postures[20:24])
        slow = Kernel.values_and_slopes(k, postures[:20], B)(postures[20:24])
        for ours, general in zip(fast, slow, strict=True):
            assert_allclose(ours, general, rtol=1e-8, atol=1e-8 * np.abs(general).max())

    def test_copies_compute_the_same(self, base, postures):
        k = PoseKernel(pa10(), base=base)
        for copy in (clone(k), pickle.loads(pickle.dumps(k))):
            assert_allclose(copy(postures), k(postures))

    def test_single_precision_stays(self, base, postures):
        k = PoseKernel(pa10(), base=base)
        single = k(postures.astype(np.float32))
        assert single.dtype == np.float32
        assert_allclose(single, k(postures), rtol=1e-4)

    def test_postures_come_back_within_the_limits_of_the_arm(self, base, postures):
        chain = pa10()
        pca = KernelPCA(kernel=PoseKernel(chain, base=base)).fit(postures)
        solver = ConstrainedPreimage(chain).fit(postures, pca)
        goal = pca.transform(postures[:5])
        found = solver.solve(goal, start=postures[:5] + 0.05)
        assert chain.within_limits(found).all()
        assert_allclose(chain.positions(found), chain.positions(postures[:5]), atol=0.1)
        assert_allclose(found[:, 6], postures[:5, 6] + 0.05)  # nothing moves what is not seen


def test_weights_choose_joints(postures):
    hand_only = PoseKernel(pa10(), weights=[0, 0, 0, 0, 0, 0, 1])
    hand = pa10().positions(postures)[:, 6]
    assert_allclose(hand_only(postures), hand @ hand.T)


def test_any_chain_and_any_smooth_base():
    chain = KinematicChain([[0, 1, 0], [0, 1, 0]], convention="standard")
    q = np.random.default_rng(0).uniform(-1, 1, size=(6, 2))
    K = PoseKernel(chain, base=Laplacian(1.0))(q)
    assert_allclose(np.diag(K), 2.0)
    assert_allclose(PoseKernel(chain)(np.zeros((1, 2))), 1 + 4)


def test_bad_input_is_named(postures):
    with pytest.raises(ValueError, match=r"joint vectors of 7 entries\. Got shape"):
        PoseKernel(pa10())(postures[:, :6])
    for weights in ([1, 1], [-1, 0, 0, 0, 0, 0, 1], np.zeros(7)):
        with pytest.raises(ValueError, match="'weights' parameter of PoseKernel must hold 7"):
            PoseKernel(pa10(), weights=weights)(postures)
