"""The fast paths of core sets against what they stand for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.coreset import engine
from isthmus.coreset.columns import KernelColumns
from isthmus.coreset.growth_loops import farthest
from isthmus.coreset.problems import KernelProblem, PairProblem
from isthmus.coreset.simplex import minimize_from
from isthmus.coreset.simplex_loops import descend
from isthmus.kernels import Gaussian, Linear


def _slow_descent(M, alpha, G, tol, max_iter, tie):
    """One pair at a time, as it is written down."""
    n, gap = len(alpha), 0.0
    for step in range(max_iter):
        i = int(np.flatnonzero(G.min() + tie * gap >= G)[0])
        holders = np.flatnonzero(alpha > 0)
        gap = G[holders].max() - G[i]
        gains = np.zeros(n)
        for k in holders:
            fall = G[k] - G[i]
            curvature = max(M[i, i] + M[k, k] - 2 * M[i, k], 1e-300)
            length = min(alpha[k], 0.5 * fall / curvature)
            gains[k] = length * fall - length**2 * curvature
        j = int(np.flatnonzero(gains >= (1 - tie) * gains.max())[0])
        if gap <= tol or gains[j] <= 0:
            return max(gap, 0.0), step
        curvature = max(M[i, i] + M[j, j] - 2 * M[i, j], 1e-300)
        reach = 0.9 if tie == 0 and step % 2 else 0.5
        length = min(alpha[j], reach * (G[j] - G[i]) / curvature)
        alpha[i] += length
        alpha[j] = 0.0 if alpha[j] - length < 1e-16 else alpha[j] - length
        G += 2 * length * (M[i, :n] - M[j, :n])
    return gap, max_iter


@pytest.mark.parametrize("tie", [0.0, 1e-10])
@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_the_descent_over_the_simplex_takes_the_same_steps_as_the_slow_one(rng, n, tie):
    A = rng.normal(size=(n + 3, 8))
    M, v = A @ A.T, rng.normal(size=n)
    results = []
    for way in (descend, _slow_descent):
        alpha = np.full(n, 1.0 / n)
        G = 2 * M[:n, :n] @ alpha + v
        gap, steps = way(M, alpha, G, 1e-3, 500, tie)
        assert_allclose(G, 2 * M[:n, :n] @ alpha + v, atol=1e-10)
        results.append((alpha, steps, gap))
    assert results[0][1] == results[1][1]
    assert_allclose(results[0][0], results[1][0], atol=1e-12)
    assert_allclose(results[0][2], results[1][2], atol=1e-10)


def test_two_equal_points_share_a_weight():
    M = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    alpha = np.array([1.0, 0.0, 0.0])
    gap, _ = descend(M, alpha, 2 * M @ alpha, 1e-12, 100, 0.0)
    assert gap <= 1e-12
    assert_allclose(alpha[:2].sum(), 0.5)


@pytest.mark.parametrize("megabytes", [10.0, 0.04, 1e-6])  # room for all, some and none
def test_sums_are_right_however_columns_come_and_go(rng, megabytes):
    X = rng.normal(size=(90, 2))
    kernel = Gaussian(0.5)
    columns = KernelColumns(kernel, X, megabytes)
    K = kernel(X)
    columns.watch(np.arange(90))
    used = rng.permutation(90)
    for size in (1, 2, 3, 40, 41, 80, 7, 90, 5):
        chosen = np.sort(rng.permutation(used[:size]))
        weights = rng.normal(size=size)
        assert_allclose(columns.sums(chosen, weights), K[:, chosen] @ weights, atol=1e-12)
        used = rng.permutation(used)


def test_the_matrix_of_pairs_has_four_kernels_for_each_two(rng):
    X, above, below = rng.normal(size=(30, 2)), *rng.integers(0, 30, size=(2, 300))
    problem = PairProblem(KernelColumns(Gaussian(0.5), X, 1.0), above, below, 10.0)
    rows, columns = np.arange(0, 300, 2), np.arange(5, 20)
    K = Gaussian(0.5)(X)
    formula = (
        K[np.ix_(above[rows], above[columns])] - K[np.ix_(above[rows], below[columns])]
        - K[np.ix_(below[rows], above[columns])] + K[np.ix_(below[rows], below[columns])]
    )  # fmt: skip
    assert_allclose(problem.gram(rows, columns), formula, atol=1e-14)


def test_points_that_join_continue_the_gradient_of_the_others(rng):
    X, signs = rng.normal(size=(300, 2)), np.where(rng.random(300) > 0.5, 1.0, -1.0)
    columns = KernelColumns(Gaussian(0.5), X, 10.0)
    problem = KernelProblem(columns, signs, 1.0, np.full(300, 0.1), rng.normal(size=300))
    core = engine._Core(problem, np.arange(0, 240, 2), 0.05, "relative", tie=0.0)
    core.solve(exactly=True)
    core.add(np.arange(1, 100, 2))
    afresh = 2 * core.M @ core.alpha + problem.v[core.points]
    assert_allclose(core.gradient, afresh, atol=1e-12)
    core.solve(exactly=True)
    start = np.full(len(core.points), 1 / len(core.points))
    slow, _ = minimize_from(core.M, problem.v[core.points], start, tol=0.1 * core.tolerance)
    objective = slow @ core.M @ slow + problem.v[core.points] @ slow
    assert core.objective == pytest.approx(objective, abs=core.tolerance)


@pytest.mark.parametrize("pairs", [False, True])
def test_points_that_cannot_matter_are_not_judged_and_the_rest_as_before(rng, pairs, monkeypatch):
    X = rng.normal(size=(400, 3))
    columns = KernelColumns(Gaussian(0.5), X, 10.0)
    if pairs:
        above, below = rng.integers(0, 400, size=(2, 600))
        problem = PairProblem(columns, above, below, 10.0)
    else:
        signs, v = np.repeat([1.0, -1.0], 400), rng.normal(size=800)
        problem = KernelProblem(columns, signs, 1.0, np.full(800, 0.1), v)
    m = len(problem)
    core = engine._Core(problem, np.arange(0, m, 2), 0.05, "relative", tie=0.0)
    everything = engine._Pool(problem, np.arange(m))
    core.solve(exactly=True)
    core.violations(everything)
    core.add(np.arange(1, 40, 2))
    core.alpha[[int(core.alpha.argmax()), -1]] += [-1e-4, 1e-4]  # the centre moves, and not far
    core._evaluate()
    monkeypatch.setattr(engine, "FEW", 1)
    some = core._that_matter()
    assert some is not None
    assert len(some) < m // 2
    found = core.violations(everything)
    core._judged = None
    slow = core.violations(everything)
    judged = np.isfinite(found)
    assert_allclose(found[judged], slow[judged], atol=1e-12)
    assert not np.any(slow[~judged] > 0)
    assert judged.sum() < np.isfinite(slow).sum()


@pytest.mark.parametrize("scale", [1e-120, 1.0, 1e120])
def test_the_bound_holds_in_any_units_and_for_points_that_repeat(rng, scale):
    X = np.repeat(rng.normal(size=(150, 2)), 2, axis=0) * scale
    X[:40] = 0.0
    problem = KernelProblem(
        KernelColumns(Linear(), X, 10.0), np.ones(300), 0.0, np.zeros(300), np.zeros(300)
    )
    core = engine._Core(problem, np.arange(100, 220), 0.05, "relative", tie=0.0)
    everything = engine._Pool(problem, np.arange(300))
    for new in (np.arange(220, 230), np.arange(230, 231)):
        core.solve(exactly=True)
        core.violations(everything)
        core.add(new)
    core.solve(exactly=True)
    some = core._that_matter()
    core._judged = None
    slow = core.violations(everything)
    assert some is None or set(np.flatnonzero(slow > 0)) <= set(some)


@pytest.mark.parametrize("number", [1, 8, 40])
def test_the_farthest_points_are_those_of_a_sort(number):
    rng = np.random.default_rng(number)
    values, v = rng.normal(size=60), rng.normal(size=60)
    slots = np.where(rng.random(60) < 0.5, -1, 0)
    price = np.where(slots < 0, 2 * values + v, np.inf)
    unknown = np.argsort(price, kind="stable")[: (slots < 0).sum()]
    found = farthest(values, v, slots, unknown[0], number)
    assert found.tolist() == unknown[:number].tolist()
    # The point that is to join is among them, whatever its price says.
    assert farthest(np.full(60, np.nan), v, slots, unknown[3], number).tolist() == [unknown[3]]
