"""RED-ct: position along the body from CT slices by supervised reduction."""

import numpy as np

from isthmus.datasets import load_ct_slices
from isthmus_experiments import Covers, Row, experiment
from isthmus_experiments.experiments._reduction.positions import CT, METHODS, QUICK, same_table
from isthmus_experiments.experiments._reduction.report import (
    COMPONENTS,
    FURTHER_COMPONENTS,
    outcome,
)
from isthmus_experiments.experiments._reduction.tables import (
    OURS,
    Problem,
    errors_of_problems,
    folds_of,
    ridge,
)


@experiment(
    "RED-ct",
    document="[003] 5.5, table 5.4",
    title="Supervised reduction of CT slices, 3 to 11 components, on a small sample",
    published=(
        "53 500 slices, 384 features, position along the body from 0 to 180: five-fold RMSE of "
        "DisCoMax 12.29 (d = 3) to 9.66 (d = 11), the best at every d; its six rivals 11.7 to 21.5."
    ),
    covers=[
        Covers(
            "003 table 5.4",
            way="other data",
            why="757 of 53 500 slices are available; no package that was looked through has more",
        ),
    ],
    readings={
        "never rises": FURTHER_COMPONENTS,
        "": (
            "two patients make up most of the slices that are available: not the published problem"
        ),
    },
    quick=QUICK,
    full={"components": COMPONENTS, "folds": 5, "rows": 757, "methods": METHODS},
    draws={"folds": 5},
    needs_data=True,
)
def ct(settings, seed, progress):
    data = load_ct_slices()
    rows = np.random.default_rng(seed).permutation(len(data.y))[: settings["rows"]]
    X, y, patient = np.asarray(data.X[rows], dtype=float), data.y[rows], data.patient[rows]
    folds = {
        "rows": folds_of(len(y), settings["folds"], 1, seed),
        "patients": folds_of(len(y), settings["folds"], 1, seed, patient),
    }
    found = errors_of_problems(
        {
            "rows": Problem(X, y, folds["rows"], settings["methods"]),
            "patients": Problem(X, y, folds["patients"], (OURS, "PLS")),
        },
        settings["components"],
        regressor=ridge,
        seed=seed,
        progress=progress,
    )
    grouped = {name: e.mean(axis=1) for name, e in found["patients"].items()}
    best = int(np.argmin(grouped[OURS]))
    times = grouped[OURS][best] / found["rows"][OURS].mean(axis=1)[best]
    return outcome(
        found["rows"],
        settings["components"],
        CT,
        [
            "Only 757 of the 53 500 slices are at hand, 683 of them of two patients: a smoke test. "
            "Neighbouring slices of a patient fall into different folds, in the document too.",
        ],
        unit="",
        same_size=False,
        extra=[
            same_table(),
            Row(
                "whole patients left out: RMSE",
                None,
                f"{OURS} {grouped[OURS][best]:.3g}, PLS {grouped['PLS'].min():.3g}",
                f"{times:.1f} times the error of random folds, which know the patient",
            ),
        ],
    )
