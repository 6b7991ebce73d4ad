"""Local principal components and charts: limits, densities, gradients, hard cases."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal, spearmanr
from sklearn.decomposition import PCA

from isthmus.datasets import make_half_circle, make_noisy_spiral
from isthmus.manifold import Charting, LocalPCA
from isthmus.manifold.local.alignment import align

METHODS = ("mixture", "reconstruction", "kmeans")


@pytest.fixture
def rows(rng):
    return rng.normal(size=(90, 4)) * [3, 2, 0.5, 0.3] + [1, 2, 3, 4]


@pytest.mark.parametrize("method", METHODS)
def test_one_plane_is_principal_components(method, rows):
    local, pca = LocalPCA(2, n_models=1, method=method).fit(rows), PCA(2).fit(rows)
    assert_allclose(local.reconstruct(rows), pca.inverse_transform(pca.transform(rows)), atol=1e-8)
    assert_allclose(local.variances_[0], pca.explained_variance_ * 89 / 90)


def test_density_of_one_plane_is_that_of_probabilistic_components(rows):
    local = LocalPCA(2, n_models=1).fit(rows)
    V = local.components_[0]
    rest = local.noises_[0] * (np.eye(4) - V.T @ V)
    covariance = V.T @ np.diag(local.variances_[0]) @ V + rest
    expected = multivariate_normal(local.means_[0], covariance).logpdf(rows)
    assert_allclose(local.score_samples(rows), expected)


def test_as_many_dimensions_as_columns_is_a_mixture_of_gaussians(rng):
    Y = np.vstack([rng.normal(size=(40, 2)), 9 + rng.normal(size=(40, 2))])
    local = LocalPCA(5, n_models=2).fit(Y)
    assert local.components_.shape == (2, 2, 2)
    assert_allclose(local.reconstruct(Y), Y)
    assert_allclose(np.sort(local.shares_), [0.5, 0.5], atol=1e-6)


def test_em_raises_the_likelihood():
    Y, _ = make_half_circle(100, noise=0.5, random_state=0)
    values = []
    for n in (1, 2, 5, 20):
        with pytest.warns(match="has not settled"):
            local = LocalPCA(1, n_models=4, max_iter=n, tol=0.0).fit(Y)
        values.append(local.score_samples(Y).mean())
    assert np.all(np.diff(values) >= -1e-9)


def test_planes_that_reconstruct_lose_less_than_cells():
    Y, _ = make_half_circle(200, noise=2.0, random_state=0)
    by_cells = LocalPCA(1, n_models=4, method="kmeans").fit(Y).score(Y)
    assert LocalPCA(1, n_models=4, method="reconstruction").fit(Y).score(Y) > by_cells


@pytest.mark.parametrize("method", METHODS)
def test_codes_go_back_to_reconstructions(method):
    Y, _ = make_half_circle(100, noise=0.3, random_state=0)
    local = LocalPCA(1, n_models=4, method=method).fit(Y)
    codes = local.transform(Y)
    assert_allclose(local.inverse_transform(codes), local.reconstruct(Y))
    assert_allclose(codes[:, 0], local.nearest_model(Y))
    assert_allclose(local.labels_, local.nearest_model(Y))
    assert_allclose(local.responsibilities(Y).sum(axis=1), 1)


def test_blending_is_continuous():
    Y, _ = make_half_circle(100, noise=0.3, random_state=0)
    t = np.linspace(0, np.pi, 4000)
    line = 10 * np.c_[np.cos(t), np.sin(t)]
    local = LocalPCA(1, n_models=4, method="kmeans").fit(Y)
    jumps = np.linalg.norm(np.diff(local.reconstruct(line), axis=0), axis=1).max()
    blended = local.set_params(blend=True).reconstruct(line)
    assert np.linalg.norm(np.diff(blended, axis=0), axis=1).max() < 0.1 * jumps


def test_chart_of_one_plane_is_principal_components(rows):
    chart, pca = Charting(2, local=LocalPCA(n_models=1)).fit(rows), PCA(2).fit(rows)
    assert_allclose(chart.reconstruct(rows), pca.inverse_transform(pca.transform(rows)), atol=1e-5)
    gaps = chart.embedding_[:, None] - chart.embedding_
    scores = pca.transform(rows)
    assert_allclose(
        np.linalg.norm(gaps, axis=2),
        np.linalg.norm(scores[:, None] - scores, axis=2),
        atol=1e-5,
    )


def test_planes_of_a_flat_sheet_are_aligned_without_error(rng):
    flat = rng.uniform(-1, 1, size=(200, 2))
    centres = np.array([[-0.5, 0.0], [0.5, 0.3], [0.0, -0.6]])
    turns = np.array([np.linalg.qr(rng.normal(size=(2, 2)))[0] for _ in centres])
    Z = np.stack([(flat - c) @ Q for c, Q in zip(centres, turns, strict=True)], axis=1)
    R = rng.dirichlet(np.ones(3), size=200)
    A = align(turns.transpose(0, 2, 1), Z, R)
    places = A[:, 0] + np.einsum("nkq,kqr->nkr", Z, A[:, 1:])
    assert_allclose(places[:, 1:], places[:, :1].repeat(2, axis=1), atol=1e-5)
    gaps = np.linalg.norm(places[:, None, 0] - places[:, 0], axis=2)
    assert_allclose(gaps, np.linalg.norm(flat[:, None] - flat, axis=2), atol=1e-4)


def test_a_plane_without_rows_does_not_matter(rng):
    Z = rng.normal(size=(50, 3, 2))
    R = np.column_stack([rng.dirichlet(np.ones(2), size=50), np.zeros(50)])
    assert np.isfinite(align(np.tile(np.eye(2), (3, 1, 1)), Z, R)).all()


@pytest.mark.parametrize(
    ("make", "n_models"), [(make_half_circle, 6), (make_noisy_spiral, 16)], ids=["half", "spiral"]
)
def test_charts_follow_curves(make, n_models):
    Y, place = make(300, random_state=0)
    chart = Charting(1, local=LocalPCA(n_models=n_models)).fit(Y)
    assert abs(spearmanr(chart.embedding_[:, 0], place)[0]) > 0.99


def test_jacobian(rng, assert_gradient):
    Y, _ = make_half_circle(100, noise=0.3, random_state=0)
    chart = Charting(1, overlap=4.0, local=LocalPCA(n_models=4)).fit(np.c_[Y, Y[:, :1] ** 2 / 10])
    d = rng.normal(size=3)
    assert_gradient(
        lambda z: float(chart.evaluate(z[None]).values[0] @ d),
        lambda z: d @ chart.evaluate(z[None], jacobian=True).jacobian[0],
        np.array([1.3]),
        rng,
    )


@pytest.mark.parametrize("cls", [LocalPCA, Charting])
@pytest.mark.parametrize("shape", [(30, 1), (30, 2), (5, 3), (2, 2)])
def test_small_and_flat_data(cls, shape, rng):
    Y = rng.normal(size=shape)
    model = cls(2).fit(Y)
    assert np.isfinite(model.transform(Y)).all()
    if shape != (5, 3):
        assert np.mean(model.reconstruction_error(Y)) < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_repeated_rows(method, rng):
    Y = np.repeat(rng.normal(size=(10, 3)), 6, axis=0)
    codes = LocalPCA(1, n_models=3, method=method).fit(Y).transform(Y)
    assert_allclose(codes[::6], codes[5::6], atol=1e-9)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LocalPCA(n_models=30), "distinct row"),
        (LocalPCA(method="voronoi"), "method"),
        (Charting(overlap=0), "overlap"),
        (Charting(local=PCA()), "local"),
    ],
    ids=str,
)
def test_bad_parameters(model, message, rng):
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(rng.normal(size=(20, 3)))


def test_equal_rows_and_bad_codes_are_refused(rng):
    with pytest.raises(ValueError, match="needs rows that differ"):
        LocalPCA(1).fit(np.ones((10, 2)))
    local = LocalPCA(1, n_models=2).fit(rng.normal(size=(20, 3)))
    with pytest.raises(ValueError, match="the number of a model, from 0 to 1"):
        local.inverse_transform([[2.0, 0.0]])


def test_equal_rows_have_no_chart():
    with pytest.raises(ValueError, match="Charting needs rows that differ"):
        Charting(1).fit(np.ones((12, 3)))
