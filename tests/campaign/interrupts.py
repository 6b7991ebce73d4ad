"""Ctrl-C at random times: everything changes or nothing does."""

import contextlib
import contextvars
import signal
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.campaign.outcomes import state_of
from tests.campaign.subjects import Subject

SLOWEST = 2.0  # seconds until an interrupt is answered


def cases(subject: Subject, *, n_times: int = 10, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Interrupt the fit of other rows, and see that the former fit or the new one is whole."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y = subject.X, subject.y
        other = (1.5 * X[::-1] + 0.1).copy()
        model = subject.fit(subject.build(), X, y)
        former = state_of(model)
        start = time.perf_counter()
        whole = state_of(subject.fit(subject.build(), other, y))
        duration = time.perf_counter() - start
        for i in range(n_times):
            # In a context of its own: an interrupt between the lines of numpy.errstate would leave
            # what it has set, for whatever is computed next.
            waited = contextvars.copy_context().run(
                _interrupted, subject, model, other, y, rng.uniform(0, duration)
            )
            state = state_of(model)
            if waited > SLOWEST + duration:
                yield f"interrupt {i}", f"was answered after {waited:.1f} s"
            elif state not in (former, whole):
                yield f"interrupt {i}", "left a half-fitted model"
            else:
                yield f"interrupt {i}", "refused" if state == former else "answered"
            if state != former:
                model = subject.fit(subject.build(), X, y)
                former = state_of(model)


def _interrupted(subject: Subject, model: Any, X: Any, y: Any, after: float) -> float:
    """Seconds from the interrupt to the end of the fit."""
    rung = [0.0]

    def ring(*_: Any) -> None:
        rung[0] = time.perf_counter()
        raise KeyboardInterrupt

    handler = signal.signal(signal.SIGALRM, ring)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, max(after, 1e-4))
            subject.fit(model, X, y)
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    return time.perf_counter() - rung[0] if rung[0] else 0.0
