"""IMITATION-mocap: poses from image features with the whole imitation pipeline."""

import numpy as np
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsRegressor

from isthmus.datasets import load_cmu_mocap
from isthmus.kernels import Gaussian
from isthmus.plotting import error_bars
from isthmus.preimage import CandidatePreimage, FixedPointPreimage
from isthmus.reduction import compress
from isthmus.robotics import ImitationModel
from isthmus_experiments import Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._kernel_ridge import kernel_ridge

PIPELINE = "pipeline, linear outputs"
NEAREST = "pipeline, nearest pose"
CURVED = "pipeline, Gaussian outputs"
RIDGE, NEIGHBOUR, MEAN = "kernel ridge", "1-nearest neighbour", "mean pose"
SHARE = 1 / 3


@experiment(
    "IMITATION-mocap",
    document="[000] 6, on motion capture",
    title="Image features to human poses (CMU) with the imitation pipeline",
    published=(
        "No values: the document imitates from its own camera. Kernel PCA of inputs for which "
        "frames without a pose count too, regression of limited rank, pre-image."
    ),
    readings={
        "": (
            "kernel ridge keeps all directions of feature space, the pipeline 99 % of their "
            "variance and few directions of that"
        ),
    },
    in_short=(
        "kernel ridge keeps all directions of feature space, the pipeline some; nothing is "
        "published"
    ),
    quick={"n_train": 150, "n_more": 150, "n_test": 80},
    full={"n_train": 1500, "n_more": 1500, "n_test": 600},
    needs_data=True,
)
def mocap(settings, seed, progress):
    data = load_cmu_mocap()
    rng = np.random.default_rng(seed)
    # Test sequences are other ones than those for training.
    known, test = next(GroupKFold(4).split(data.X, groups=data.sequence))
    known, test = rng.permutation(known), np.sort(rng.permutation(test)[: settings["n_test"]])
    n = settings["n_train"]
    train, more = np.sort(known[:n]), np.sort(known[: n + settings["n_more"]])
    joints = np.float64(data.Y).reshape(-1, 20, 3)
    Y = (joints - joints[:, :1]).reshape(len(joints), -1)  # relative to the hip
    X = np.float64(data.X)

    def distance(Z):
        return float(np.linalg.norm((Z - Y[test]).reshape(len(Z), -1, 3), axis=2).mean())

    progress(0.1, RIDGE)
    ridge = kernel_ridge().fit(X[train], Y[train])
    # One kernel for all, so that the comparison is of what comes after it.
    settings_of = {"x_kernel": ridge.kernel_, "x_components": 0.99, "y_components": 0.99}
    models = {
        PIPELINE: ImitationModel(**settings_of),
        NEAREST: ImitationModel(preimage=CandidatePreimage(), **settings_of),
        CURVED: ImitationModel(y_kernel=Gaussian(), preimage=FixedPointPreimage(), **settings_of),
    }
    errors = {
        MEAN: distance(np.tile(Y[train].mean(axis=0), (len(test), 1))),
        NEIGHBOUR: distance(KNeighborsRegressor(1).fit(X[train], Y[train]).predict(X[test])),
        RIDGE: distance(ridge.predict(X[test])),
    }
    for i, (name, model) in enumerate(models.items()):
        progress(0.2 + 0.25 * i, name)
        model.fit(X[train], Y[train], unlabelled=X[more])
        errors[name] = distance(model.predict(X[test]))
    whole = models[PIPELINE]
    small = compress(whole, round(SHARE * len(more)))
    short = distance(small.predict(X[test]))
    return Outcome(
        [*_error_rows(errors), _reduced_row(whole, small, errors[PIPELINE], short)],
        [
            Picture(
                "errors",
                "Mean distance of a joint from where it was, mm.",
                lambda: error_bars({"mm": errors}),
            )
        ],
        [
            "The pipeline is kernel PCA, regression of limited rank, pre-image: exact for linear "
            "outputs, by fixed points for Gaussian ones, and the nearest known pose as published "
            "for the arm.",
            "Gradient histograms of drawn silhouettes from three cameras; joints relative to the "
            "hip. Frames without a pose are half of those that make the components.",
            "Kernel ridge keeps all directions of the feature space; the pipeline keeps 99 % of "
            "its variance and few directions of that, and pays for it where outputs need more.",
        ],
    )


def _error_rows(errors):
    ours = errors[PIPELINE]
    verdicts = {
        NEIGHBOUR: (ours < errors[NEIGHBOUR], "the pipeline is nearer", "the neighbour is nearer"),
        RIDGE: (
            ours <= 1.05 * errors[RIDGE],
            "the pipeline is within 5 %, or nearer",
            "kernel ridge is nearer by more than 5 %",
        ),
    }
    rows = []
    for name, error in errors.items():
        good, yes, no = verdicts.get(name, (None, "informs", ""))
        rows.append(
            Row(
                f"mean joint error, {name}",
                "-",
                f"{error:.1f} mm",
                yes if good in (None, True) else no,
                None if good is None else bool(good),
            )
        )
    return rows


def _reduced_row(whole, small, full, short):
    n = len(whole.extractor_.objects)
    return Row(
        "the pipeline with a third of its patterns",
        "a third of the patterns kept",
        f"{small.n_points_} of {n} at rank {whole.rank_}: {short:.1f} mm ({short / full - 1:+.1%})",
        "less than 5 % is lost" if short < 1.05 * full else "more than 5 % is lost",
        bool(short < 1.05 * full),
    )
