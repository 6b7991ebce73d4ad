"""UKR-oil: the oil flow data on a plane."""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier

from isthmus.datasets import load_oilflow
from isthmus.plotting import latent_map
from isthmus_experiments import Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._ukr import principal_start, published_fit

BOXES = (0.5, 1.5, 2.5, 3.5, 4.5)


@experiment(
    "UKR-oil",
    document="[004] 4.6.4, figures 4.12 to 4.14",
    title="Oil flow: twelve readings on a plane",
    published=(
        "1000 rows, quartic kernel, leave-one-out, principal components in a box that grows from a "
        "half to 4.5 in five steps of at most 1000 RPROP steps. The three regimes of flow are "
        "separated far better than by principal components. Pictures only; 530 seconds."
    ),
    quick={"n_samples": 250, "kernels": (None,), "steps": 30},
    full={"n_samples": 1000, "kernels": (None, "l1"), "steps": 500},
    needs_data=True,
)
def oil(settings, seed, progress):
    data = load_oilflow()
    n = settings["n_samples"]
    Y, labels = np.asarray(data.X_train[:n], dtype=float), data.y_train[:n]
    Yt, test_labels = np.asarray(data.X_test[:n], dtype=float), data.y_test[:n]
    plane = PCA(2).fit(Y)
    panels = {"principal components": plane.transform(Y)}
    errors = {
        "principal components": _errors(
            plane.transform(Y), labels, plane.transform(Yt), test_labels
        )
    }
    density = {}
    for i, kernel in enumerate(settings["kernels"]):
        name = "kernel regression" if kernel is None else "kernel regression, L1 distances"
        progress(i / len(settings["kernels"]), name)
        start = principal_start(Y, 2, 1.0)
        model = published_fit(
            Y, 2, steps=settings["steps"], validation="loo", data_kernel=kernel, seed=seed,
            init=BOXES[0] * start / np.abs(start).max(), tol=1e-4,
            homotopy=[{"box": side} for side in BOXES],
        )  # fmt: skip
        panels[name], density[name] = model.embedding_, model.latent_density
        errors[name] = _errors(model.embedding_, labels, model.transform(Yt), test_labels)
    base = errors["principal components"]
    rows = [
        Row("principal components: label of the nearest latent neighbour, errors in training / of "
            "test rows", None, f"{base[0]:.1%} / {base[1]:.1%}", "to compare with")
    ]  # fmt: skip
    rows += [
        Row(
            f"{name}: the same",
            "far better separated",
            f"{train:.1%} / {test:.1%}",
            "less than half the errors of principal components, in training and test"
            if max(train / base[0], test / base[1]) < 0.5
            else "not less than half the errors",
            bool(max(train / base[0], test / base[1]) < 0.5) if n == 1000 else None,
        )
        for name, (train, test) in errors.items()
        if name != "principal components"
    ]
    return Outcome(
        rows,
        [
            Picture(
                "plane",
                "Latent places of the training rows, coloured by the regime of flow; the ground is "
                "the darker the denser.",
                lambda: latent_map(
                    panels, labels=labels, density=density,
                    names={0: "regime 0", 1: "regime 1", 2: "regime 2"},
                ),
            )
        ],
        [
            "After the last box training goes on without any. The document gives pictures; errors "
            "of the nearest neighbour are ours, training rows left out one by one, test rows "
            "projected on the manifold."
        ],
    )  # fmt: skip


def _errors(Z, labels, Zt, test_labels):
    judge = KNeighborsClassifier(1).fit(Z, labels)
    # Without an argument, a row is not its own neighbour.
    nearest = judge.kneighbors(return_distance=False)[:, 0]
    train = float(np.mean(labels[nearest] != labels))
    return train, float(1 - judge.score(Zt, test_labels))
