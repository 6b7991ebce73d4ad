"""``python -m benchmarks.precision``: what single precision costs and gains.

Every estimator learns the same rows twice: as float32, and as float64 of the same numbers.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._precision_cases import Case, cases
from benchmarks._precision_controls import controls
from benchmarks._precision_speed import paths
from benchmarks._report import machine

PAGE = Path(__file__).parent / "results" / "float32.md"
REPEAT = 2
REPEAT_LARGE = 6
WHY = (
    "- Kernel values in single precision have errors of 1e-7 of the largest. `KernelPCA` leaves "
    "out axes whose variance is below them, and pre-images, which are given its coordinates here, "
    "miss what lay along these axes. Rows as float64 are the remedy; few components need none.",
    "- Of `ManifoldClassifier` rounding decides a row or two that lie between the classes.",
    "- Predictions of `KernelRidgeCV`, and of `DependencyEstimator` with it, add up such values "
    "with large coefficients where there is no noise. There the objects are kept as doubles.",
)


class Outcome(NamedTuple):
    """CPU seconds, errors, how far the answers are apart, and their type."""

    name: str
    seconds: tuple[float, float]
    errors: tuple[float, float]
    apart: float
    dtype: str
    kind: str

    @property
    def worse(self) -> bool:
        """Whether single precision costs accuracy that a user would notice."""
        double, single = self.errors
        if np.isnan(double):
            return not self.apart < 1e-3
        return not single <= 1.05 * double + 1e-3


def measured(case: Case, repeat: int) -> Outcome:
    """Both precisions in turn; the least CPU time of each."""
    seconds: list[list[float]] = [[], []]
    answers: list[Any] = [None, None]
    errors: list[Any] = [None, None]
    for _ in range(repeat + 1):
        for i, dtype in enumerate((np.float64, np.float32)):
            start = time.process_time()
            answers[i], errors[i] = case.run(case.make(), case.rows, dtype)
            seconds[i].append(time.process_time() - start)
        if min(seconds[0]) > 5:  # slow, and compiled by now
            break
    double, single = (min(times[1:] or times) for times in seconds)
    return Outcome(
        case.name,
        (double, single),
        (errors[0](), errors[1]()),
        apart(answers[1], answers[0]),
        str(answers[1].dtype),
        case.error,
    )


def apart(single: np.ndarray, double: np.ndarray) -> float:
    """Distance of the answers in units of their spread; columns may have changed their sign."""
    if double.dtype.kind not in "f":
        return float(np.mean(single != double))
    if single.shape != double.shape:
        return float("inf")
    A, B = (a.astype(np.float64).reshape(len(a), -1) for a in (single, double))
    signs = np.where(np.sum(A * B, axis=0) < 0, -1.0, 1.0)
    spread = float(np.sqrt(np.mean((B - B.mean(axis=0)) ** 2))) or 1.0
    return float(np.sqrt(np.mean((A * signs - B) ** 2))) / spread


def page(outcomes: Sequence[Outcome], quick: Sequence[Outcome]) -> str:
    """The page, in Markdown."""
    facts = ", ".join(f"{name} {value}" for name, value in machine().items())
    lines = [
        "# Single precision",
        "",
        f"Written on {date.today().isoformat()} by `python -m benchmarks.precision`, one thread, "
        f"least of {REPEAT} CPU times of fit and answer, of {REPEAT_LARGE} for larger problems.",
        "",
        "The same numbers, all of them float32, are learned as float32 and as float64. *Error* is "
        "that of new rows against the noise-free truth, in units of its spread: of predictions, of "
        "reconstructions, of pre-images, of a line from features to outputs; of classes, the share "
        "of other labels; of the larger problems, the share of the length of the truth. *Apart* is "
        "the distance of the two answers in units of their spread (columns may change their sign); "
        "inf where features are left out whose variance is below "
        "the rounding errors.",
        "",
        f"Machine: {facts}.",
        "",
        verdict([*outcomes, *quick]),
        "",
        *WHY,
        "",
        "## Controls",
        "",
        "The same with one thing changed, which shows whether it is the reason.",
        "",
        *table_of_controls(),
        "",
        "## Larger problems",
        "",
        "A ratio well above one tells that time goes into products of float32. All others compute "
        "in double precision inside, because their systems are too ill-conditioned or their loops "
        "are not bound by the width of numbers, and answer in the type of their rows or as "
        "float64.",
        "",
        *table(quick),
        "",
        "## Every estimator",
        "",
        *table(outcomes),
    ]
    return "\n".join(lines) + "\n"


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """A row for each."""
    names = ["estimator", "s, 64", "s, 32", "64 / 32", "error of", "error, 64", "error, 32"]
    lines = [_line([*names, "apart", "answers"])]
    lines.append(_line(["---", "---:", "---:", "---:", "---", "---:", "---:", "---:", "---"]))
    for one in outcomes:
        double, single = one.seconds
        cells = [one.name, f"{double:.3g}", f"{single:.3g}", f"{double / max(single, 1e-9):.2f}"]
        cells += [one.kind, *("–" if np.isnan(e) else f"{e:.3g}" for e in one.errors)]
        lines.append(_line([*cells, f"{one.apart:.1g}", one.dtype]))
    return lines


def table_of_controls() -> list[str]:
    """What was changed for each estimator that single precision makes worse."""
    lines = [_line(["estimator", "control", "error, 64", "error, 32", "error of the control"])]
    lines.append(_line(["---", "---", "---:", "---:", "---:"]))
    return [*lines, *(_line([one.name, one.changed, *one.errors]) for one in controls())]


def verdict(outcomes: Sequence[Outcome]) -> str:
    """Which estimators are noticeably worse in single precision."""
    worse = [one.name for one in outcomes if one.worse]
    return (
        "Goal: no error in single precision more than 5 % and a thousandth of the spread above "
        "that in double precision (answers without a truth: less than a thousandth apart). Missed "
        f"by {', '.join(worse) if worse else 'none'} of {len(outcomes)} rows."
    )


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.precision", description=__doc__)
    parser.add_argument("--only", default="", help="names that hold this; writes no file")
    options = parser.parse_args(arguments)
    outcomes: list[list[Outcome]] = [[], []]
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of defaults that do not suit these rows
        for found, asked, repeat in zip(
            outcomes, (cases, paths), (REPEAT, REPEAT_LARGE), strict=True
        ):
            for case in asked(options.only):
                found.append(measured(case, repeat))
                print("\n".join(table(found[-1:])[2:]), file=sys.stderr, flush=True)
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = page(*outcomes)
    print(text)
    if not options.only:
        PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
