"""Sums of products beside the roots of a slow stream: as exact as the roots, or refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.features import SlowFeatureAnalysis
from isthmus.features.components.roots import add_products
from isthmus.features.slow import stream
from isthmus.features.slow.formulas import finish, map_block, merge
from isthmus.features.slow.in_blocks import differences_at
from isthmus.features.slow.sums import added, closed, opened


def signal(n=6000, k=6, slow=1e-4, offset=0.0, seed=0):
    """Noises and a slow sine, mixed, so that their differences are almost dependent."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k))
    X[:, 0] = np.sqrt(2) * np.sin(slow * np.arange(n) + 1)
    return X @ rng.normal(size=(k, k)) + offset


def merged(X, ends, lags):
    """The roots of blocks of a signal, by QR decomposition, one after the other."""
    found = None
    for start, end in zip([0, *ends], [*ends, len(X)], strict=True):
        block = map_block(X[start:end], lags)
        seam = [differences_at(X[:end], start, lag) for lag in lags]
        found = block if found is None else merge(found, block, seam)
    return found


def summed(X, ends, lags):
    """The same, all blocks but the first as sums, which must be able to take them."""
    roots = map_block(X[: ends[0]], lags)
    sums = opened(roots)
    for start, end in zip(ends, [*ends[1:], len(X)], strict=True):
        sums = added(sums, X[:start], X[start:end], lags)
    return closed(sums, roots)


@pytest.mark.parametrize("lags", [[1], [1, 3, 10]])
@pytest.mark.parametrize("offset", [0.0, 30.0, 1e7])
@pytest.mark.parametrize("slow", [1.0, 1e-2, 1e-4])
def test_sums_give_the_roots_of_all_rows(slow, offset, lags):
    X = signal(slow=slow, offset=offset)
    ends = [3000, 4000, 4011]
    fast, exact = summed(X, ends, lags), merged(X, ends, lags)
    for a, b in zip((fast.level, *fast.changes), (exact.level, *exact.changes), strict=True):
        scale = np.sqrt(np.diag(b.T @ b))
        assert_allclose(a.T @ a / np.outer(scale, scale), b.T @ b / np.outer(scale, scale))
        assert np.array_equal(a, np.triu(a))
    assert_allclose(fast.counts, exact.counts)
    args = {"rcond": 1e-10, "alpha": 0.0, "standardize": True}
    # An offset leaves fewer digits of what is slow to both.
    assert_allclose(finish(fast, **args).slowness, finish(exact, **args).slowness, rtol=1e-6)


def test_small_changes_keep_their_digits():
    X = signal(n=60_000, slow=1e-4)
    args = {"rcond": 1e-10, "alpha": 0.0, "standardize": True}
    found = finish(summed(X, [30_000, 40_000], [1]), **args).slowness[0]
    slowest = X @ finish(map_block(X, [1]), **args).axes[:, 0]
    assert_allclose(found, np.mean(np.diff(slowest) ** 2), rtol=1e-8)
    assert found < 2e-8


def test_sums_refuse_what_may_cost_digits():
    X = signal()
    sums = opened(map_block(X[:3000], [1]))
    assert added(sums, X[:3000], X[3000:], [1]) is not None
    assert added(sums, X[:3000], np.vstack([X, X]), [1]) is None  # more rows than there were
    assert added(sums, X[:3000], 1e4 * X[3000:], [1]) is None
    assert added(sums, X[:1], X[3000:], [2]) is None  # no row that far back
    for bad in (np.nan, np.inf, 1e200):
        rows = X[3000:].copy()
        rows[7, 2] = bad
        assert added(sums, X[:3000], rows, [1]) is None


def test_dependent_columns_open_no_sums():
    X = signal()
    X[:, 1] = X[:, 0]
    assert opened(map_block(X, [1])) is None
    assert opened(map_block(X[:4], [1])) is None


@pytest.mark.filterwarnings("ignore:SlowFeatureAnalysis has . independent")
@pytest.mark.parametrize("change", ["none", "scale", "offset", "dependent", "episode"])
@pytest.mark.parametrize("size", [7, 300, 1100])
def test_a_stream_is_a_fit_whatever_comes(size, change):
    X = signal(n=9000)
    if change == "scale":
        X[5000:] *= 1e4
    elif change == "offset":
        X[5000:] += 1e5
    elif change == "dependent":
        X[:5000, 2] = X[:5000, 1]
    starts = range(0, len(X), size)
    new = next(start for start in starts if start >= 5000) if change == "episode" else None
    model = SlowFeatureAnalysis(3)
    for start in starts:
        model.partial_fit(X[start : start + size], new_episode=start == new)
    episodes = None if new is None else np.arange(len(X)) >= new
    whole = SlowFeatureAnalysis(3).fit(X, episodes=episodes)
    assert_allclose(model.slowness_, whole.slowness_, rtol=1e-6)
    assert_allclose(model.components_, whole.components_, rtol=1e-5, atol=1e-7)
    assert_allclose(model.mean_, whole.mean_, rtol=1e-9, atol=1e-9)


def test_a_bad_block_changes_nothing():
    X = signal(n=9000)
    model, other = SlowFeatureAnalysis(2), SlowFeatureAnalysis(2)
    for start in range(0, 6000, 1000):
        model.partial_fit(X[start : start + 1000])
        other.partial_fit(X[start : start + 1000])
    bad = X[6000:7000].copy()
    bad[500, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(bad)
    model.partial_fit(X[6000:7000])
    other.partial_fit(X[6000:7000])
    assert np.array_equal(model.components_, other.components_)


def test_a_stream_refuses_too_many_features_at_once():
    with pytest.raises(ValueError, match="rank of the expanded signal"):
        SlowFeatureAnalysis(7).partial_fit(signal())
    with pytest.raises(ValueError, match="no variance"):
        SlowFeatureAnalysis(1).partial_fit(np.ones((500, 3)))


def test_the_first_block_of_a_stream_is_a_fit():
    X = signal()
    stream, whole = SlowFeatureAnalysis(2).partial_fit(X), SlowFeatureAnalysis(2).fit(X)
    assert stream.n_components_ == 2
    assert stream.rank_ == 6
    assert np.array_equal(stream.components_, whole.components_)


@pytest.mark.parametrize("k", [1, 3, 20, 40, 41, 70])
def test_products_are_added_where_they_lie(k):
    rng = np.random.default_rng(k)
    rows, S = rng.normal(size=(3000, k)), np.asfortranarray(rng.normal(size=(k, k)))
    expected = np.triu(S + rows.T @ rows)
    assert add_products(S, rows) is S
    assert_allclose(np.triu(S), expected, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("step", ["opened", "added", "closed", "slow_axes"])
def test_an_interrupt_while_axes_are_found_loses_no_rows(step, monkeypatch):
    X = signal(n=2000)
    model = SlowFeatureAnalysis(2).partial_fit(X[:1000])
    for start in range(1000, 2000, 50):
        model.partial_fit(X[start : start + 50])
    assert model._waiting

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(stream, step, interrupt)
        with pytest.raises(KeyboardInterrupt):
            _ = model.slowness_
    assert_allclose(model.slowness_, SlowFeatureAnalysis(2).fit(X).slowness_, rtol=1e-6)
