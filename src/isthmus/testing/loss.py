"""The check of losses."""

from typing import Any

import numpy as np
from sklearn.base import clone

from isthmus.losses.base import Loss as BaseLoss
from isthmus.losses.base import ResidualLoss
from isthmus.losses.resolve import as_loss
from isthmus.testing.inputs import generator, looks, pickled
from isthmus.testing.report import CheckReport, Facts
from isthmus.testing.taylor import remainder_order
from isthmus.typing import Array, Loss

TOL = 1e-10
# Residuals are taken in units of this spread.
SPREAD = 0.7
# A slope that jumps leaves a remainder of order 1, a right one of order 2.
SMOOTH = 1.5


def check_loss(loss: Loss | str) -> CheckReport:
    """Check that a loss keeps its contract.

    Values and slopes of the right shape; every slope lies between the difference quotients to
    either side, so that a kink may have any slope between, and where the loss has no stages it is
    smooth, by the remainder of Taylor's formula. One of residuals depends on ``P - Y`` alone, is
    not negative and zero at zero, and its value of a row is the sum over its elements. Stages are
    ever nearer to the loss.

    Parameters
    ----------
    loss : loss, a name, or an object with ``evaluate``
        Whatever :func:`isthmus.losses.as_loss` takes.

    Returns
    -------
    CheckReport

    Examples
    --------
    >>> from isthmus.losses import Absolute
    >>> from isthmus.testing import check_loss
    >>> "the last stage is the loss, nearly" in check_loss(Absolute()).facts
    True
    """
    facts = Facts("loss", loss)
    if isinstance(loss, type):
        facts.needs_methods(loss)
    piece = as_loss(loss)
    if isinstance(loss, BaseLoss):
        with facts.works("clone makes a copy with the same parameters"):
            twin = clone(loss)
        facts.holds(
            "clone makes a copy with the same parameters", looks(twin) == looks(loss), f"{twin!r}"
        )
    with facts.works("resolve replaces what is open by numbers"):
        fixed = piece.resolve(SPREAD)
    facts.holds(
        "a resolved loss has nothing left to resolve", looks(fixed.resolve(3.0)) == looks(fixed)
    )
    Y, R = _outputs_and_residuals()
    with facts.works("check_outputs takes outputs between 0 and 1"):
        fixed.check_outputs(Y)
    _check_values(facts, fixed, Y, R)
    _check_stages(facts, fixed, Y, R)
    if isinstance(fixed, ResidualLoss):
        # One of others is asked itself, since residuals are all that its wrapper shows it.
        told = fixed if isinstance(loss, (BaseLoss, str)) else loss
        found = np.asarray(told.evaluate(Y, Y + R)[0])
        facts.agree("it depends on P - Y alone", found, fixed.of_residuals(R)[0], tol=1e-8)
        _check_residuals(facts, fixed, R)
        _check_units(facts, fixed, R)
    again = pickled(facts, fixed)
    if again is not None:
        facts.agree(
            "it can be pickled", again.evaluate(Y, Y + R)[0], fixed.evaluate(Y, Y + R)[0], tol=TOL
        )
    return facts.report()


def _outputs_and_residuals() -> tuple[Array, Array]:
    rng = generator()
    sizes = SPREAD * np.array([0.05, 0.3, 0.6, 1.0, 1.5, 4.0, 10.0])
    signs = rng.choice([-1.0, 1.0], size=(len(sizes), 3))
    return rng.uniform(size=signs.shape), signs * sizes[:, None] * rng.uniform(
        0.7, 1.3, size=signs.shape
    )


def _check_values(facts: Facts, loss: Any, Y: Array, R: Array) -> None:
    P = Y + R
    with facts.works("evaluate gives values and slopes"):
        values, slopes = (np.asarray(part) for part in loss.evaluate(Y, P))
    facts.holds("slopes have the shape of the predictions", slopes.shape == P.shape, f"{slopes}")
    shape = P.shape[:1] if loss.shape == "ball" else P.shape
    facts.holds(
        "values are one for each element, or for each row where rows count as a whole",
        values.shape == shape,
        f"Found shape {values.shape} for predictions of shape {P.shape}.",
    )
    facts.holds(
        "values and slopes are finite", np.isfinite(values).all() and np.isfinite(slopes).all()
    )
    _check_slopes(facts, "the slope is that of the values, on one side at least", loss, Y, P)


def _row_totals(loss: Any, Y: Array, P: Array) -> Array:
    values = np.asarray(loss.evaluate(Y, P)[0])
    return values if values.ndim == 1 else values.sum(axis=1)


