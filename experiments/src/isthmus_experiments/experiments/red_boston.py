"""RED-boston: supervised reduction of Boston housing, table 5.1."""

from functools import cache

from isthmus.datasets import load_boston
from isthmus_experiments import Covers, Row, experiment
from isthmus_experiments.experiments._reduction.checks import partitions_row, slices_row
from isthmus_experiments.experiments._reduction.report import (
    COMPONENTS,
    FURTHER_COMPONENTS,
    TOLERANCE,
    outcome,
)
from isthmus_experiments.experiments._reduction.tables import (
    ALL,
    CROSSFITTED,
    FEW,
    OTHERS,
    OURS,
    PROJECTION,
    PUBLISHED,
    REGRESSORS,
    TRUE,
    errors_over_components,
    folds_of,
)

TABLE = {
    OURS: (0.1559, 0.1493, 0.1327, 0.1311, 0.1297),
    "LSDR": (0.1978, 0.1963, 0.1892, 0.1886, 0.1873),
    "gKDR": (0.1997, 0.1813, 0.1762, 0.1738, 0.1719),
    "SCA": (0.1875, 0.1796, 0.1708, 0.1637, 0.1602),
    "LAD": (0.2019, 0.1964, 0.1932, 0.1917, 0.1903),
    "SAVE": (0.2045, 0.1983, 0.1967, 0.1952, 0.1947),
    "SIR": (0.2261, 0.2193, 0.2086, 0.2076, 0.2068),
}
PLAIN_SVR = 0.1719
# The range of the target is mapped to [-1, 1].
HALF_RANGE = 22.5


@experiment(
    "RED-boston",
    document="[003] 5.5, table 5.1",
    title="Supervised reduction of Boston housing, 3 to 11 components",
    published=(
        "Five-fold RMSE of a support vector regression behind seven reductions: DisCoMax 0.1559 "
        "(d = 3) to 0.1297 (d = 11), the best at every d; support vector regression on all "
        "columns 0.1719. No scaling, no grid of parameters and no standard deviations are given."
    ),
    covers=[
        Covers("003 table 5.1"),
    ],
    readings={
        "never rises": FURTHER_COMPONENTS,
        "DisCoMax": "at three components ours errs less: it is the global maximum",
        "": (
            "neither other partitions into folds nor other numbers of slices explain it, see the "
            "last rows; scales, widths and penalties of the rivals are not published"
        ),
    },
    in_short="slices, widths and penalties of the rivals are not stated; ours mostly err less",
    quick={
        "components": (3,),
        "folds": 2,
        "repeats": 1,
        "regressor": "ridge",
        "methods": FEW,
    },
    full={
        "components": COMPONENTS,
        "folds": 5,
        "repeats": 1,
        "regressor": "svr",
        "methods": (*PUBLISHED, *OTHERS, CROSSFITTED, TRUE, PROJECTION),
    },
    draws={"folds": 5},
    needs_data=True,
)
def boston(settings, seed, progress):
    data = load_boston()
    y = data.y / HALF_RANGE
    folds = folds_of(len(y), settings["folds"], settings["repeats"], seed)
    errors = errors_over_components(
        data.X,
        y,
        folds,
        settings["components"],
        regressor=REGRESSORS[settings["regressor"]],
        methods=settings["methods"],
        seed=seed,
        progress=progress,
    )
    plain = errors[ALL].mean()
    return outcome(
        errors,
        settings["components"],
        TABLE,
        [
            "The target is divided by 22.5, half its range: with it the published error of the "
            "regression on all columns is met, which pins the scale. Its logarithm would fit too.",
            "DisCoMax is the global maximum at exponent 2 here, with its analytic map; the "
            "published algorithm does not reach that maximum (RED-solvers).",
            f"In a quick run two folds leave 253 rows for training, so errors are higher; "
            f"regression here: {settings['regressor']}.",
        ],
        extra=[
            Row(
                "regression on all 13 columns",
                PLAIN_SVR,
                float(plain),
                f"{plain / PLAIN_SVR - 1:+.0%}",
                bool(abs(plain / PLAIN_SVR - 1) <= TOLERANCE),
            ),
            *(_checked(seed) if settings["regressor"] == "svr" else ()),
        ],
    )


@cache
def _checked(seed):
    data = load_boston()
    y = data.y / HALF_RANGE
    return partitions_row(data.X, y, TABLE, seed), slices_row(data.X, y, TABLE, seed)
