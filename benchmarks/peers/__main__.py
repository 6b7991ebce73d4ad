"""Run peers' tests against ours and print passed, failed, and whose fault a failure is."""

import argparse
import os
import sys
from importlib.util import find_spec

import pytest

from benchmarks.peers.suites import OURS, SUITES, Suite


class Replacement:
    """A plugin of pytest that binds a peer's names to ours once its file is loaded."""

    def __init__(self, suite: Suite):
        self.suite, self.passed, self.failed, self.skipped = suite, [], {}, []

    def pytest_collection_modifyitems(self, items):
        for module in {item.module for item in items}:
            for name, make in self.suite.replaced.items():
                setattr(module, name, make(getattr(module, name)))

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
    parser.add_argument("--only", default="", help="files whose name holds this")
    chosen = [s for s in SUITES if parser.parse_args().only in s.module]
    total, faults = [0, 0], {}
    for suite in chosen:
        found = run(suite)
        total = [total[0] + len(found.passed), total[1] + len(found.failed)]
        print(f"{suite.module}: {len(found.passed)} passed, {len(found.failed)} failed", flush=True)
        for test, message in found.failed.items():
            whose, why = blame(suite, test)
            faults[whose] = faults.get(whose, 0) + 1
            print(f"    {test}: {whose}, {why} ({message})", flush=True)
    counts = ", ".join(f"{n} {whose}" for whose, n in sorted(faults.items())) or "none"
    print(f"\n{total[0]} passed, {total[1]} failed; whose fault: {counts}")
    return int(OURS in faults)


if __name__ == "__main__":
    sys.exit(main())
