"""Sections with one thread of BLAS: by size, nested, from several threads, after errors."""

from threading import Barrier, Thread

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  brings its BLAS
from threadpoolctl import threadpool_info, threadpool_limits

from isthmus.linalg import threads_for

MANY, FEW = 1e12, 1.0


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


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
