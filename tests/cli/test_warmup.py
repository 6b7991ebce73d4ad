"""``isthmus warmup``: first calls run in processes of their own, and failures are told."""

import numpy as np
import pytest

pytest.importorskip("typer")

from isthmus.cli.first_calls import FIRST_CALLS
from isthmus.cli.warmup import warmup


def test_work_is_done_in_processes_and_failures_are_told(capfd):
    assert warmup(["histogram intersection"]) == 0
    assert "Compiled 1 kinds of work" in capfd.readouterr().out
    assert warmup(["no such work"]) == 1
    assert "no such work could not be compiled: KeyError" in capfd.readouterr().out


@pytest.mark.filterwarnings("ignore")  # the work is too small to be done well
@pytest.mark.parametrize("name", FIRST_CALLS)
def test_every_first_call_runs(name):
    FIRST_CALLS[name](np.random.default_rng(0))
