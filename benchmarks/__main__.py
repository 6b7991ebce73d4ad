"""``python -m benchmarks``."""

import argparse
import os
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path

import numba
from rich.console import Console
from threadpoolctl import threadpool_limits

from benchmarks._harness import chosen, discover, measured
from benchmarks._others import watched
from benchmarks._report import clock_of, markdown, method_note, terminal_table, with_sections

RESULTS = Path(__file__).parent / "results"


def main(arguments=None):
    """Run the benchmarks asked for; return the exit code."""
    registry = discover()
    options = _parser(registry).parse_args(arguments)
    try:
        selected = chosen(registry, options.only)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    console = Console() if sys.stdout.isatty() else Console(width=180)
    console.print(method_note(options.threads, options.repeat), highlight=False)
    with threads_at(options.threads), console.status("") as status:
        for family, benchmarks in groupby(selected, key=lambda b: b.family):
            results = {}
            for benchmark in benchmarks:
                rows = _rows(benchmark, options, status)
                results[benchmark.name] = (benchmark, rows)
                console.print(terminal_table(benchmark, rows, clock_of(options.threads)))
            # Written family by family, so that an interruption loses one and not all.
            whole = set(results) == {b.name for b in registry.values() if b.family == family}
            page = _page(family, options.threads)
            settings = {"threads": options.threads, "repeat": options.repeat}
            if not options.quick and (whole or page.exists()):
                before = page.read_text(encoding="utf-8") if page.exists() else ""
                if whole:
                    text = markdown(family, results, before=before, **settings)
                else:
                    text = with_sections(before, results, **settings)
                page.write_text(text, encoding="utf-8")
                console.print(f"Wrote {page.relative_to(RESULTS.parent.parent)}.")
    return 0


@contextmanager
def threads_at(n):
    """Limit every pool to ``n`` threads within the block."""
    # This starts numba's threads; with the modules loaded, the limits below reach every pool.
    before = numba.get_num_threads()
    numba.set_num_threads(min(n, numba.config.NUMBA_NUM_THREADS))
    try:
        with threadpool_limits(limits=n):
            yield
    finally:
        numba.set_num_threads(before)


def _rows(benchmark, options, status):
    """Every case of a benchmark, measured, with a line that says where we are."""
    rows = []
    for case in benchmark.quick if options.quick else benchmark.cases:
        here = f"{benchmark.name}, {case}"
        with watched() as others:
            row = measured(
                benchmark.contest(case),
                case,
                repeat=options.repeat,
                tell=lambda what, here=here: status.update(f"{here}: {what}"),
                ours=rows[0].ours if benchmark.shared and rows else None,
                widen=_wider(options.threads),
            )
        rows.append(replace(row, others=others[0]))
    return rows


def _wider(threads):
    """A context with the default number of threads; None where that is what is measured anyway."""
    every = os.cpu_count() or 1
    return None if threads >= every else partial(threads_at, every)


def _page(family, threads):
    return RESULTS / (f"{family}.md" if threads == 1 else f"{family}_{threads}_threads.md")


def _parser(registry):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Time, memory and accuracy against the peers. A family run whole writes its "
        "page in benchmarks/results; parts of one are written anew on a page that is there; "
        "--quick only prints.",
        epilog="Benchmarks: " + ", ".join(registry),
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="benchmarks or families to run")
    parser.add_argument("--quick", action="store_true", help="small sizes, to try the harness")
    parser.add_argument(
        "--threads",
        type=_positive(os.cpu_count()),
        default=1,
        metavar="N",
        help="threads of BLAS, OpenMP and numba in the first columns; 1 by default, for stable "
        "numbers. The columns of the default have all of them",
    )
    parser.add_argument("--repeat", type=_positive(100), default=5, metavar="N", help="default 5")
    return parser


def _positive(high):
    def number(text):
        if not text.isdigit() or not 1 <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"expected an int in [1, {high}], got {text!r}")
        return int(text)

    return number


if __name__ == "__main__":
    sys.exit(main())
