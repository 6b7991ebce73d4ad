"""``isthmus warmup``: compile every loop once, so that no first call has to."""

import time
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import numpy as np

from isthmus._progress import ProgressLine
from isthmus.cli.errors import one_line
from isthmus.cli.first_calls import FIRST_CALLS

N_PROCESSES = 2


def run(name: str) -> float:
    """Do the work called ``name`` and return the seconds it took."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the work is too small to be done well
        FIRST_CALLS[name](np.random.default_rng(0))
    return time.perf_counter() - start


def warmup(names: Iterable[str] = tuple(FIRST_CALLS)) -> int:
    """Run first calls in two processes, which share what they compile; return the exit code.

    Work that fails is told, and the rest goes on.
    """
    start, failed = time.perf_counter(), {}
    # Fresh processes: a fork of one that has threads may not end.
    with (
        ProcessPoolExecutor(N_PROCESSES, mp_context=get_context("spawn")) as pool,
        ProgressLine("compiling", verbose=1) as line,
    ):
        jobs = {pool.submit(run, name): name for name in names}
        for done, job in enumerate(as_completed(jobs), start=1):
            if error := job.exception():
                failed[jobs[job]] = error
            line.update(done=f"{done} of {len(jobs)}", last=jobs[job])
    for name, error in failed.items():
        print(f"{name} could not be compiled: {type(error).__name__}: {one_line(error)}")
    seconds = time.perf_counter() - start
    print(f"Compiled {len(jobs) - len(failed)} kinds of work in {seconds:.0f} s.")
    return 1 if failed else 0
