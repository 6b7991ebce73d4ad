"""``python -m benchmarks.threads``: the work that users do, on one thread and on all.

Every task runs in two processes, one with a single thread in every pool and one with the default,
which take turns; the least of many wall-clock times counts, since other work on the machine only
adds to it. No task should be slower on the default number of threads than on one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import warnings
from datetime import date
from pathlib import Path
from typing import NamedTuple

from benchmarks._others import watched
from benchmarks._thread_tasks import TASKS, WHY

PAGE = Path(__file__).parent / "results" / "threads.md"
GOAL, N_MEASURED = 1.7, 8  # of the ratio, and columns of a row before the reason
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def serve() -> None:
    """Do the work of every name that comes in, and answer with what :class:`Run` holds."""
    warnings.simplefilter("ignore")
    ready, work = "", None
    for text in sys.stdin:
        name = text.strip()
        if name != ready:
            work, ready = TASKS[name](), name
            work()
        with watched() as others:
            start, cpu = time.perf_counter(), time.process_time()
            work()
            wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        print(wall, others[0], cpu, flush=True)


def _server(threads: int | None) -> subprocess.Popen:
    environment = {k: v for k, v in os.environ.items() if k not in POOLS}
    if threads is not None:
        environment |= dict.fromkeys(POOLS, str(threads))
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.threads", "--serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


class Run(NamedTuple):
    """Wall-clock seconds, processors that other processes took, and CPU seconds of our own."""

    wall: float
    others: float
    cpu: float


def measure(name: str, servers: list[subprocess.Popen], repeat: int) -> tuple[list[Run], list[Run]]:
    """Runs on one thread and on the default number, in turn."""
    runs: tuple[list[Run], list[Run]] = ([], [])
    for _ in range(repeat):
        for server, found in zip(servers, runs, strict=True):
            print(name, file=server.stdin, flush=True)
            answer = server.stdout.readline().split()
            if not answer:
                raise RuntimeError(f"{name} failed.")
            found.append(Run(*map(float, answer)))
    return runs


def line(name: str, one: list[Run], many: list[Run]) -> str:
    """The row of a task: its fastest runs, and what other processes took in these."""
    first, second = min(one), min(many)
    day, n = date.today().isoformat(), len(one)
    return (
        f"| {name} | {first.wall:.3f} | {second.wall:.3f} | {first.wall / second.wall:.2f} "
        f"| {second.cpu / second.wall:.2f} | {first.others:.2f} {second.others:.2f} | {n} | {day} |"
    )


def with_reason(row: str) -> str:
    """The row of a task and why it gains less than the goal, where that is so and known."""
    cells = row.split("|")[1:-1][:N_MEASURED]
    name, ratio = cells[0].strip(), float(cells[3])
    return f"|{'|'.join(cells)}| {WHY[name] if ratio < GOAL else ''} |"


def former_lines() -> dict[str, str]:
    """Rows of the page as it is."""
    if not PAGE.exists():
        return {}
    lines = [text for text in PAGE.read_text(encoding="utf-8").splitlines() if text[:2] == "| "]
    return {text.split("|")[1].strip(): text for text in lines}


def page(lines: dict[str, str]) -> str:
    """The table as Markdown."""
    head = [
        "# One thread and the default",
        "",
        f"Written by `python -m benchmarks.threads` on {os.cpu_count()} processors; `--only` with "
        "words writes the rows",
        "whose name has one of them.",
        "",
        "Least wall-clock seconds of runs that take turns. *Others* are processors that other",
        "processes took during the two fastest runs: above 0.1 the machine was not quiet, and",
        "what two threads would gain there cannot be seen. A ratio above 1 is a gain by threads;",
        "from one run to the next it moves by up to 0.05. *Busy* are processors at work in our",
        "fastest default run: near 1 the work is a chain of steps, or its pieces are too small",
        "to be shared; where it is far above the ratio, threads wait for memory or for each other.",
        "",
        f"The goal is {GOAL} where work is parallel and bound by arithmetic; *why* says what keeps",
        "a task below it.",
        "",
        "| work | one thread | default | ratio | busy | others | runs | on | why below |",
        "|---|---:|---:|---:|---:|---|---:|---|---|",
    ]
    rows = [with_reason(lines[name]) for name in TASKS if name in lines]
    return "\n".join(head + rows) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="WORD", help="tasks whose name has a word")
    parser.add_argument("--repeat", type=int, default=15, metavar="N")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    words, lines = options.only, former_lines()
    servers = [_server(1), _server(None)]
    try:
        for name in TASKS:
            if words is None or any(word in name for word in words):
                lines[name] = line(name, *measure(name, servers, options.repeat))
                print(lines[name], flush=True)
                PAGE.write_text(page(lines), encoding="utf-8")
    finally:
        for server in servers:
            server.stdin.close()
            server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
