"""A real cluster of two processes: the same bits as in threads, also where workers die."""

import os
import signal
import threading
import time

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV, cross_val_score

from isthmus.blocks import fold, map_block, merge
from isthmus.dependence import independence_test
from isthmus.features import SlowFeatureAnalysis
from isthmus.regression import GaussianProcess, ReducedRankRegression

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def slowly(block):
    time.sleep(0.2)
    return block


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    Y = X @ rng.normal(size=(5, 3)) + rng.normal(size=(2000, 3))
    return da.from_array(X, chunks=(100, 5)), da.from_array(Y, chunks=(100, 3))


@pytest.fixture(scope="module")
def expected(pair):
    with dask.config.set(scheduler="threads"):
        return ReducedRankRegression().fit(*pair)


def test_a_cluster_gives_the_bits_of_threads(cluster, pair, expected):
    found = ReducedRankRegression().fit(*pair)
    assert_array_equal(found.coef_, expected.coef_)
    assert found.alpha_ == expected.alpha_
    shown = found.predict(pair[0])
    assert isinstance(shown, da.Array)
    assert_array_equal(shown.compute(), expected.predict(pair[0].compute(scheduler="threads")))
    slow = SlowFeatureAnalysis(lag=2).fit(pair[0])
    X = pair[0].compute()
    assert_allclose(slow.slowness_, SlowFeatureAnalysis(lag=2).fit(X).slowness_, rtol=1e-10)


def test_a_bad_chunk_is_named_and_the_former_fit_stays(cluster, pair, expected):
    X, Y = pair
    bad = X.compute()
    bad[730, 1] = np.nan
    model = ReducedRankRegression().fit(X, Y)
    with pytest.raises(ValueError, match="contains NaN in chunk 7, row 30 of it, column 1"):
        model.fit(da.from_array(bad, chunks=(100, 5)), Y)
    assert_array_equal(model.coef_, expected.coef_)


def test_a_worker_killed_in_the_middle_changes_nothing(cluster, pair, expected):
    X, Y = pair
    worker, pid = next(iter(cluster.run(os.getpid).items()))
    timer = threading.Timer(0.7, os.kill, (pid, signal.SIGKILL))
    timer.start()
    found = ReducedRankRegression().fit(X.map_blocks(slowly, dtype=float), Y)
    timer.join()
    cluster.wait_for_workers(2, timeout=60)
    assert worker not in cluster.scheduler_info(n_workers=-1)["workers"]  # it did die
    assert_array_equal(found.coef_, expected.coef_)


def test_memory_does_not_grow_with_the_rows(cluster):
    X = da.random.default_rng(0).normal(size=(400_000, 100), chunks=(20_000, 100))  # 320 MB
    moments = fold(X, map_block, merge)
    assert moments.count == 400_000
    peaks = cluster.run(_peak_memory)
    assert max(peaks.values()) < 600e6, peaks


def _peak_memory():
    """Bytes, of this process alone: ``getrusage`` counts also the one that started it."""
    import resource
    from pathlib import Path

    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(peak.split()[1])
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _searched(X, Y):
    """A search, cross-validation, restarts and a permutation test, as numbers."""
    grid = {"rank": [1, 2], "alpha": [0.1, 10.0]}
    search = GridSearchCV(ReducedRankRegression(), grid, cv=2).fit(X, Y)
    process = GaussianProcess(n_init=2, max_iter=5, random_state=0)
    test = independence_test(X, Y[:, 0], n_permutations=20, random_state=0)
    return (
        search.cv_results_["mean_test_score"],
        cross_val_score(search.best_estimator_, X, Y, cv=2),
        process.fit(X, Y[:, 0]).predict(X),
        (test.statistic, test.pvalue),
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_searches_restarts_and_permutations_on_the_cluster_are_those_here(cluster, pair):
    X, Y = (A[:100].compute(scheduler="threads") for A in pair)
    expected = _searched(X, Y)
    with joblib.parallel_config(backend="dask"):
        assert joblib.effective_n_jobs() == 2
        found = _searched(X, Y)
    for a, b in zip(found, expected, strict=True):
        assert_allclose(a, b, rtol=1e-10)


def test_workers_without_the_library_are_refused(cluster, pair, monkeypatch):
    from isthmus.blocks import cluster as engine

    monkeypatch.setattr(engine, "_asked", type(engine._asked)())
    monkeypatch.setattr(engine, "__version__", "99")
    with pytest.raises(ImportError, match=r"needs isthmus 99 on every worker .* Got '0"):
        ReducedRankRegression().fit(*pair)
    cluster.run(_hide_library)
    try:
        with pytest.raises(ImportError, match=r"on every worker .* Got ModuleNotFoundError"):
            ReducedRankRegression().fit(*pair)
    finally:
        cluster.run(_show_library)


def _hide_library():
    import sys

    sys.modules["hidden"], sys.modules["isthmus"] = sys.modules.get("isthmus"), None


def _show_library():
    import sys

    sys.modules["isthmus"] = sys.modules.pop("hidden")


def test_a_cluster_without_workers_is_given_up(cluster, pair, expected, monkeypatch):
    from isthmus.blocks import cluster as engine

    monkeypatch.setattr(engine, "PATIENCE", 0.5)
    model = ReducedRankRegression().fit(*pair)
    cluster.cluster.scale(0)
    while cluster.scheduler_info(n_workers=1)["workers"]:
        time.sleep(0.1)
    with pytest.raises(RuntimeError, match=r"has had no workers for 0\.5 seconds"):
        model.fit(*pair)
    assert_array_equal(model.coef_, expected.coef_)


class Waiting:
    """A future that is done the moment after somebody has lost patience with it."""

    status = "pending"

    def done(self):
        return self.status != "pending"

    def result(self, timeout):
        if self.done():
            return "found"
        self.status = "finished"
        raise TimeoutError(f"timed out after {timeout} s.")

    def cancel(self):
        raise AssertionError("it was done")


class Busy:
    def scheduler_info(self, n_workers):
        return {"workers": {"one": 1}}


def test_a_result_that_comes_just_after_a_look_is_taken():
    from isthmus.blocks import cluster as engine

    assert engine._await(Busy(), Waiting(), "me") == "found"
