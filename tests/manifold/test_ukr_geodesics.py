"""A sheet that is still curled is told from a flat one by distances along the data."""

import numpy as np

from isthmus.manifold import UnsupervisedKernelRegression
from isthmus.manifold.ukr import choice
from isthmus.manifold.ukr.geodesics import Geodesics


def roll(n, seed):
    rng = np.random.default_rng(seed)
    t = 1.5 * np.pi * (1 + 2 * rng.uniform(size=n))
    height = 30 * rng.uniform(size=n)
    arc = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    return np.column_stack([t * np.cos(t), height, t * np.sin(t)]), arc, height


def explained(Z, values):
    A = np.column_stack([Z, np.ones(len(Z))])
    rest = values - A @ np.linalg.lstsq(A, values, rcond=None)[0]
    return 1 - rest.var() / values.var()


def test_agreement_knows_the_unrolled_sheet_in_any_units():
    Y, arc, height = roll(600, 0)
    geodesics = Geodesics(Y, np.random.default_rng(0))
    flat = geodesics.agreement(np.column_stack([arc / 7, 100 * height]))
    assert flat > 0.95
    assert geodesics.agreement(Y[:, [0, 2]]) < 0.5  # seen along its axis
    assert geodesics.agreement(np.zeros((600, 2))) <= 0


def test_rows_that_are_all_alike_or_few_agree_with_nothing():
    corners = np.eye(4)
    assert Geodesics(corners, np.random.default_rng(0)).agreement(corners[:, :2]) == 0.0


def test_a_curled_start_has_a_rival_and_the_lower_objective_wins(monkeypatch):
    Y, arc, _ = roll(400, 3)
    model = UnsupervisedKernelRegression(2, tol=0.05, random_state=0).fit(Y)
    monkeypatch.setattr(choice, "_with_rival", lambda Y, ranked, n_init, rng: ranked[:n_init])
    alone = UnsupervisedKernelRegression(2, tol=0.05, random_state=0).fit(Y)
    assert alone.start_ == "neighbors"
    assert model.start_.startswith("isomap")
    assert model.objective_ < alone.objective_
    assert explained(model.embedding_, arc) > explained(alone.embedding_, arc) + 0.3
