"""UKR-oil: the oil flow data on a plane."""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA, KernelPCA
from sklearn.neighbors import KNeighborsClassifier

from isthmus.datasets import load_oilflow
from isthmus.losses import Huber
from isthmus.plotting import latent_map
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._ukr import DELTA, published_fit

BOXES = (0.5, 1.5, 2.5, 3.5, 4.5)


MODELS = {
    "kernel regression": {},
    "kernel regression, L1 distances": {"data_kernel": "l1"},
    "kernel regression, Huber's loss": {"loss": Huber(DELTA)},
}
STEPS = ("in the box of 4.5", "without a box")
PLANE, KERNEL_PLANE = "principal components", "kernel principal components, L1 distances"


@experiment(
    "UKR-oil",
    document="[004] 4.6.4 and 5.1.5, figures 4.12, 4.13 and 5.14",
    title="Oil flow: twelve readings on a plane",
    published=(
        "1000 rows, quartic kernel, leave-one-out, principal components in a box that grows from a "
        "half to 4.5 in five steps of at most 1000 RPROP steps, then none. The three regimes of "
        "flow are separated far better than by principal components, of pixels or of L1 "
        "distances; Huber's loss gives another picture than L1 distances. Pictures; 530 seconds."
    ),
    covers=[
        Covers("004 figure 4.12", way="claim"),
        Covers("004 figure 4.13", way="claim"),
        Covers("004 figure 5.14", way="claim"),
    ],
    quick={"n_samples": 250, "models": ("kernel regression",), "steps": 30},
    full={"n_samples": 1000, "models": tuple(MODELS), "steps": 500},
    needs_data=True,
)
def oil(settings, seed, progress):
    data = load_oilflow()
    n = settings["n_samples"]
    Y, labels = np.asarray(data.X_train[:n], dtype=float), data.y_train[:n]
    Yt, test_labels = np.asarray(data.X_test[:n], dtype=float), data.y_test[:n]
    planes = _planes(Y, Yt)
    panels = {name: Z for name, (Z, _) in planes.items()}
    errors = {name: _errors(Z, labels, Zt, test_labels) for name, (Z, Zt) in planes.items()}
    density = {}
    for i, name in enumerate(settings["models"]):
        for j, step in enumerate(STEPS):
            progress((i + j / 2) / len(settings["models"]), f"{name}, {step}")
            # The document starts the model of L1 distances from kernel components of these.
            start = planes[KERNEL_PLANE if "data_kernel" in MODELS[name] else PLANE][0]
            model = published_fit(
                Y, 2, validation="loo", seed=seed, tol=1e-4, **MODELS[name],
                init=BOXES[0] * start / np.abs(start).max(), **_stages(step, settings["steps"]),
            )  # fmt: skip
            key = f"{name}, {step}"
            errors[key] = _errors(model.embedding_, labels, model.transform(Yt), test_labels)
            panels[key], density[key] = model.embedding_, model.latent_density
    return Outcome(
        list(_rows(errors, whole=n == 1000)),
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
            "The document gives pictures; errors of the nearest neighbour are ours, training rows "
            "left out one by one, test rows projected on the manifold."
        ],
    )  # fmt: skip


def _stages(step, steps):
    """Boxes that grow; the model is that of the last one, or of steps without any after it."""
    boxes = [{"box": side, "max_iter": steps} for side in BOXES]
    return {"homotopy": boxes, "steps": steps if step == STEPS[1] else 0}


def _planes(Y, Yt):
    """Principal components of both kinds, of training and test rows."""
    plane = PCA(2).fit(Y)
    # Minus half the distances is a kernel up to centring, which kernel PCA does.
    kernel = KernelPCA(2, kernel="precomputed", eigen_solver="dense")
    Z = kernel.fit_transform(-0.5 * cdist(Y, Y, "cityblock"))
    Zt = kernel.transform(-0.5 * cdist(Yt, Y, "cityblock"))
    return {PLANE: (plane.transform(Y), plane.transform(Yt)), KERNEL_PLANE: (Z, Zt)}


def _rows(errors, *, whole):
    base = errors[PLANE]
    for name, (train, test) in errors.items():
        plain = name in (PLANE, KERNEL_PLANE)
        better = bool(max(train / base[0], test / base[1]) < 0.5)
        yield Row(
            f"{name}: label of the nearest latent neighbour, errors in training / of test rows",
            "the regimes overlap" if plain else "far better separated",
            f"{train:.1%} / {test:.1%}",
            "to compare with"
            if name == PLANE
            else ("less" if better else "not less")
            + " than half the errors of principal components, in training and test",
            None if not whole or name == PLANE else better != plain,
        )


def _errors(Z, labels, Zt, test_labels):
    judge = KNeighborsClassifier(1).fit(Z, labels)
    # Without an argument, a row is not its own neighbour.
    nearest = judge.kneighbors(return_distance=False)[:, 0]
    train = float(np.mean(labels[nearest] != labels))
    return train, float(1 - judge.score(Zt, test_labels))
