"""SFM-leukemia: how few genes separate two leukaemias."""

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from isthmus.datasets import load_leukemia
from isthmus.regression import SupportFeatureMachine
from isthmus_experiments import Outcome, Row, experiment


@experiment(
    "SFM-leukemia",
    document="[002] 5",
    title="Genes that tell two leukaemias apart",
    published=(
        "Support feature machines are recommended for microarrays, where a few of thousands of "
        "genes separate the classes. No figures for this set."
    ),
    quick={"folds": 3},
    full={"folds": 19},
    needs_data=True,
)
def leukemia(settings, seed, progress):
    data = load_leukemia()
    X = np.log(np.maximum(np.asarray(data.X, dtype=float).T, 1.0))
    y = np.array([str(label).startswith("AML") for label in data.label])
    folds = min(settings["folds"], int(y.sum()), int((~y).sum()))
    cv = StratifiedKFold(folds, shuffle=True, random_state=seed)
    machines = {
        "support features": SupportFeatureMachine(),
        "l1 machine": LinearSVC(penalty="l1", dual=False, C=0.5, max_iter=20_000, random_state=0),
        "all genes": LinearSVC(max_iter=100_000, random_state=0),
    }
    accuracy, genes = {}, {}
    for i, (name, machine) in enumerate(machines.items()):
        progress(i / len(machines), name)
        pipe = make_pipeline(StandardScaler(), machine)
        accuracy[name] = float(np.mean(cross_val_predict(pipe, X, y, cv=cv) == y))
        genes[name] = int(np.count_nonzero(pipe.fit(X, y)[-1].coef_))
    few, l1 = genes["support features"], genes["l1 machine"]
    return Outcome(
        [
            Row(
                "genes used: support features, l1 machine, all",
                "a few",
                ", ".join(str(count) for count in genes.values()),
                f"{few} of {X.shape[1]} genes separate the {len(y)} samples"
                if few < l1
                else "no fewer than the l1 machine",
                few < l1,
            ),
            Row(
                f"accuracy in {folds} folds: support features, l1 machine, all",
                None,
                ", ".join(f"{100 * value:.0f} %" for value in accuracy.values()),
                "the price of so few genes is read from the difference to all",
            ),
        ],
        notes=[
            "Logarithms of the expressions, floored at 1, standardised in each fold. So few "
            "samples do not determine the genes: other splits choose others."
        ],
    )
