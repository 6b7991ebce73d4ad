"""SC-classes: digits told apart by the dictionary that represents them best."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from isthmus.datasets import is_available, load_usps
from isthmus.plotting import error_bars
from isthmus.sparse import DictionaryClassifier
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

STRENGTH = 30.0
FIRST_SPLIT = 1000  # split 0 was used to set the strength
NEIGHBOUR = "nearest neighbour"


@experiment(
    "SC-classes",
    document="[002] 2.5, figure 15",
    title="Discriminative dictionaries on digits",
    published=(
        "Dictionaries trained to be good for their own class and bad for the others tell classes "
        "apart by the residual; shown on edges of objects, without numbers."
    ),
    covers=[
        Covers(
            "002 figure 15",
            way="other data",
            why="the images of the picture are not available; textures stand in",
        ),
    ],
    quick={"shapes": ((5, 2),), "usps": False, "runs": 2},
    full={"shapes": ((5, 2), (15, 3)), "usps": True, "runs": 5},
)
def run(settings, seed, progress):
    X, y = load_digits(return_X_y=True)
    panels, rows = {}, []
    total = len(settings["shapes"]) * settings["runs"]
    for i, shape in enumerate(settings["shapes"]):
        errors = []
        for r in range(settings["runs"]):
            progress((i * settings["runs"] + r) / (total + 1), f"digits, {shape[0]} atoms")
            parts = train_test_split(
                X, y, test_size=0.4, stratify=y, random_state=FIRST_SPLIT + seed + r
            )
            errors.append(_errors(*parts, shape, seed))
        mean = {name: float(np.mean([e[name] for e in errors])) for name in errors[0]}
        panels[f"test error in %, {shape[0]} atoms, {shape[1]} non-zeros"] = mean
        rows.extend(_rows(f"digits, {shape[0]} atoms a class, {shape[1]} non-zeros", mean))
    notes = [
        f"Errors in percent, mean of {settings['runs']} splits of the 1797 digits of scikit-learn "
        f"(8 x 8 pixels), 40 % of them for testing; strength {STRENGTH:g}, set beforehand on one "
        "other split."
    ]
    if settings["usps"] and is_available("usps"):
        progress(total / (total + 1), "USPS")
        data = load_usps()
        # Pixels from 0 (background) on: a signal and its multiples are one to a dictionary.
        train, test = (np.asarray(A, dtype=float) + 1 for A in (data.X_train, data.X_test))
        mean = _errors(train, test, data.y_train, data.y_test, (20, 4), seed)
        rows.extend(_rows("USPS, 20 atoms a class, 4 non-zeros", mean))
    return Outcome(
        rows,
        [Picture("errors", "Test errors in percent.", lambda: error_bars(panels))],
        notes,
    )


def _errors(X, X_test, y, y_test, shape, seed):
    n_atoms, n_nonzero = shape
    models = {
        NEIGHBOUR: KNeighborsClassifier(1),
        "reconstruction": DictionaryClassifier(n_atoms, n_nonzero=n_nonzero, random_state=seed),
        "competition": DictionaryClassifier(
            n_atoms, n_nonzero=n_nonzero, discrimination=STRENGTH, random_state=seed
        ),
    }
    return {name: 100 * (1 - m.fit(X, y).score(X_test, y_test)) for name, m in models.items()}


def _rows(title, mean):
    better = mean["competition"] < mean["reconstruction"]
    return [
        Row(
            f"{title}: error in %, competition : reconstruction",
            "no value; lower is expected",
            f"{mean['competition']:.2f} : {mean['reconstruction']:.2f}",
            "dictionaries that compete err less" if better else "competition does not help here",
            better,
        ),
        Row(f"{title}: error in % of the {NEIGHBOUR}", None, mean[NEIGHBOUR], "for comparison"),
    ]
