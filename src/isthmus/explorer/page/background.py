"""Slow work beside a page that goes on answering: one job at a time, the newest of each kind."""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from bokeh.document import Document, without_document_lock


class Job(NamedTuple):
    """What is computed, who is told, and whether it is still of interest by then."""

    compute: Callable[[], Any]
    show: Callable[[Any], None]
    wanted: Callable[[], bool]


class Background:
    """Jobs of one page, computed in another thread.

    A job that waits is replaced by a newer one of its kind, so that what a moving pointer leaves
    behind never piles up.
    """

    def __init__(self, doc: Document | None):
        self._doc = doc
        self._busy = False
        self._waiting: dict[str, Job] = {}

    def want(self, kind: str, job: Job) -> None:
        """Do a job as soon as the one before it is done."""
        if self._doc is None:
            return
        self._waiting[kind] = job
        if not self._busy:
            self._start()

    def _start(self) -> None:
        while self._waiting:
            job = self._waiting.pop(next(iter(self._waiting)))
            if job.wanted():
                self._busy = True
                self._doc.add_next_tick_callback(without_document_lock(self._work(job)))
                return

    def _work(self, job: Job) -> Any:
        async def work() -> None:
            loop = asyncio.get_running_loop()
            try:
                found = await loop.run_in_executor(None, job.compute)
                self._doc.add_next_tick_callback(lambda: self._tell(job, found))
            finally:
                self._busy = False
                self._start()

        return work

    def _tell(self, job: Job, found: Any) -> None:
        if job.wanted():
            job.show(found)
