"""The parameters of a supervised reduction, checked and with their defaults filled in."""

from typing import Any, NamedTuple

from isthmus._checks import check_choice, check_float, check_int

SOLVERS = ("exact", "semi", "mm", "gradient", "published")
# Those that work with the distances of all pairs, at any exponent.
OF_DISTANCES = ("semi", "gradient")
MAPPINGS = ("auto", "analytic", "learned", "linear")


class ReductionSettings(NamedTuple):
    """How coordinates are found; ``max_iter=None`` is the default of the solver."""

    solver: str
    mapping: str
    y_weight: float
    exponent: float
    tol: float
    max_iter: int | None


def check_settings(owner: Any) -> ReductionSettings:
    """Return the settings of an estimator, or say which parameter is wrong."""
    solver = check_choice(owner.solver, "solver", owner, SOLVERS)
    if isinstance(owner.regressor, str):
        check_choice(owner.regressor, "regressor", owner, ("stacked",))
    max_iter = owner.max_iter
    return ReductionSettings(
        solver,
        _check_mapping(owner),
        check_float(owner.y_weight, "y_weight", owner, high=1.0),
        _check_exponent(owner) if solver in OF_DISTANCES else 2.0,
        check_float(owner.tol, "tol", owner),
        None if max_iter is None else check_int(max_iter, "max_iter", owner, low=1),
    )


def _check_mapping(owner: Any) -> str:
    solver, mapping = owner.solver, check_choice(owner.mapping, "mapping", owner, MAPPINGS)
    analytic = solver in ("exact", "mm")
    if mapping == "auto":
        return "analytic" if analytic else "learned"
    refused = {"analytic": not analytic, "linear": solver != "gradient", "learned": False}
    if refused[mapping]:
        raise ValueError(
            f"The 'mapping' parameter of {type(owner).__name__} cannot be {mapping!r} with "
            f"solver={solver!r}: 'analytic' needs 'exact' or 'mm', 'linear' needs 'gradient', "
            "and 'learned' works with all."
        )
    return str(mapping)


def _check_exponent(owner: Any) -> float:
    exponent = check_float(owner.exponent, "exponent", owner, include_low=False, high=2.0)
    if exponent == 2:
        raise ValueError(
            f"The 'exponent' parameter of {type(owner).__name__} must be below 2 with "
            f"solver={owner.solver!r}. Got 2: use solver='exact', a closed form without distances."
        )
    return exponent
