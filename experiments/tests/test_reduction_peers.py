"""Rivals of supervised reduction find planted directions, and fail where they must."""

import numpy as np
import pytest
from isthmus_experiments.experiments._reduction.kernels import (
    _bell,
    _cut_off,
    gkdr,
    held_out_loss,
    information,
    lsdr,
    sca,
)
from isthmus_experiments.experiments._reduction.slices import lad, save, sir


def directions(method, X, y, d, rng):
    if method in (sir, save, lad):
        return method(X, y, d)
    return method(X, y, d, rng)


def worst_angle(B, d):
    """Largest angle in degrees between the span of B and that of the first d axes."""
    Q = np.linalg.qr(B)[0]
    return np.degrees(np.arccos(np.linalg.svd(Q[:d], compute_uv=False).min().clip(-1, 1)))


@pytest.mark.parametrize("method", [sir, save, lad, gkdr, sca, lsdr], ids=lambda m: m.__name__)
def test_planted_direction_of_a_monotone_tie_is_found(rng, method):
    X = rng.normal(size=(1500, 8))
    y = np.tanh(X[:, 0]) + 0.1 * rng.normal(size=1500)
    limit = 25 if method is sca else 15
    assert worst_angle(directions(method, X, y, 1, rng), 1) < limit


@pytest.mark.parametrize("method", [save, lad, gkdr], ids=lambda m: m.__name__)
def test_even_tie_is_found_by_variances_and_kernels(rng, method):
    X = rng.normal(size=(2000, 8))
    y = X[:, 0] ** 2 + 0.1 * rng.normal(size=2000)
    assert worst_angle(directions(method, X, y, 1, rng), 1) < 15


@pytest.mark.parametrize(
    ("method", "kernel"), [(sca, _cut_off), (lsdr, _bell)], ids=["sca", "lsdr"]
)
@pytest.mark.parametrize("tie", ["even", "sum"])
def test_rivals_end_as_low_as_the_truth_in_their_own_criterion(rng, method, kernel, tie):
    X = rng.normal(size=(400, 8))
    d, y = (1, X[:, 0] ** 2) if tie == "even" else (2, X[:, 0] ** 2 + X[:, 1])
    y = y + 0.2 * rng.normal(size=400)
    y = (y - y.mean()) / y.std()
    seed = int(rng.integers(2**31))
    B = np.linalg.qr(method(X, y, d, np.random.default_rng(seed)))[0]
    ours, truth = (
        held_out_loss(X, y, C, np.random.default_rng(seed), kernel) for C in (B, np.eye(8)[:, :d])
    )
    independent = held_out_loss(X, y, np.eye(8)[:, -d:], np.random.default_rng(seed), kernel)
    assert ours - truth < 0.2 * (independent - truth)
    assert worst_angle(B, d) < 20


def test_even_tie_is_hidden_from_means_of_slices(rng):
    X = rng.normal(size=(2000, 8))
    y = X[:, 0] ** 2 + 0.1 * rng.normal(size=2000)
    assert worst_angle(sir(X, y, 1), 1) > 30


def test_more_directions_than_slices_are_possible(rng):
    X = rng.normal(size=(300, 13))
    assert np.linalg.matrix_rank(sir(X, X[:, 0], 11)) == 11


def test_outputs_with_many_ties_give_as_many_directions_as_they_can(rng):
    X = rng.normal(size=(300, 6))
    y = np.maximum(np.round(X[:, 0]), 0)
    assert sir(X, y, 5).shape == (6, len(np.unique(y)) - 1)


def test_information_has_its_gradient(rng, assert_gradient):
    X, outputs = rng.normal(size=(40, 5)), rng.uniform(size=(40, 10))
    f = information(X, X[:10], outputs, 1.5, 0.01)
    B = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    assert_gradient(lambda B: f(B)[0], lambda B: f(B)[1], B, rng)
