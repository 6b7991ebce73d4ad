"""Run peers' tests against ours and print passed, failed, and whose fault a failure is.

The page ``benchmarks/results/peers.md`` is written where all files were run.
"""

import argparse
import os
import sys
from datetime import date
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.peers.suites import OURS, SUITES, Suite

PAGE = Path(__file__).parents[1] / "results" / "peers.md"
# Options of statsmodels.
LATE_OPTIONS = tuple(
    f"{verb}_{kind}"
    for verb in ("skip", "only")
    for kind in ("slow", "examples", "matplotlib", "smoke", "joblib", "high_memory")
)


class Replacement:
    """A plugin of pytest that binds a peer's names to ours once its file is loaded."""

    def __init__(self, suite: Suite):
        self.suite, self.passed, self.failed, self.skipped = suite, [], {}, []

    def pytest_collection_modifyitems(self, config, items):
        for name in LATE_OPTIONS:  # of a conftest.py that is found after options were read
            if not hasattr(config.option, name):
                setattr(config.option, name, False)
        for module in {item.module for item in items}:
            for name, make in self.suite.replaced.items():
                original = getattr(module, name)
                ours = make(original)
                setattr(module, name, ours)
                for item in items:  # a class that tests are given as a parameter
                    given = item.callspec.params if hasattr(item, "callspec") else {}
                    given.update({key: ours for key, value in given.items() if value is original})

    def pytest_collectreport(self, report):
        if report.failed:
            self.failed["the file"] = _last_line(report.longreprtext)

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.partition("::")[2]
        if report.failed:
            self.failed[name] = _last_line(report.longreprtext)
        elif report.when == "call" or report.skipped:
            (self.skipped if report.skipped else self.passed).append(name)


def _last_line(text: str) -> str:
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    return (lines or text.strip().splitlines() or [""])[0][:100]


def run(suite: Suite) -> Replacement:
    """The peer's file, run in this process, quietly."""
    plugin = Replacement(suite)
    spec = find_spec(suite.module)
    if spec is None or spec.origin is None:
        plugin.failed["the file"] = "not installed"
        return plugin
    quiet = ["-p", "no:cacheprovider", "-p", "no:terminal", "--import-mode=importlib"]
    options = [*quiet, "-c", os.devnull, "--rootdir", os.path.dirname(spec.origin), "-W", "ignore"]
    if suite.without:
        options += ["-k", f"not ({suite.without})"]
    pytest.main(["--pyargs", suite.module, *options], plugins=[plugin])
    if not plugin.passed and not plugin.failed:
        plugin.failed["the file"] = "no test was run"
    return plugin


def blame(suite: Suite, test: str) -> tuple[str, str]:
    """Whose fault a failure is, and why; ours unless something else is known."""
    for part, answer in suite.known.items():
        if part in test:
            return answer
    return OURS, "not explained"


def main() -> int:
    """Print one line per file and one per failure; 1 where a failure is ours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="files whose name holds this; writes no page")
    only = parser.parse_args().only
    total, faults, rows = [0, 0], {}, []
    for suite in (s for s in SUITES if only in s.module):
        found = run(suite)
        total = [total[0] + len(found.passed), total[1] + len(found.failed)]
        print(f"{suite.module}: {len(found.passed)} passed, {len(found.failed)} failed", flush=True)
        reasons = {}
        for test, message in found.failed.items():
            whose, why = blame(suite, test)
            faults[whose] = faults.get(whose, 0) + 1
            reasons[whose, why] = reasons.get((whose, why), 0) + 1
            print(f"    {test}: {whose}, {why} ({message})", flush=True)
        rows.append((suite, found, reasons))
    counts = ", ".join(f"{n} {whose}" for whose, n in sorted(faults.items())) or "none"
    print(f"\n{total[0]} passed, {total[1]} failed; whose fault: {counts}")
    if not only:
        PAGE.write_text(page(rows, total, counts), encoding="utf-8")
    return int(OURS in faults)


def page(rows, total, counts) -> str:
    """What was run, in Markdown."""
    lines = [
        "# Peers' own tests against ours",
        "",
        f"Written on {date.today().isoformat()} by `make peers`: test files that peers install, "
        "with their names bound to ours by the adapters in `benchmarks/peers`. tslearn, pymanopt, "
        "roboticstoolbox and spgl1 install no tests. Tests that call a peer's own class by another "
        "way, and so say nothing about ours, are left out.",
        "",
        f"{total[0]} passed, {total[1]} failed; whose fault: {counts}.",
        "",
        "| peer | file | passed | failed | why |",
        "|---|---|---:|---:|---|",
    ]
    for suite, found, reasons in rows:
        version = metadata.version(suite.peer)
        why = "; ".join(f"{n} {whose}: {text}" for (whose, text), n in reasons.items())
        cells = f"{suite.peer} {version}", f"`{suite.module}`", len(found.passed), len(found.failed)
        lines.append("| " + " | ".join(map(str, (*cells, why))) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
