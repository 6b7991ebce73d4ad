"""Elastic distances by name: against plain recursions, all paths, and their properties."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.series import alignment_matrix, dtw, elastic_matrix

METRICS = ("msm", "twe")
NAMES = (*METRICS, "lcss", "edr", "soft_dtw")


def some_series(seed=0, n=5, channels=1):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(int(rng.integers(2, 7)), channels)) for _ in range(n)]


def lcss(x, y, width=0.5):
    @cache
    def longest(i, j):
        if i == 0 or j == 0:
            return 0
        if np.linalg.norm(x[i - 1] - y[j - 1]) <= width:
            return 1 + longest(i - 1, j - 1)
        return max(longest(i - 1, j), longest(i, j - 1))

    return 1 - longest(len(x), len(y)) / min(len(x), len(y))


def edr(x, y, width=0.5):
    @cache
    def edits(i, j):
        if i == 0 or j == 0:
            return i + j
        differs = np.linalg.norm(x[i - 1] - y[j - 1]) > width
        return min(edits(i - 1, j - 1) + differs, edits(i - 1, j) + 1, edits(i, j - 1) + 1)

    return edits(len(x), len(y)) / max(len(x), len(y))


def msm(x, y, cost=0.7):
    a, b = x[:, 0], y[:, 0]

    def price(new, one, other):
        inside = min(one, other) <= new <= max(one, other)
        return cost if inside else cost + min(abs(new - one), abs(new - other))

    @cache
    def least(i, j):
        if i == 0 and j == 0:
            return abs(a[0] - b[0])
        ways = []
        if i and j:
            ways.append(least(i - 1, j - 1) + abs(a[i] - b[j]))
        if i:
            ways.append(least(i - 1, j) + price(a[i], a[i - 1], b[j]))
        if j:
            ways.append(least(i, j - 1) + price(b[j], a[i], b[j - 1]))
        return min(ways)

    return least(len(x) - 1, len(y) - 1)


def twe(x, y, stiffness=0.1, cost=0.7):
    zero = np.zeros((1, x.shape[1]))
    x, y = np.vstack([zero, x]), np.vstack([zero, y])

    def size(v):
        return float(np.linalg.norm(v))

    @cache
    def least(i, j):
        if i == 0 or j == 0:
            return 0.0 if i == j else np.inf
        return min(
            least(i - 1, j) + size(x[i] - x[i - 1]) + stiffness + cost,
            least(i, j - 1) + size(y[j] - y[j - 1]) + stiffness + cost,
            least(i - 1, j - 1)
            + size(x[i] - y[j])
            + size(x[i - 1] - y[j - 1])
            + 2 * stiffness * abs(i - j),
        )

    return least(len(x) - 1, len(y) - 1)


def path_costs(x, y, i=0, j=0):
    """Costs of all warping paths from (i, j) to the end."""
    here = float(np.sum((x[i] - y[j]) ** 2))
    if i == len(x) - 1 and j == len(y) - 1:
        return [here]
    steps = [(i + 1, j), (i, j + 1), (i + 1, j + 1)]
    return [
        here + rest
        for a, b in steps
        if a < len(x) and b < len(y)
        for rest in path_costs(x, y, a, b)
    ]


def soft(x, y, smoothness=0.5):
    return -smoothness * np.log(np.sum(np.exp(-np.array(path_costs(x, y)) / smoothness)))


CASES = {
    "lcss": (lcss, {"width": 0.5}),
    "edr": (edr, {"width": 0.5}),
    "msm": (msm, {"cost": 0.7}),
    "twe": (twe, {"stiffness": 0.1, "cost": 0.7}),
    "soft_dtw": (soft, {"smoothness": 0.5}),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("channels", [1, 2])
def test_matrix_is_that_of_the_plain_recursion(name, channels):
    if name == "msm" and channels > 1:
        pytest.skip("move-split-merge is for one channel")
    X, Z = some_series(0, channels=channels), some_series(1, n=3, channels=channels)
    reference, given = CASES[name]
    found = elastic_matrix(X, Z, distance=name, **given)
    assert_allclose(found, [[reference(x, z) for z in Z] for x in X], atol=1e-12)
    assert_allclose(
        elastic_matrix(X, distance=name, **given), elastic_matrix(X, X, distance=name, **given)
    )


@pytest.mark.parametrize("name", [*NAMES, "erp"])
def test_pairs_side_by_side_are_those_alone(name):
    X = some_series(5, n=13)  # more pairs than lanes, of unequal lengths

    def matrix(A, B):
        return alignment_matrix(A, B) if name == "erp" else elastic_matrix(A, B, **given)

    given = {"distance": name, **CASES[name][1]} if name != "erp" else {}
    alone = [[matrix([x], [z])[0, 0] for z in X] for x in X]
    assert_allclose(matrix(X, X), alone, atol=1e-12)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("seed", range(5))
def test_metrics_obey_the_triangle_inequality(name, seed):
    D = elastic_matrix(some_series(seed, n=12), distance=name, cost=0.3)
    assert_allclose(np.diag(D), 0)
    assert (D[:, None, :] <= D[:, :, None] + D[None] + 1e-9).all()


def test_soft_warping_becomes_warping_as_it_sharpens():
    X = some_series(3)
    sharp = elastic_matrix(X, distance="soft_dtw", smoothness=1e-4)
    assert_allclose(sharp, [[dtw(x, z) for z in X] for x in X], atol=1e-2)


def test_width_follows_the_unit_of_the_data():
    X = some_series(4)
    for name in ("lcss", "edr"):
        scaled = [1e6 * x for x in X]
        assert_allclose(elastic_matrix(scaled, distance=name), elastic_matrix(X, distance=name))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"distance": "dtw"}, "'distance' parameter of elastic_matrix"),
        ({"distance": "lcss", "width": -1.0}, "'width' parameter of elastic_matrix"),
        ({"cost": np.nan}, "'cost' parameter of elastic_matrix"),
        ({"distance": "soft_dtw", "smoothness": 0.0}, "'smoothness' parameter of elastic_matrix"),
    ],
)
def test_bad_parameters_are_named(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        elastic_matrix(some_series(), **given)


def test_move_split_merge_of_several_channels_is_refused():
    with pytest.raises(ValueError, match=r"one channel\. Got 2"):
        elastic_matrix(some_series(channels=2))
