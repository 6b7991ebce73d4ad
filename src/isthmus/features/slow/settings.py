"""The parameters of slow feature analysis, checked and with their defaults filled in."""

from functools import lru_cache
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from isthmus._checks import check_choice, check_float, check_int, refusal
from isthmus._warnings import warn
from isthmus.features.components.roots import WELL_CONDITIONED, inverse_condition
from isthmus.features.slow.formulas import Roots, SlowAxes, finish
from isthmus.features.slow.online import OnlineState

RANK = "rank of the expanded signal"
GRAPHS = ("time", "classes", "target")


class SlowSettings(NamedTuple):
    """What a fit needs to know besides the signal.

    ``standardize`` says whether columns are brought to unit variance before ``alpha`` and
    ``rcond`` are applied to them.
    """

    lags: list[int]
    alpha: float
    rcond: float
    standardize: bool


class _Parameters(NamedTuple):
    graph: Any
    solver: Any
    expansion: Any
    forgetting: Any
    learning_rate: Any
    lag: Any
    alpha: Any
    rcond: Any


def check_settings(owner: Any) -> SlowSettings:
    """Return the settings of an estimator, or say which parameter is wrong."""
    values = [getattr(owner, name) for name in _Parameters._fields]
    try:
        return _settings_of(*values)
    except (TypeError, ValueError):  # not hashable, or the owner's name belongs in the message
        return _settings(owner)


@lru_cache(maxsize=32, typed=True)  # a stream of small blocks asks again and again
def _settings_of(*values: Any) -> SlowSettings:
    return _settings(_Parameters(*values))


def _settings(owner: Any) -> SlowSettings:
    check_choice(owner.graph, "graph", owner, GRAPHS)
    check_choice(owner.solver, "solver", owner, ("exact", "online"))
    kernel = not isinstance(owner.expansion, Integral)
    linear = not kernel and check_int(owner.expansion, "expansion", owner, low=1) == 1
    check_float(owner.forgetting, "forgetting", owner, low=0.0, high=1.0, include_low=False)
    check_float(owner.learning_rate, "learning_rate", owner, low=0.0, high=1.0, include_low=False)
    lags = _check_lags(owner)
    if owner.solver == "online" and (lags != [1] or owner.graph != "time"):
        raise ValueError(
            "SlowFeatureAnalysis(solver='online') compares each row with the one before it: "
            f"expected lag=1 and graph='time'. Got lag={owner.lag!r}, graph={owner.graph!r}."
        )
    alpha, rcond = 1e-6 if kernel else 0.0, 1e-10 if linear else 1e-7
    if not _is_auto(owner.alpha):
        alpha = check_float(owner.alpha, "alpha", owner)
    if not _is_auto(owner.rcond):
        rcond = check_float(owner.rcond, "rcond", owner, high=1.0)
    return SlowSettings(lags, alpha, rcond, standardize=not kernel)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _check_lags(owner: Any) -> list[int]:
    lags: list[Any] = list(owner.lag) if np.iterable(owner.lag) else [owner.lag]
    whole = all(isinstance(v, Integral) and not isinstance(v, bool) and int(v) >= 1 for v in lags)
    if not lags or not whole:
        expected = "an int in [1, inf) or a sequence of such"
        raise ValueError(refusal(owner, "lag", expected, owner.lag))
    return [int(v) for v in lags]


def warn_of_too_many_functions(found: SlowAxes, roots: Roots) -> None:
    """Say so where any data would give slow features."""
    rows = roots.level[0, 0] ** 2
    if found.rank > rows / 10:
        warn(
            f"SlowFeatureAnalysis has {found.rank} independent functions for {rows:.0f} rows: with "
            "more than a tenth as many, slow outputs can be obtained from any data. Use fewer "
            "inputs, a lower degree or a penalty alpha, and check slowness() on other data.",
            UserWarning,
        )


def has_enough_rows(roots: Roots) -> bool:
    """Whether there are so many rows that no number of functions is too many for them."""
    return float(roots.level[0, 0]) ** 2 >= 10 * (roots.level.shape[1] - 1)


def has_all_axes(owner: Any, roots: Roots, settings: SlowSettings) -> bool:
    """Whether a stream begins with enough rows, of as many functions as columns; no axes needed.

    More axes than there are columns are refused.
    """
    level, k = roots.level, len(roots.shift)
    plain = settings.standardize and settings.rcond < WELL_CONDITIONED and owner.forgetting == 1
    if not plain or level.shape != (k + 1, k + 1) or not has_enough_rows(roots):
        return False
    if inverse_condition(level[1:, 1:]) <= WELL_CONDITIONED**2:
        return False
    if owner.n_components is not None:
        check_int(owner.n_components, "n_components", owner, low=1, high=k, why=RANK)
    return True


def slow_axes(roots: Roots | None, state: OnlineState | None, settings: SlowSettings) -> SlowAxes:
    """The axes of the sums, or of the state of an online solver."""
    if roots is None:
        assert state is not None
        return state.axes(settings.rcond)
    return finish(
        roots, rcond=settings.rcond, alpha=settings.alpha, standardize=settings.standardize
    )


def count_components(owner: Any, found: SlowAxes, asked: int | None, *, exact: bool) -> int:
    """The number of features to keep, or why there are not as many."""
    if found.rank == 0:
        raise ValueError(
            "SlowFeatureAnalysis found no variance: expected a signal that changes. Got "
            "constant columns only, n_samples = 1 or the like."
        )
    n = found.rank if exact else found.axes.shape[1]
    if asked is None:
        return n
    return check_int(asked, "n_components", owner, low=1, high=n, why=RANK)
