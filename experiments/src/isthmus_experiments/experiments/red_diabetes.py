"""RED-diabetes: the protocol of the tables on data that ship with scikit-learn."""

from sklearn.datasets import load_diabetes

from isthmus_experiments import experiment
from isthmus_experiments.experiments._reduction.report import outcome
from isthmus_experiments.experiments._reduction.tables import (
    CROSSFITTED,
    FEW,
    OTHERS,
    PROJECTION,
    PUBLISHED,
    TRUE,
    errors_over_components,
    folds_of,
    ridge,
)


@experiment(
    "RED-diabetes",
    document="[003] 5.5, on other data",
    title="Supervised reduction of the diabetes data, on every machine",
    published=(
        "Not in the document; its protocol on the 442 patients that ship with scikit-learn: the "
        "error of seven reductions with the same regression and the same folds."
    ),
    quick={"components": (3, 7), "folds": 2, "methods": FEW},
    full={
        "components": (1, 2, 3, 5, 7, 9),
        "folds": 5,
        "methods": (*PUBLISHED, *OTHERS, CROSSFITTED, TRUE, PROJECTION),
    },
    draws={"folds": 5},
)
def diabetes(settings, seed, progress):
    X, y = load_diabetes(return_X_y=True)
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
        {},
        ["Kernel ridge regression stands behind every reduction."],
    )
