"""RED-uji: indoor position from radio signals by supervised reduction."""

import numpy as np

from isthmus.datasets import load_uji_indoor
from isthmus_experiments import Covers, experiment
from isthmus_experiments.experiments._reduction.positions import METHODS, QUICK, UJI, same_table
from isthmus_experiments.experiments._reduction.report import (
    COMPONENTS,
    FURTHER_COMPONENTS,
    outcome,
)
from isthmus_experiments.experiments._reduction.tables import (
    errors_over_components,
    folds_of,
    ridge,
)


@experiment(
    "RED-uji",
    document="[003] 5.5, table 5.5",
    title="Supervised reduction of indoor radio signals, 3 to 11 components",
    published=(
        "19 937 places, 529 columns, longitude in metres: five-fold RMSE of DisCoMax 12.28 (d = 3) "
        "to 9.65 (d = 11), the best at every d; its six rivals 11.7 to 21.5."
    ),
    covers=[
        Covers("003 table 5.5", way="claim", why="1500 of 19 937 places"),
    ],
    readings={
        "never rises": FURTHER_COMPONENTS,
        "": (
            "with 1500 of 19 937 places and the columns that give the answer away left out, no "
            "reduction is far from the regression on all columns: there is little to tell apart"
        ),
    },
    in_short=(
        "few places, without the columns that give the answer away: there is little to tell apart"
    ),
    quick=QUICK,
    full={"components": COMPONENTS, "folds": 5, "rows": 1500, "methods": METHODS},
    draws={"folds": 5},
    needs_data=True,
)
def uji(settings, seed, progress):
    data = load_uji_indoor()
    rows = np.random.default_rng(seed).choice(len(data.X_train), settings["rows"], replace=False)
    signals = data.X_train[rows].astype(float)
    # Not heard is weaker than the weakest; then the range is mapped to [0, 1].
    X = np.where(signals == 100, -105.0, signals) / 105 + 1
    X = X[:, X.std(axis=0) > 0]
    y = data.Y_train[rows, 0]
    errors = errors_over_components(
        X,
        y,
        folds_of(len(y), settings["folds"], 1, seed),
        settings["components"],
        regressor=ridge,
        methods=settings["methods"],
        seed=seed,
        progress=progress,
    )
    return outcome(
        errors,
        settings["components"],
        UJI,
        [
            "The 520 signals alone: the other nine columns of the document hold floor, building, "
            "user and the second coordinate, which give the answer away.",
            f"{settings['rows']} of 19 937 places, drawn at random. Many were recorded at the same "
            "spot minutes apart, so random folds know the spots; the official test file does not.",
        ],
        unit="m",
        same_size=False,
        extra=[same_table()],
    )
