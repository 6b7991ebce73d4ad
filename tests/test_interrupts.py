"""Ctrl-C is answered within seconds, also inside compiled loops."""

import os
import signal
import subprocess
import sys
import time

import pytest

# Work that takes a minute or more, behind a first call that compiles.
WORK = {
    "time warping": """
from isthmus.series import dtw_matrix
dtw_matrix(list(rng.normal(size=(2, 5, 1))), n_jobs=1)
work = lambda: dtw_matrix(list(rng.normal(size=(300, 6000, 1))), n_jobs=1)
""",
    "time warping in threads": """
from isthmus.series import dtw_matrix
dtw_matrix(list(rng.normal(size=(2, 5, 1))), n_jobs=2)
work = lambda: dtw_matrix(list(rng.normal(size=(300, 6000, 1))), n_jobs=2)
""",
    "global alignment": """
from isthmus.kernels import GlobalAlignment
kernel = GlobalAlignment(gamma=0.5, n_jobs=1)
kernel(list(rng.normal(size=(2, 5, 1))))
work = lambda: kernel(list(rng.normal(size=(300, 6000, 1))))
""",
    "distance correlation": """
from isthmus.dependence import distance_correlation
distance_correlation(rng.normal(size=(9, 3)), rng.normal(size=(9, 2)))
work = lambda: distance_correlation(rng.normal(size=(300_000, 3)), rng.normal(size=(300_000, 2)))
""",
}


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("name", WORK)
def test_an_interrupt_is_answered_within_two_seconds(name):
    code = f"""
import numpy as np, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in jobs in the background
rng = np.random.default_rng(0)
{WORK[name]}
print("ready", flush=True)
try:
    work()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.5)
            cpu = _cpu_seconds(process.pid)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            # CPU time of the process and not of the clock: others may use the machine.
            spent = _cpu_seconds(process.pid) - cpu
            assert spent < (4 if "threads" in name else 2)
        finally:
            process.kill()


def _cpu_seconds(pid):
    """User and system time of a process; of the clock where the kernel does not tell."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