def _check_slopes(facts: Facts, fact: str, loss: Any, Y: Array, P: Array) -> None:
    """Each slope lies between the difference quotients to its left and to its right."""
    slopes, here = np.asarray(loss.evaluate(Y, P)[1]), _row_totals(loss, Y, P)
    for j in range(P.shape[1]):
        step = np.zeros_like(P)
        step[:, j] = 1e-6 * np.abs(P - Y)[:, j]
        right = (_row_totals(loss, Y, P + step) - here) / step[:, j]
        left = (here - _row_totals(loss, Y, P - step)) / step[:, j]
        noise = 1e-15 * (np.abs(here) + SPREAD) / step[:, j]
        slack = 1e-5 * (np.abs(right) + np.abs(left)) + noise
        low, high = np.minimum(left, right) - slack, np.maximum(left, right) + slack
        wrong = np.flatnonzero((slopes[:, j] < low) | (slopes[:, j] > high))
        detail = ""
        if len(wrong):
            i = wrong[0]
            detail = (
                f"Found {slopes[i, j]:.6g} at the residual {P[i, j] - Y[i, j]:.4g}, where the "
                f"values rise by {left[i]:.6g} from the left and {right[i]:.6g} to the right."
            )
        facts.holds(fact, not len(wrong), detail)


def _check_stages(facts: Facts, loss: Any, Y: Array, R: Array) -> None:
    with facts.works("stages gives losses to be minimised in turn"):
        stages = tuple(loss.stages(SPREAD))
    facts.holds("stages gives losses to be minimised in turn", len(stages) > 0)
    P = Y + R
    if stages == (loss,):
        _check_smooth(facts, loss, Y, P)
        return
    away = []
    for stage in stages:
        _check_slopes(facts, "the slope of every stage is that of its values", stage, Y, P)
        away.append(float(np.abs(_row_totals(stage, Y, P) - _row_totals(loss, Y, P)).max()))
    facts.holds(
        "stages come ever nearer to the loss", np.all(np.diff(away) <= 1e-12), f"Found {away}."
    )
    facts.holds(
        "the last stage is the loss, nearly",
        away[-1] <= 0.02 * SPREAD,
        f"Found it {away[-1]:.3g} away for residuals of spread {SPREAD}.",
    )


def _check_smooth(facts: Facts, loss: Any, Y: Array, P: Array) -> None:
    D = 0.02 * np.abs(P - Y) * generator().uniform(-1, 1, size=P.shape)
    order = remainder_order(
        lambda t: float(_row_totals(loss, Y, P + t * D).sum()),
        float(np.vdot(loss.evaluate(Y, P)[1], D)),
        float(np.abs(loss.evaluate(Y, P)[0]).sum()),
    )
    facts.holds(
        "the slope leaves a remainder of second order",
        order > SMOOTH,
        f"What remains after the linear term vanishes like t^{order:.2f} and not like t^2.",
    )
    where, jump = _largest_jump(loss, Y)
    facts.holds(
        "a loss without stages has no kink",
        jump <= 1e-3,
        f"Found a slope that jumps by {jump:.3g} at the residual {where:.4g}: offer stages.",
    )


def _largest_jump(loss: Any, Y: Array) -> tuple[float, float]:
    """Where the slope changes most within next to nothing, and by how much of its range.

    Seen along the first column: a loss may have parameters for rows, so all rows go there at once.
    """

    def slope(r: float) -> float:
        P = Y.copy()
        P[:, 0] += r
        return float(np.asarray(loss.evaluate(Y, P)[1])[0, 0])

    nodes = SPREAD * np.linspace(-5.3, 5.1, 201)
    found = np.array([slope(r) for r in nodes])
    i = int(np.abs(np.diff(found)).argmax())
    low, high = float(nodes[i]), float(nodes[i + 1])
    for _ in range(30):
        middle = (low + high) / 2
        at = slope(middle)
        first = abs(at - slope(low)) >= abs(slope(high) - at)
        low, high = (low, middle) if first else (middle, high)
    return low, abs(slope(high) - slope(low)) / max(float(np.ptp(found)), np.finfo(float).tiny)


def _check_residuals(facts: Facts, loss: Any, R: Array) -> None:
    values, slopes = loss.of_residuals(R)
    facts.holds("a loss of residuals is not negative", values.min() >= 0)
    nothing = np.asarray(loss.of_residuals(np.zeros_like(R))[0])
    facts.holds("a residual of zero costs nothing", np.all(nothing == 0), f"{nothing}")
    rows, row_slopes = loss.row_values(R)
    total = values if values.ndim == 1 else values.sum(axis=1)
    facts.agree("row_values sums the elements of each row", rows, total, tol=TOL)
    facts.agree("row_values has the slopes of the elements", row_slopes, slopes, tol=TOL)
    some = np.array([4, 1, 2])
    facts.agree(
        "for_rows is the loss of some rows", loss.for_rows(some).row_values(R[some])[0], rows[some],
        tol=TOL,
    )  # fmt: skip


def _check_units(facts: Facts, loss: Any, R: Array) -> None:
    unit = 4.0
    facts.agree(
        "in other units its values change by a power of the unit, its degree",
        loss.in_units(unit).row_values(R / unit)[0] * unit**loss.degree,
        loss.row_values(R)[0],
        tol=1e-8,
    )
