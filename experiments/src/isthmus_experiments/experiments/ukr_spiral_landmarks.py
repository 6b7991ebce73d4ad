"""UKR-spiral-landmarks: the noisy spiral from few centres, at three degrees of smoothness."""

import time

import numpy as np

from isthmus.datasets import make_noisy_spiral
from isthmus.manifold import Landmarks, Starts
from isthmus.plotting import manifold_through
from isthmus_experiments import Covers, Outcome, Picture, Row, draws, experiment
from isthmus_experiments.experiments._ukr import (
    SPIRAL,
    curve_points,
    penalty_weight,
    published_fit,
    signed_distance,
    true_spiral,
)

WEIGHTS = {"before adaptation": None, "1": 1.0, "0.1": 0.1, "0": 0.0}
PENALTY = 0.001


@experiment(
    "UKR-spiral-landmarks",
    document="[004] 5.3.3, figure 5.23",
    title="Noisy spiral from 30, 50 and 100 landmarks, before and after they are adapted",
    published=(
        "500 points, Gaussian noise of 0.05, Gaussian kernel, Isomap starts, extension penalty "
        "0.001, 1000 steps. The curves are smooth but biased inwards; adapting the landmarks with "
        "a weight of 1 on roughness leaves some bias, 0.1 removes it and stays smooth, 0 gives "
        "wriggly curves where landmarks are many. 100 gradients take 2 s with 50 landmarks and "
        "20 s without. Pictures."
    ),
    covers=[Covers("004 figure 5.23", way="claim")],
    readings={
        "roughness": (
            "50 landmarks for 500 rows are still few: the curve cannot wriggle between them; at "
            "100 it does"
        ),
        "bias": (
            "with 100 landmarks a weight of 1 removes the bias already, so 0.1 has nothing left "
            "to remove"
        ),
    },
    quick={"landmarks": (30,), "n_sets": 1, "steps": 60, **SPIRAL},
    full={"landmarks": (30, 50, 100), "n_sets": 10, "steps": 1000, **SPIRAL},
)
def spiral_landmarks(settings, seed, progress):
    law = {"noise": 0.05, "law": "gaussian", "spacing": settings["spacing"]}

    def fit(Y, n, weight, steps=settings["steps"]):
        return published_fit(
            Y, 1, steps=steps, init=Starts("isomap", 4), seed=seed, density_kernel="gaussian",
            n_landmarks=Landmarks(n, "harmonic", weight),
            penalty={"extension": penalty_weight(Y, PENALTY)},
        )  # fmt: skip

    def draw(j):
        Y, _ = make_noisy_spiral(500, **law, random_state=seed + j)
        return {
            f"{n}, {name}": signed_distance(curve_points(fit(Y, n, weight), 1000), "spiral")
            for n in settings["landmarks"]
            for name, weight in WEIGHTS.items()
        } | {"seconds": _seconds(Y, settings["landmarks"], seed)}

    sets = draws(draw, settings["n_sets"], progress)
    found = {key: np.median([one[key] for one in sets], axis=0) for key in sets[0]}
    rows = [
        Row(f"{n} landmarks, {_text(name)}: distance / bias (inward negative) / roughness", None,
            " / ".join(f"{v:.4f}" for v in found[f"{n}, {name}"]), "the curve at 1000 places")
        for n in settings["landmarks"]
        for name in WEIGHTS
    ]  # fmt: skip
    for n in settings["landmarks"]:
        rows += _claims(n, {name: found[f"{n}, {name}"] for name in WEIGHTS})
    ratio = float(found["seconds"][1] / found["seconds"][0])
    rows.append(
        Row("seconds of 100 steps, all rows as centres : landmarks", "10 : 1", f"{ratio:.1f} : 1",
            "landmarks are faster" if ratio > 1 else "landmarks are not faster", bool(ratio > 1))
    )  # fmt: skip

    def drawn():
        Y, _ = make_noisy_spiral(500, **law, random_state=seed)
        n = settings["landmarks"][-1]
        return {_text(name): (Y, curve_points(fit(Y, n, w), 1500)) for name, w in WEIGHTS.items()}

    return Outcome(
        rows,
        [
            Picture(
                "curves", "The curves of the most landmarks.",
                lambda: manifold_through(drawn(), truth=true_spiral()),
            )
        ],
        [
            f"Medians over {len(sets)} data sets where the document shows one. The penalty is "
            "divided by the number of rows, as in UKR-bowl; times are of whole short fits."
        ],
    )  # fmt: skip


def _text(name):
    return name if WEIGHTS[name] is None else f"adapted with {name}"


def _seconds(Y, landmarks, seed):
    """Seconds of 100 further steps, with the middle number of landmarks and with all rows."""
    n = landmarks[len(landmarks) // 2]
    times = []
    for centres in (Landmarks(n), None):
        common = {"seed": seed, "density_kernel": "gaussian", "n_landmarks": centres}
        common["penalty"] = {"extension": penalty_weight(Y, PENALTY)}
        spent = []
        for steps in (0, 100):
            begun = time.process_time()
            published_fit(Y, 1, steps=steps, init="pca", **common)
            spent.append(time.process_time() - begun)
        times.append(spent[1] - spent[0])
    return times


def _claims(n, found):
    before, strong, right, none = found.values()
    inward = bool(before[1] < -0.005)
    yield Row(f"{n} landmarks, before adaptation: bias", "considerable, inwards", float(before[1]),
              "inwards" if inward else "hardly any", inward)  # fmt: skip
    less = abs(right[1]) < 0.5 * abs(before[1])
    removed = bool(less and abs(right[1]) <= abs(strong[1]) + 1e-3)
    yield Row(f"{n} landmarks: bias after weights of 1 and 0.1", "some left, then none",
              f"{strong[1]:+.4f}, {right[1]:+.4f}",
              "less than half of that before, at 0.1" if removed else
              "a weight of 1 leaves less than 0.1 does" if less else "more than half is left",
              removed)  # fmt: skip
    rough = bool(none[2] > right[2])
    yield Row(f"{n} landmarks: roughness at a weight of 0 over that at 0.1",
              "wriggly at 0 where landmarks are many", float(none[2] / right[2]),
              "rougher" if rough else "not rougher", rough if n >= 50 else None)  # fmt: skip
