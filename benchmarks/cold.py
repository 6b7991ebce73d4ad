"""``python -m benchmarks.cold``: what the very first call of each kind costs.

Every call runs in a process of its own with an empty folder for compiled code, as on the day after
the installation. CPU seconds are told apart into importing, the first call and the second; the
last says what the first would cost without compiling.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

from isthmus.cli.first_calls import FIRST_CALLS

PAGE = Path(__file__).parent / "results" / "cold.md"
GOAL = 5.0  # CPU seconds that no first call should exceed


def measure(name: str) -> dict[str, float]:
    """The costs of one entry in a fresh process without compiled code."""
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "benchmarks.cold", "--one", name],
            env=os.environ
            | {"NUMBA_CACHE_DIR": folder, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
    return json.loads(ran.stdout)


def one(name: str) -> dict[str, float]:
    """Run an entry twice in this process and return its CPU seconds."""
    import numba  # noqa: F401
    import numpy as np
    from numba.core.event import install_recorder

    work = FIRST_CALLS[name]
    imported = time.process_time()
    with install_recorder("numba:compile") as events:
        work(np.random.default_rng(0))
    first = time.process_time()
    work(np.random.default_rng(0))
    return {
        "import": imported,
        "first": first - imported,
        "second": time.process_time() - first,
        "loops": sum(event.is_start for _, event in events.buffer),
    }


def page(rows: dict[str, dict[str, float]]) -> str:
    """The table as Markdown, most expensive first."""
    worst = max(row["first"] for row in rows.values())
    above = sum(row["first"] > GOAL for row in rows.values())
    lines = [
        "# First calls",
        "",
        f"Written on {date.today().isoformat()} by `python -m benchmarks.cold`.",
        "",
        "CPU seconds of one thread, each row in a fresh process with an empty folder for compiled",
        "code. *First* is the first call, which imports the family and compiles its loops;",
        "*second* is the same call again; *loops* counts what was compiled. The work itself is",
        "tiny (see `isthmus.cli.first_calls`), so *first* is nearly all compiling. Later processes",
        "load the compiled code from disk, and `isthmus warmup` compiles all of these beforehand.",
        "",
        f"Largest: {worst:.1f} s; above {GOAL:.0f} s: {above} of {len(rows)}; all together "
        f"{sum(row['first'] for row in rows.values()):.0f} s. Starting Python with numpy "
        f"and numba takes {min(row['import'] for row in rows.values()):.1f} s more.",
        "",
        "| call | first | second | loops |",
        "|---|---:|---:|---:|",
    ]
    for name, row in sorted(rows.items(), key=lambda item: -item[1]["first"]):
        lines.append(f"| {name} | {row['first']:.2f} | {row['second']:.3f} | {row['loops']:.0f} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=list(FIRST_CALLS))
    parser.add_argument("--one", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one)))
        return 0
    rows = {}
    for name in options.only or FIRST_CALLS:
        rows[name] = measure(name)
        told = "  ".join(f"{what} {value:.2f}" for what, value in rows[name].items())
        print(f"{name:45s} {told}", flush=True)
    if not options.only:
        PAGE.write_text(page(rows), encoding="utf-8")
        print(f"Wrote {PAGE.relative_to(PAGE.parent.parent.parent)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
