"""KDE-usps: the sixteen middle pixels of a digit from all others."""

import numpy as np
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR

from isthmus.datasets import load_usps_roweis
from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.plotting import error_bars, image_grid
from isthmus.preimage import CandidatePreimage, GradientPreimage, LearnedPreimage
from isthmus.regression import KernelRidgeCV
from isthmus.structured import DependencyEstimator
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments import _soar
from isthmus_experiments.measure import mae, rmse

KDE = "KDE, gradient"
SUPPORT = "support vector regression"
SOAR_RIDGE, SOAR_SUPPORT = "SOAR, kernel ridge", "SOAR, support vectors"
PUBLISHED = {
    "1-nearest neighbour": 0.341,
    "kernel ridge": 0.250,
    SUPPORT: 0.250,
    KDE: 0.260,
    SOAR_RIDGE: 0.233,
    SOAR_SUPPORT: 0.230,
}
PREIMAGES = {
    KDE: lambda: GradientPreimage(bounds=(-1.0, 1.0)),
    "KDE, learned": lambda: LearnedPreimage(),
    "KDE, training outputs": lambda: CandidatePreimage(),
}
WIDTHS = [Gaussian(gamma) for gamma in (0.002, 0.004, 0.008, 0.016)]
PREDICTED = "KDE, learned from predictions"
TOLERANCE = 0.10
CENTRE = np.pad(np.ones((4, 4), dtype=bool), 6)


@experiment(
    "KDE-usps",
    document="[003] 4.4, table 4.3",
    title="USPS digits: the sixteen centre pixels from all others",
    published=(
        "7425 training and 2475 test images, MAE: nearest neighbour 0.341, kernel ridge and "
        "support vectors 0.250, kernel dependency estimation with 16 components 0.260, structured "
        "output-associative regression (SOAR) 0.233 by kernel ridge and 0.230 by support vectors. "
        "They are quoted there from another paper; the scale of the pixels, the split and the "
        "pre-image are not stated."
    ),
    covers=[
        Covers("003 table 4.3", 6),
    ],
    readings={
        "": (
            "ours is lower: which class was left out, the split and the pre-image are not stated, "
            "and the class alone moves all errors by a tenth"
        ),
    },
    in_short="ours errs less; the class left out, the split and the pre-image are not stated",
    quick={"n_train": 900, "n_test": 300, "n_associated": 300, "n_chosen": 150},
    full={"n_train": 7425, "n_test": 2475, "n_associated": 4000, "n_chosen": 1000},
    needs_data=True,
)
def usps(settings, seed, progress):
    images, train, test = _split(settings, seed)
    X, Y = images[:, ~CENTRE.ravel()], images[:, CENTRE.ravel()]
    progress(0.05, "nearest neighbour and kernel ridge")
    ridge = KernelRidgeCV(kernel=WIDTHS).fit(X[train], Y[train])
    guesses = {
        "1-nearest neighbour": KNeighborsRegressor(1).fit(X[train], Y[train]).predict(X[test]),
        "kernel ridge": ridge.predict(X[test]),
    }
    progress(0.2, SUPPORT)
    machine = MultiOutputRegressor(SVR(C=10.0, gamma=ridge.kernel_.gamma, epsilon=0.05))
    guesses[SUPPORT] = machine.fit(X[train], Y[train]).predict(X[test])
    progress(0.3, "output-associative regression")
    associated, chosen = _associated(X, Y, train, X[test], ridge, guesses["kernel ridge"], settings)
    guesses |= associated
    progress(0.5, "kernel dependency estimation")
    model = DependencyEstimator(
        regressor=KernelRidgeCV(kernel=ridge.kernel_),
        y_features=KernelPCA(16),
    ).fit(X[train], Y[train])
    coordinates = model.predict_coordinates(X[test])
    for i, (name, preimage) in enumerate(PREIMAGES.items()):
        progress(0.7 + 0.05 * i, name)
        solver = preimage().fit(Y[train], model.y_features_)
        guesses[name] = solver.solve(coordinates)

    progress(0.85, PREDICTED)
    again = DependencyEstimator(
        regressor=KernelRidgeCV(kernel=ridge.kernel_, alpha=model.regressor_.alpha_),
        y_features=KernelPCA(16),
        preimage=LearnedPreimage(),
        crossfit=3,
    )
    guesses[PREDICTED] = again.fit(X[train], Y[train]).predict(X[test])

    errors = {name: mae(Y[test], z) for name, z in guesses.items()}
    as_many = len(train) == 7425  # fewer cannot be held against the published values
    squared = {name: rmse(Y[test], z) for name, z in guesses.items()}
    return Outcome(
        [*(_value_row(name, errors, squared, as_many) for name in errors), _order_row(errors)],
        [
            Picture(
                "centres",
                "Eight test digits; the middle 4 x 4 pixels are what each method filled in.",
                lambda: _grid(images[test[:8]], guesses),
            ),
            Picture(
                "errors",
                f"Errors over {len(test)} test digits, pixels in [-1, 1].",
                lambda: error_bars({"MAE": errors, "RMSE": squared}, published={"MAE": PUBLISHED}),
            ),
        ],
        [
            "7425 + 2475 = 9 x (825 + 275): the set with 1100 images a class, one class left out. "
            "Which one is not said; here it is the zeros. Pixels are scaled to [-1, 1], which "
            "brings the nearest neighbour closest to its published value. A value within "
            f"{TOLERANCE:.0%} counts as agreeing; the class left out moves all errors.",
            f"The published pre-image is not stated. '{KDE}' is held against the value, since it "
            "solves the pre-image problem as it is posed; the others are listed beside it, and "
            "they lie far apart.",
            f"Input kernel {ridge.kernel_!r} and both penalties by leave-one-out on at most "
            "2000 training images.",
            "SOAR regresses each of the 16 pixels on the inputs and the other 15, on "
            f"{settings['n_associated']} of the training images since there is a kernel matrix for "
            "each pixel, and seeks the pixels on which all 16 regressions agree, from the "
            "prediction of kernel ridge regression. Width of the outputs and penalty, "
            f"{chosen[0]:g} and {chosen[1]:g}, are those with the least error on a third of "
            f"{settings['n_chosen']} training images.",
            "A training output is always a clean stroke, right or wrong, which absolute errors "
            "forgive more than squared ones. Sixteen components hold "
            f"{model.y_features_.explained_variance_ratio_.sum():.0%} of the variance, so a "
            "pre-image learned from exact coordinates meets predicted ones unprepared; "
            f"'{PREDICTED}' regresses outputs on coordinates predicted by cross-validation.",
        ],
    )


