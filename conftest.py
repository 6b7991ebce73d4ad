"""What all tests share, those of the library and those of the experiments."""

import os
from collections import Counter

import numpy as np
import pytest

SEED = int(os.environ.get("ISTHMUS_SEED", "0"))


@pytest.fixture(autouse=True)
def same_random_numbers():
    """``random_state=None`` draws the same numbers in a test whatever ran before it."""
    np.random.seed(SEED)  # noqa: NPY002


@pytest.fixture
def rng():
    """A generator; set ISTHMUS_SEED to sweep it."""
    return np.random.default_rng(SEED)


@pytest.fixture
def points(rng):
    """Sixty points of the plane, read-only so that nothing may change its input."""
    X = rng.uniform(size=(60, 2))
    X.flags.writeable = False
    return X


@pytest.fixture
def assert_gradient():
    """A check that can fail: the remainder of Taylor's formula must shrink like t²."""

    def check(fun, grad, x, rng):
        d = rng.normal(size=x.shape)
        t = np.logspace(-2, -4.5, 6)
        linear = np.vdot(grad(x), d)
        remainder = [abs(fun(x + s * d) - fun(x) - s * linear) for s in t]
        if max(remainder) < 1e-12 * max(1, abs(fun(x))):
            return  # linear functions have none
        slope = np.polyfit(np.log(t), np.log(np.maximum(remainder, 1e-300)), 1)[0]
        assert slope > 1.9, f"Taylor remainder shrinks like t^{slope:.2f}, expected t^2"

    return check


def pytest_terminal_summary(terminalreporter):
    """Two tables: scikit-learn's checks of each estimator, and the cells of the grid of parts."""
    checks = _properties(terminalreporter, "contract")
    if checks:
        terminalreporter.section("scikit-learn's estimator checks")
        heads = ("passed", "failed", "skipped", "xfail")
        terminalreporter.write_line("".join(f"{h:>8}" for h in (*heads[:3], "exempt")))
        for name, counts in sorted(checks):
            line = "".join(f"{counts.get(key, 0):8d}" for key in heads)
            terminalreporter.write_line(f"{line}  {' '.join(name.split())[:90]}")
    cells = Counter(_properties(terminalreporter, "grid"))
    if cells:
        terminalreporter.section("any piece fits any slot")
        terminalreporter.write_line(f"{'work':>8}{'refused':>8}  slots")
        for grid in sorted({grid for grid, _ in cells}):
            counts = [cells[grid, kind] for kind in ("works", "refused")]
            terminalreporter.write_line("".join(f"{n:8d}" for n in counts) + f"  {grid}")


def _properties(terminalreporter, wanted):
    """What tests have recorded under a name."""
    return [
        tuple(value) if isinstance(value, list) else value
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", [])
        if name == wanted and report.when == "call"
    ]


@pytest.fixture
def assert_refuses_wrong_parameters():
    """Every parameter in turn gets values that cannot be meant; each is refused in one line."""
    wrong = (-1, "x", [], float("nan"), object(), np.zeros((2, 9)))

    def check(cls, settings, X, y):
        for name in cls().get_params():
            # What is shown goes by its truth, and -1 processors are all of them.
            for value in () if name == "verbose" else wrong[name == "n_jobs" :]:
                model = cls(**{**settings, name: value})
                with pytest.raises((TypeError, ValueError)) as caught:
                    model.fit(X, y)
                message = str(caught.value)
                assert message.startswith(f"The {name!r} parameter of {cls.__name__} "), message
                assert "\n" not in message

    return check


@pytest.fixture(scope="session")
def isthmus():
    """Run the command line in this process: ``isthmus("fit", path, "--outputs", "u")``."""
    from typer.testing import CliRunner

    from isthmus.cli.app import app

    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run
