"""``python -m benchmarks``."""

import argparse
import os
import sys
from pathlib import Path

import numba
from rich.console import Console
from threadpoolctl import threadpool_limits

from benchmarks._harness import chosen, discover, measured
from benchmarks._report import clock_of, markdown, method_note, terminal_table

RESULTS = Path(__file__).parent / "results.md"


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
    results = {}
    # This starts numba's threads; with the modules loaded, the limits below reach every pool.
    numba.set_num_threads(min(options.threads, numba.config.NUMBA_NUM_THREADS))
    with threadpool_limits(limits=options.threads), console.status("") as status:
        for benchmark in selected:
            rows = []
            for case in benchmark.quick if options.quick else benchmark.cases:
                here = f"{benchmark.name}, {case}"
                contest = benchmark.contest(case)
                rows.append(
                    measured(
                        contest,
                        case,
                        repeat=options.repeat,
                        tell=lambda what, here=here: status.update(f"{here}: {what}"),
                    )
                )
            results[benchmark.name] = (benchmark, rows)
            console.print(terminal_table(benchmark, rows, clock_of(options.threads)))
        page = markdown(
            results, threads=options.threads, repeat=options.repeat, quick=options.quick
        )
    # A part, or small sizes, must not replace the numbers of a whole run by accident.
    whole = not (options.only or options.quick)
    output = options.output or (RESULTS if whole else None)
    if output is not None:
        output.write_text(page, encoding="utf-8")
        console.print(f"Wrote {output.name}.")
    return 0


def _parser(registry):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Time, memory and accuracy against the peers. A whole run writes "
        "benchmarks/results.md; --only and --quick print alone, unless --output names a file.",
        epilog="Benchmarks: " + ", ".join(registry),
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="benchmarks or families to run")
    parser.add_argument("--quick", action="store_true", help="small sizes, to try the harness")
    parser.add_argument(
        "--threads",
        type=_positive(os.cpu_count()),
        default=1,
        metavar="N",
        help="threads of BLAS, OpenMP and numba; 1 by default, for stable numbers",
    )
    parser.add_argument("--repeat", type=_positive(100), default=5, metavar="N", help="default 5")
    parser.add_argument("--output", type=Path, metavar="FILE", help="where to write the Markdown")
    return parser


def _positive(high):
    def number(text):
        if not text.isdigit() or not 1 <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"expected an int in [1, {high}], got {text!r}")
        return int(text)

    return number


if __name__ == "__main__":
    sys.exit(main())
