"""Memory that a worker keeps while it is at a block."""

import platform
import subprocess
import sys

import pytest

from isthmus.blocks import keeping

CODE = """
import resource
import numpy as np
from isthmus.blocks.keeping import memory_kept

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(30):
        np.ones(100_000)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

outside = faults()
with memory_kept():
    inside = faults()
print(outside, inside, faults())
"""


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="mallopt is a function of the GNU C library alone"
)
def test_freed_memory_is_used_again_inside_alone():
    settings = {"MALLOC_TRIM_THRESHOLD_": "65536", "OPENBLAS_NUM_THREADS": "1"}
    out = subprocess.run(
        [sys.executable, "-c", CODE], env=settings, capture_output=True, text=True, check=True
    )
    outside, inside, after = map(int, out.stdout.split())
    assert 4 * inside < outside
    assert 4 * inside < after


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"MALLOC_TRIM_THRESHOLD_": "much"},
        {"MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_MMAP_THRESHOLD_": "65536"},
    ],
)
def test_other_settings_stay(monkeypatch, environment):
    monkeypatch.setattr(keeping, "_started_with", lambda: environment)
    assert keeping._allocator.__wrapped__() is None


def test_what_is_set_later_is_for_workers(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "1")
    assert keeping._started_with().get("MALLOC_TRIM_THRESHOLD_") != "1"


def test_the_last_of_several_restores(monkeypatch):
    calls = []
    monkeypatch.setattr(keeping, "_allocator", lambda: (lambda *a: calls.append(a), 65536))
    with keeping.memory_kept():
        with pytest.raises(ZeroDivisionError), keeping.memory_kept():
            raise ZeroDivisionError
        assert calls == list(keeping.INSIDE.items())
    assert calls[2:] == [(keeping.TRIM, 65536), (keeping.MMAP, keeping.FRESH)]