def _associated(X, Y, train, new, ridge, start, settings):
    """SOAR by kernel ridge and by support vectors; the width of the outputs and the penalty."""
    order = np.random.default_rng(0).permutation(train)  # rows come class by class
    rows, few = order[: settings["n_associated"]], order[: settings["n_chosen"]]
    gamma = ridge.kernel_.gamma
    chosen = _soar.choose(X[few], Y[few], gamma)
    models = {
        SOAR_RIDGE: _soar.learn_ridge(X[rows], Y[rows], gamma, *chosen),
        SOAR_SUPPORT: _soar.learn_support_vectors(X[rows], Y[rows], gamma, chosen[0]),
    }
    return {name: _soar.predict(model, new, start) for name, model in models.items()}, chosen


def _split(settings, seed):
    data = load_usps_roweis()
    images = data.X / 127.5 - 1.0
    rng = np.random.default_rng(seed)
    train, test = [], []
    for digit in range(1, 10):
        order = rng.permutation(np.flatnonzero(data.y == digit))
        n_train, n_test = settings["n_train"] // 9, settings["n_test"] // 9
        train.append(order[:n_train])
        test.append(order[n_train : n_train + n_test])
    # Shuffled, so that the first test images are not all ones.
    return images, np.concatenate(train), rng.permutation(np.concatenate(test))


def _value_row(name, errors, squared, as_many):
    published = PUBLISHED.get(name)
    if published is None:
        return Row(f"MAE, {name}", None, errors[name], f"for comparison; RMSE {squared[name]:.3f}")
    change = errors[name] / published - 1
    return Row(
        f"MAE, {name}",
        published,
        errors[name],
        f"{abs(change):.0%} {'above' if change > 0 else 'below'} the published value; "
        f"RMSE {squared[name]:.3f}{'' if as_many else '; with fewer training images'}",
        abs(change) <= TOLERANCE if as_many else None,
    )


def _order_row(errors):
    ours = [errors[name] for name in ("kernel ridge", KDE, "1-nearest neighbour")]
    below = max(ours[:2]) < ours[2]
    return Row(
        "order of the errors",
        "kernel ridge < KDE < nearest neighbour",
        " < ".join(sorted(PUBLISHED, key=errors.__getitem__)),
        "both kernel methods are below the nearest neighbour; between the two lies "
        f"{abs(ours[1] / ours[0] - 1):.1%}"
        if below
        else "a kernel method is worse than the nearest neighbour",
        below,
    )


def _grid(images, guesses):
    def filled(k, centre):
        image = images[k].reshape(16, 16).copy()
        if centre is not None:
            image[CENTRE] = centre
        return image

    def row(k):
        given, fills = filled(k, -1.0), [filled(k, z[k]) for z in guesses.values()]
        return [given, *fills, filled(k, None)]

    titles = ["given", *guesses, "truth"]
    return image_grid([row(k) for k in range(len(images))], titles=titles, limits=(-1.0, 1.0))
