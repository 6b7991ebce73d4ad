"""Sections with fewer threads of BLAS: by size, nested, from several threads, after errors."""

import dis
import itertools
import os
import subprocess
import sys
from threading import Barrier, Event, Thread, current_thread

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  brings its BLAS
from threadpoolctl import threadpool_info, threadpool_limits

from isthmus.kernels import Gaussian
from isthmus.linalg import threads_for
from isthmus.linalg.threads import in_threads, one_pool, rest_in_threads
from isthmus.regression import KernelRidgeCV

MANY, FEW = 1e12, 1.0


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def threads_by_owner():
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    if len(pools) != 2:
        pytest.skip("NumPy and SciPy share a BLAS here")
    return {
        "numpy" if "numpy" in pool["filepath"].rsplit("/", 2)[-2] else "scipy": pool["num_threads"]
        for pool in pools
    }


@pytest.fixture
def two_threads():
    with threadpool_limits(limits=2, user_api="blas"):
        yield


@pytest.mark.usefixtures("two_threads")
class TestThreadsFor:
    def test_only_small_calls_are_limited(self):
        with threads_for(MANY):
            assert blas_threads() == {2}
        with threads_for(FEW):
            assert blas_threads() == {1}
        assert blas_threads() == {2}

    def test_an_inner_section_does_not_end_the_outer_one(self):
        with threads_for(FEW):
            with threads_for(FEW):
                assert np.ones((2, 2)).sum() == 4
            assert blas_threads() == {1}

    def test_an_error_ends_the_section(self):
        with pytest.raises(ZeroDivisionError), threads_for(FEW):
            raise ZeroDivisionError
        assert blas_threads() == {2}

    def test_sections_that_overlap_in_time_restore_what_was_before_both(self):
        both_inside, first_left = Barrier(2, timeout=20), Barrier(2, timeout=20)

        def first():
            with threads_for(FEW):
                both_inside.wait()
            first_left.wait()

        def second():
            with threads_for(FEW):
                both_inside.wait()
                first_left.wait()

        workers = [Thread(target=first), Thread(target=second)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert blas_threads() == {2}

    def test_one_pool_leaves_its_threads_to_scipy(self):
        with one_pool():
            assert threads_by_owner() == {"numpy": 1, "scipy": 2}
            with threads_for(FEW):
                assert blas_threads() == {1}
            assert threads_by_owner() == {"numpy": 1, "scipy": 2}
        assert blas_threads() == {2}

    def test_sections_of_both_kinds_may_end_in_any_order(self):
        outer, inner = one_pool(), threads_for(FEW)
        outer.__enter__()
        inner.__enter__()
        outer.__exit__(None, None, None)
        assert blas_threads() == {1}
        inner.__exit__(None, None, None)
        assert blas_threads() == {2}

    def test_a_fit_has_one_pool_and_gives_it_back(self):
        seen = []

        class Looking(KernelRidgeCV):
            def fit(self, X, y):
                seen.append(threads_by_owner())
                return super().fit(X, y)

        Looking().fit(np.arange(12.0)[:, None], np.arange(12.0))
        assert seen == [{"numpy": 1, "scipy": 2}]
        with pytest.raises(ValueError, match="2D"):
            Looking().fit(np.arange(12.0), np.arange(12.0))
        assert blas_threads() == {2}

    def test_work_in_threads_has_one_thread_of_blas_each(self):
        seen = []
        in_threads(lambda part: seen.append((part, blas_threads())), range(5))
        assert sorted(seen) == [(i, {1}) for i in range(5)]
        assert blas_threads() == {2}

    @pytest.mark.parametrize("least", [0.0, np.inf])
    def test_only_long_work_gets_threads(self, monkeypatch, least):
        monkeypatch.setattr("isthmus.linalg.threads.LEAST_SECONDS", least)
        seen = []
        rest_in_threads(lambda p: seen.append((p, blas_threads(), current_thread())), range(5))
        assert sorted(part for part, _, _ in seen) == list(range(5))
        assert all(pools == {1} for _, pools, _ in seen)
        others = {thread for _, _, thread in seen} - {current_thread()}
        assert bool(others) == (least == 0.0)
        assert blas_threads() == {2}

    def test_shared_work_is_not_shared_again_and_sees_the_threads_outside_a_section(
        self, monkeypatch
    ):
        monkeypatch.setattr("isthmus.linalg.threads.LEAST_SECONDS", 0.0)
        both = Barrier(2, timeout=20)
        seen = {}

        def work(part):
            if part > 0:
                both.wait()  # two threads at once, or a broken barrier
            me, inner = current_thread(), []
            rest_in_threads(lambda _: inner.append(current_thread()), range(4))
            seen[part] = {me} == set(inner) or part == 0

        with threads_for(FEW):
            rest_in_threads(work, range(3))
        assert seen == {0: True, 1: True, 2: True}

    def test_an_error_in_a_thread_is_raised_and_ends_the_work(self):
        with pytest.raises(ZeroDivisionError):
            in_threads(lambda part: 1 / part, [1, 0, 2])
        assert blas_threads() == {2}

    def test_a_large_gram_matrix_is_the_same_in_threads(self):
        X = np.random.default_rng(0).normal(size=(2100, 3))
        kernel = Gaussian(0.5)
        many = kernel.gram(X, X)
        with threads_for(FEW):
            np.testing.assert_array_equal(many, kernel.gram(X, X))
        some = slice(1000, 1100)
        np.testing.assert_allclose(many[some], kernel.gram(X[some], X), rtol=1e-12)


@pytest.mark.usefixtures("two_threads")
# One that comes as a section is deleted has nobody to go to.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("section", [lambda: threads_for(FEW), one_pool])
def test_an_interrupt_at_any_step_leaves_no_limit_behind(section):
    steps, last = itertools.count(), {}
    at, seen = 0, 0

    def trace(frame, event, _):
        if not frame.f_code.co_filename.endswith("isthmus/linalg/threads.py"):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            before = last.get(id(frame), "")
            last[id(frame)] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            # Python looks for signals where a function begins, after a call and after a round.
            looks = before.startswith(("RESUME", "CALL", "JUMP_BACKWARD"))
            if looks and next(steps) == at:
                raise KeyboardInterrupt
        return trace

    def run():
        sys.settrace(trace)
        try:
            with section():
                pass
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        return False

    while run():
        seen += 1
        assert blas_threads() == {2}, f"after an interrupt at step {at}"
        at, steps = at + 1, itertools.count()
        last.clear()
    assert seen > 20


@pytest.mark.usefixtures("two_threads")
def test_a_section_of_any_thread_is_limited_and_gives_its_threads_back():
    first, second, left = Event(), Event(), Event()
    seen = {}

    def begins_first():
        with threads_for(FEW):
            seen["begun elsewhere"] = blas_threads()
            first.set()
            second.wait(20)
        left.set()

    def ends_last():
        first.wait(20)
        with threads_for(FEW):
            second.set()
            left.wait(20)
            seen["the first has left"] = blas_threads()

    for _ in range(2):
        threads = [Thread(target=begins_first), Thread(target=ends_last)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == {"begun elsewhere": {1}, "the first has left": {1}}
        assert blas_threads() == {2}
        with threads_for(FEW):
            assert blas_threads() == {1}
        assert blas_threads() == {2}
        for event in (first, second, left):
            event.clear()


def test_limits_of_the_user_end_where_they_end_around_sections_of_other_threads():
    with threadpool_limits(limits=2, user_api="blas"):
        with threadpool_limits(limits=1, user_api="blas"):
            thread = Thread(target=lambda: rest_in_threads(lambda _: None, range(4)))
            thread.start()
            thread.join()
            assert blas_threads() == {1}
        assert blas_threads() == {2}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_inside_a_section_of_another_thread_has_its_threads_back():
    script = """
import os, threading
import scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits
from isthmus.linalg.threads import threads_for

def counts():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

inside, done = threading.Event(), threading.Event()

def other():
    with threads_for(0):
        inside.set()
        done.wait(60)

with threadpool_limits(2, user_api="blas"):
    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(60)
    with threads_for(0):
        child = os.fork()
        assert counts() == {1}
    if child == 0:
        os._exit(0 if counts() == {2} else 3)
    assert counts() == {1}
    done.set()
    thread.join()
    assert counts() == {2}
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class TestSearchesSideBySide:
    """What scores find does not depend on how many threads there are."""

    def test_widths_are_the_same_side_by_side_and_in_turn(self, monkeypatch):
        from isthmus.regression.ridge.search import KERNELS, START, explore_widths
        from isthmus.regression.selection import Choice

        monkeypatch.setattr("isthmus.regression.ridge.search.LONG_SCORES", 0.0)
        for least in range(len(KERNELS) - 1):
            seen = {True: [], False: []}
            for together, places in seen.items():

                def score(i, places=places, least=least):
                    places.append(i)
                    return Choice(1.0 + abs(i - least), i)

                found = explore_widths(range(len(KERNELS)), score, side_by_side=together)
                assert found[0][1] == least
            assert sorted(seen[True]) == sorted(seen[False])
            assert START in seen[True]
            assert len(set(seen[True])) == len(seen[True])

    def test_helpers_know_what_the_section_knows(self, monkeypatch):
        from contextvars import ContextVar

        monkeypatch.setattr("isthmus.linalg.threads.LEAST_SECONDS", 0.0)
        known = ContextVar("known", default=0)
        known.set(3)
        seen = []
        rest_in_threads(lambda part: seen.append((current_thread(), known.get())), range(6))
        assert {value for _, value in seen} == {3}
