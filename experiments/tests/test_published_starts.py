"""Starts of unsupervised kernel regression as published, and what training compares with rows."""

import numpy as np
import pytest
from isthmus_experiments.experiments._ukr import DEGREES, LOSSES, fit_from, published_fit
from isthmus_experiments.experiments._ukr_starts import (
    best_start,
    isomap_candidates,
    left_out_objective,
    left_out_reconstructions,
)

from isthmus.datasets import make_noisy_spiral, make_noisy_swiss_roll


@pytest.fixture(scope="module")
def spiral():
    return make_noisy_spiral(120, noise=0.03, spacing="arc", random_state=0)[0]


def test_embeddings_of_a_sheet_keep_its_proportions():
    Y, places = make_noisy_swiss_roll(1000, noise=0.0, random_state=0)
    for Z in isomap_candidates(Y, 2, 2):
        longer, shorter = Z.std(axis=0)
        # The roll is 88 long and 30 high.
        assert 2 < longer / shorter < 4.5
        assert abs(np.corrcoef(Z[:, 0], places[:, 0])[0, 1]) > 0.95


@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("degree", ["constant", "quadratic"])
@pytest.mark.parametrize("loss", list(LOSSES))
def test_objective_of_a_start_is_that_of_the_estimator(spiral, degree, loss, k):
    options = {"validation": k, **DEGREES[degree], **LOSSES[loss]}
    Z = 8 * np.linspace(-1, 1, len(spiral))[:, None]
    model = published_fit(spiral, 1, steps=0, init=Z, **options)
    value = left_out_objective(spiral, **options)(Z)[0]
    np.testing.assert_allclose(value, model.objective_, rtol=1e-9)


def test_best_start_has_the_least_error_over_candidates_and_scales(spiral):
    candidates = isomap_candidates(spiral, 1, 3)
    objective = left_out_objective(spiral)
    found = objective(best_start(spiral, candidates))[0]
    for Z in candidates:
        for scale in np.geomspace(1.0, 20.0, 30):
            assert found <= 1.02 * objective(scale * Z / Z.std())[0]


def test_training_goes_on_from_the_start(spiral):
    candidates = isomap_candidates(spiral, 1, 2)
    start = fit_from(candidates, spiral, 0)
    assert fit_from(candidates, spiral, 50).objective_ < start.objective_


def test_left_out_reconstructions_are_refits_without_the_rows(spiral):
    model = fit_from(isomap_candidates(spiral, 1, 1), spiral, 20, validation=3)
    found = left_out_reconstructions(spiral, model, validation=3)
    X, away = model.embedding_[:, 0], np.linalg.norm(spiral[:, None] - spiral, axis=2)
    for i in (0, 40, 119):
        kept = np.argsort(away[i])[3:]
        weight = np.maximum(1 - (X[kept] - X[i]) ** 2, 0) ** 2
        np.testing.assert_allclose(found[i], weight @ spiral[kept] / weight.sum(), rtol=1e-8)
