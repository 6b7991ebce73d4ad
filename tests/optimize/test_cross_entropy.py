"""The cross-entropy method on problems whose answer is known."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.optimize.elite_search import (
    Binomial,
    Categorical,
    CrossEntropySearch,
    cross_entropy,
    update_parameters,
)
from isthmus.preimage.discrete.base import largest_remainder
from isthmus.preimage.discrete.sequence_loops import decode_insertions
from isthmus.preimage.discrete.sequence_search import (
    batch_of,
    neighbours,
    permutation_code,
    rescale_code,
)


def test_counting_ones_reaches_the_optimum(rng):
    found = cross_entropy(
        lambda Z: Z.sum(axis=1).astype(float),
        Binomial(np.ones(30, dtype=int)),
        np.full(30, 0.5),
        CrossEntropySearch(n_samples=200, patience=10),
        rng,
    )
    assert found.value == 0
    assert (np.diff(found.levels) < 0).all()


def test_a_small_assignment_problem_reaches_the_optimum(rng):
    price = rng.random((6, 6))
    best = min(sum(price[i, j] for i, j in enumerate(p)) for p in permutations(range(6)))

    def cost(Z):
        orders = decode_insertions(Z, np.arange(6))
        return price[np.arange(6), orders].sum(axis=1)

    family = Binomial(np.arange(6)[::-1])
    search = CrossEntropySearch(n_samples=200, patience=10)
    found = cross_entropy(cost, family, np.full(6, 0.5), search, rng)
    assert found.value == pytest.approx(best)


def test_categories_reach_the_optimum(rng):
    target = rng.integers(4, size=12)
    found = cross_entropy(
        lambda Z: (target != Z).sum(axis=1).astype(float),
        Categorical(4),
        np.full((12, 4), 0.25),
        CrossEntropySearch(n_samples=300, patience=10),
        rng,
    )
    assert found.value == 0
    assert (found.best == target).all()


def test_the_estimate_maximises_the_likelihood_of_the_elite(rng):
    trials = np.array([3, 1, 5])
    elite = rng.binomial(trials, 0.4, size=(20, 3))
    v = Binomial(trials).fit(elite)

    def log_likelihood(v):
        return (elite * np.log(v) + (trials - elite) * np.log1p(-v)).sum()

    for j in range(3):
        for step in (-1e-3, 1e-3):
            other = v.copy()
            other[j] += step
            assert log_likelihood(other) < log_likelihood(v)


def test_priors_are_the_minimum_of_their_objective(rng):
    F, last, a, lam, floor = rng.random(8), rng.random(8), 0.5, 0.3, 0.02
    search = CrossEntropySearch(n_samples=1, smoothing=a, sparsity=lam, floor=floor)
    elite = F[None]  # with one trial the estimate is the elite draw itself
    v = update_parameters(Binomial(np.ones(8, dtype=int)), elite, last, search)

    def objective(v):
        return a * (F - v) ** 2 + (1 - a) * (v - last) ** 2 + lam * v

    grid = np.linspace(floor, 1 - floor, 20001)[:, None]
    assert_allclose(v, grid[objective(grid).argmin(axis=0), 0], atol=1e-4)


def test_sparsity_takes_from_everything_but_nothing():
    family = Categorical(3)
    v = family.restrict(family.shrink(np.array([[0.2, 0.5, 0.3]]), 0.1), 0.01)
    assert_allclose(v, [[0.4, 0.4, 0.2]])
    assert_allclose(family.restrict(np.array([[0.0, 1.0, 1.0]]), 0.1).sum(axis=1), 1)


def test_void_iterations_end_the_search(rng):
    calls = []

    def cost(Z):
        calls.append(len(Z))
        return np.ones(len(Z))

    coins = Binomial(np.ones(3, dtype=int))
    cross_entropy(cost, coins, np.full(3, 0.5), CrossEntropySearch(n_samples=7, patience=4), rng)
    assert calls == [7] * 5  # the first sets the level, four are void


def test_the_example_of_the_document():
    symbols, code = permutation_code(np.array([0, 1, 4, 3, 1, 2, 5]))  # K e r n e l s
    assert symbols.tolist() == [0, 1, 1, 2, 3, 4, 5]
    assert code.tolist() == [0, 0, 2, 2, 1, 0, 0]
    assert decode_insertions(code[None], symbols)[0].tolist() == [0, 1, 4, 3, 1, 2, 5]


@pytest.mark.parametrize("seed", range(5))
def test_codes_come_back(seed):
    sequence = np.random.default_rng(seed).integers(4, size=15)
    symbols, code = permutation_code(sequence)
    assert (code <= np.arange(15)[::-1]).all()
    assert (decode_insertions(code[None], symbols)[0] == sequence).all()


def test_every_permutation_has_its_code():
    codes = np.array([[a, b, c, 0] for a in range(4) for b in range(3) for c in range(2)])
    found = decode_insertions(codes, np.arange(4))
    assert len({tuple(row) for row in found.tolist()}) == 24


def test_rescaled_codes_keep_the_order():
    assert_allclose(rescale_code(np.zeros(5, dtype=int), 7), 0)  # sorted stays sorted
    reverse = permutation_code(np.arange(5)[::-1])[1]
    assert_allclose(rescale_code(reverse, 9)[:-3], 1)


@pytest.mark.parametrize(("shares", "total"), [([0.2, 0.8], 7), ([-1, 0, 3], 4), ([0, 0], 3)])
def test_counts_sum_to_their_total(shares, total):
    counts = largest_remainder(np.array(shares, dtype=float), total)
    assert counts.sum() == total
    assert counts.min() >= 0


def test_neighbours_are_all_that_one_move_reaches():
    code = np.array([0, 1, 1])
    found = {len(t[0]): {tuple(r) for r in t.tolist()} for t in neighbours(code, 2, 2, 4)}
    everything = set(np.ndindex(2, 2, 2))
    # Not reached: the sequence itself and what two replacements of equal symbols give.
    assert found[3] == everything - {(0, 1, 1), (0, 0, 0), (1, 0, 0)}
    assert found[2] == {(1, 1), (0, 1)}
    assert (0, 1, 1, 1) in found[4]
    assert len(found[4]) == 5
    assert [len(t[0]) for t in neighbours(code, 2, 3, 3)] == [3]


def test_one_symbol_has_few_neighbours():
    assert neighbours(np.array([0]), 1, 1, 1) == []
    flat, starts = batch_of(neighbours(np.array([0]), 1, 1, 2)[0])
    assert flat.tolist() == [0, 0, 0, 0]
    assert starts.tolist() == [0, 2, 4]
