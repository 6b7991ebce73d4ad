"""RED-ct and RED-uji: two tables that are one, 5.4 and 5.5."""

import numpy as np

from isthmus.datasets import load_ct_slices, load_uji_indoor
from isthmus_experiments import Row, experiment
from isthmus_experiments.experiments._reduction_report import COMPONENTS, outcome
from isthmus_experiments.experiments._reduction_tables import (
    CROSSFITTED,
    OTHERS,
    OURS,
    PUBLISHED,
    errors_over_components,
    folds_of,
    ridge,
)

CT = {
    OURS: (12.29, 11.11, 10.19, 9.73, 9.66),
    "LSDR": (14.38, 13.14, 12.87, 12.73, 12.69),
    "gKDR": (13.65, 12.86, 12.67, 12.35, 12.05),
    "SCA": (14.19, 13.64, 12.94, 12.12, 11.73),
    "LAD": (17.70, 17.62, 17.34, 17.15, 16.89),
    "SAVE": (19.32, 18.74, 18.62, 17.76, 17.21),
    "SIR": (21.53, 21.23, 20.97, 20.77, 20.64),
}
UJI = {
    OURS: (12.28, 11.10, 10.19, 9.73, 9.65),
    "LSDR": (14.38, 13.14, 12.86, 12.73, 12.69),
    "gKDR": (13.65, 12.86, 12.67, 12.34, 12.05),
    "SCA": (14.18, 13.63, 12.94, 12.12, 11.73),
    "LAD": (17.69, 17.62, 17.34, 17.15, 16.89),
    "SAVE": (19.32, 18.74, 18.61, 17.75, 17.20),
    "SIR": (21.53, 21.23, 20.97, 20.77, 20.63),
}
QUICK = {"components": (3,), "folds": 2, "rows": 250, "methods": (*PUBLISHED, *OTHERS)}
METHODS = (*PUBLISHED, *OTHERS, CROSSFITTED)


def _same_table():
    """The row that says what the two printed tables have in common."""
    differences = np.abs(np.array(list(CT.values())) - np.array(list(UJI.values())))
    equal, close = np.sum(differences < 0.005), np.all(differences < 0.015)
    return Row(
        "published tables 5.4 (millimetres of a body) and 5.5 (metres in buildings)",
        "two data sets",
        f"{equal} of {differences.size} cells are equal; the largest difference is "
        f"{differences.max():.2f}",
        "the same table was printed twice: at most one is of the data it names"
        if close
        else "two tables",
        not close,
    )


@experiment(
    "RED-ct",
    document="[003] 5.5, table 5.4",
    title="Supervised reduction of CT slices, 3 to 11 components, on a small sample",
    published=(
        "53 500 slices, 384 features, position along the body from 0 to 180: five-fold RMSE of "
        "DisCoMax 12.29 (d = 3) to 9.66 (d = 11), the best at every d; its six rivals 11.7 to 21.5."
    ),
    quick=QUICK,
    full={"components": COMPONENTS, "folds": 5, "rows": 757, "methods": METHODS},
    needs_data=True,
)
def ct(settings, seed, progress):
    data = load_ct_slices()
    rows = np.random.default_rng(seed).permutation(len(data.y))[: settings["rows"]]
    X, y, patient = np.asarray(data.X[rows], dtype=float), data.y[rows], data.patient[rows]
    found = []
    for i, groups in enumerate((None, patient)):
        folds = folds_of(len(y), settings["folds"], 1, seed, groups)
        found.append(
            errors_over_components(
                X,
                y,
                folds,
                settings["components"],
                regressor=ridge,
                methods=settings["methods"] if groups is None else (OURS, "PLS"),
                seed=seed,
                progress=lambda share, text="", i=i: progress(
                    (3 * i + (3 - 2 * i) * share) / 4, text
                ),
            )
        )
    grouped = {name: e.mean(axis=1) for name, e in found[1].items()}
    best = int(np.argmin(grouped[OURS]))
    return outcome(
        found[0],
        settings["components"],
        CT,
        [
            "Only 757 of the 53 500 slices are at hand, 683 of them of two patients: a smoke test. "
            "Neighbouring slices of a patient fall into different folds, in the document too.",
        ],
        unit="",
        same_size=False,
        extra=[
            _same_table(),
            Row(
                "whole patients left out: RMSE",
                None,
                f"{OURS} {grouped[OURS][best]:.3g}, PLS {grouped['PLS'].min():.3g}",
                f"{grouped[OURS][best] / found[0][OURS].mean(axis=1)[best]:.1f} times the error of "
                "random folds, which know the patient",
            ),
        ],
    )


@experiment(
    "RED-uji",
    document="[003] 5.5, table 5.5",
    title="Supervised reduction of indoor radio signals, 3 to 11 components",
    published=(
        "19 937 places, 529 columns, longitude in metres: five-fold RMSE of DisCoMax 12.28 (d = 3) "
        "to 9.65 (d = 11), the best at every d; its six rivals 11.7 to 21.5."
    ),
    quick=QUICK,
    full={"components": COMPONENTS, "folds": 5, "rows": 1500, "methods": METHODS},
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
        extra=[_same_table()],
    )
