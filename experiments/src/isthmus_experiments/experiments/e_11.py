"""E-11: how many of its points a kernel machine needs, on eight data sets."""

import time

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from isthmus.datasets import load_abalone, load_ida, load_pumadyn
from isthmus.kernels import Gaussian
from isthmus.plotting import curves
from isthmus.reduction import reduce_expansion
from isthmus.reduction.sklearn_machines import as_machine
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._reduced_classes import (
    MANY_CLASSES,
    SHARES,
    base_row,
    many_classes,
)

# name: training rows, width, C, published support vectors and error
TWO_CLASSES = {
    "german": (700, 5.24, 3.16, 400, 0.2570),
    "waveform": (1000, 3.16, 1.0, 331, 0.0917),
    "banana": (1000, 0.7, 316.0, 220, 0.1016),
    "image": (2000, 3.9, 500.0, 216, 0.0281),
}
REGRESSIONS = {"Abalone": 0.410, "Kin-32nm (Pumadyn-32nm instead)": 0.6187}
STAND_IN = "Kin-32nm is in no package that was looked through; Pumadyn-32nm stands in"
PENALTIES = np.geomspace(1e-6, 1.0, 10)  # in units of what one point adds to the error
PUBLISHED_SECONDS = {
    "german": (613, 645, 21),
    "image": (152, 260, 16),
    "waveform": (290, 250, 10),
    "banana": (136, 131, 2),
}


@experiment(
    "E-11",
    document="[000] 4.4.2 to 4.4.4, tables 4.1 to 4.3, figures 4.2 to 4.5",
    title="Reduced sets of support vector machines and ridge regressions",
    published=(
        "Base errors and numbers of support vectors of table 4.2. Three reductions give similar "
        "curves; pursuit is best at high compression and needs 2 to 21 s for all sizes where "
        "penalties need 131 to 645 s for ten settings (table 4.3). Classes that share their "
        "points need fewer of them; ridge models compress strongly."
    ),
    covers=[
        Covers("000 table 4.2", 14),
        Covers("000 table 4.2", 2, way="other data", why=STAND_IN),
        Covers("000 table 4.3", way="claim"),
        Covers("000 figure 4.2", way="claim"),
        Covers("000 figure 4.3", way="claim"),
        Covers("000 figure 4.4", way="claim"),
        Covers("000 figure 4.5", 1, way="claim"),
        Covers("000 figure 4.5", 1, way="other data", why=STAND_IN),
    ],
    readings={
        "mean error up to a tenth": (
            "pursuit makes the distance between the two functions small, and below a tenth of the "
            "points that is not the number of errors: all three err far more than the whole "
            "machine there"
        ),
        "one against the rest": (
            "the width 128 of the table is read as exp(-|x - z|^2 / 128) for digits and as a "
            "standard deviation of 4 for letters; it does not define its widths, does not say how "
            "columns were scaled, and its rows are not exactly ours"
        ),
        "Pumadyn": "another data set: only its size and number of columns are those of the table",
    },
    in_short=(
        "scales and widths of the table are not defined; Kin-32nm is another set; pursuit "
        "lowers a distance, not errors"
    ),
    quick={"splits": 1, "sets": ("banana",), "classes": (), "regressions": ()},
    full={
        "splits": 10,
        "sets": tuple(TWO_CLASSES),
        "classes": tuple(MANY_CLASSES),
        "regressions": tuple(REGRESSIONS),
    },
    needs_data=True,
)
def reduced_benchmarks(settings, seed, progress):
    jobs = [*settings["sets"], *settings["classes"], *settings["regressions"]]
    rows, panels = [], {}
    for i, name in enumerate(jobs):
        progress(i / len(jobs), name)
        if name in TWO_CLASSES:
            more, panels[name] = _two_classes(name, settings["splits"], seed)
        elif name in MANY_CLASSES:
            more, panels[name] = many_classes(name)
        else:
            more, panels[name] = _regression(name)
        rows += more
    return Outcome(
        rows,
        [
            Picture(
                name.split()[0].lower(),
                f"Test error of {name} against the number of points kept.",
                lambda lines=lines, name=name: curves(
                    {name: lines}, xlabel="points", ylabel="test error", log="x", marker="o"
                ),
            )
            for name, lines in panels.items()
        ],
        [
            "Our penalties are solved by a lasso path and by regularised least squares instead of "
            "a quadratic program for each setting, so their times fell more than that of pursuit.",
            "USPS is read with exp(-|x - z|^2 / 128) and 7291 + 2007 digits (the table says 7329 "
            "and 2000). Machines with many classes are one-against-one, as in "
            "scikit-learn, and one against the rest, as published. Kin-32nm is not available; "
            "Pumadyn-32nm has its size and inputs, so its error is not comparable. The document "
            "chose the parameters of both regressions on the test set.",
        ],
    )


def _two_classes(name, n_splits, seed):
    n_train, width, C, published_vectors, published = TWO_CLASSES[name]
    data = load_ida(name)
    kernel = Gaussian.from_width(width)
    shares = {method: [] for method in ("pursuit", "l1", "l0")}
    seconds = dict.fromkeys(shares, 0.0)
    base, vectors, course = [], [], {method: [] for method in shares}
    for split in range(n_splits):
        order = np.random.default_rng([seed, split]).permutation(len(data.X))
        train, test = order[:n_train], order[n_train:]
        machine = SVC(C=C, gamma=kernel.gamma).fit(data.X[train], data.y[train])
        base.append(1 - machine.score(data.X[test], data.y[test]))
        held = as_machine(machine).expansion_
        vectors.append(len(held.objects))
        K = kernel(held.objects)
        K_train, K_test = (kernel(data.X[rows], held.objects) for rows in (train, test))
        for method, found in shares.items():
            start = time.perf_counter()
            models = _models(method, K, held.weights[:, 0], SHARES)
            seconds[method] += time.perf_counter() - start
            found.append(
                [_two_class_error(m, K_train, K_test, data.y[train], data.y[test]) for m in models]
            )
            course[method].append(
                [_course(m, K, held.weights[:, 0], K_train, data.y[train]) for m in models]
            )
    errors = {method: np.mean(found, axis=0) for method, found in shares.items()}
    small = slice(0, 3)  # at most a tenth of the support vectors
    best = (
        errors["pursuit"][small].mean()
        <= min(errors[m][small].mean() for m in ("l1", "l0")) + 1e-12
    )
    per_split = {m: s / n_splits for m, s in seconds.items()}
    old = PUBLISHED_SECONDS[name]
    rows = [
        base_row(name, published, float(np.mean(base)), np.mean(vectors), published_vectors),
        Row(
            f"{name}: mean error up to a tenth of the points (pursuit, l1, l0)",
            "similar, pursuit best (picture)",
            ", ".join(f"{errors[m][small].mean():.4f}" for m in errors),
            "pursuit is best" if best else "pursuit is not best",
            bool(best),
        ),
        Row(
            f"{name}: seconds for all sizes (pursuit, l1, l0)",
            f"{old[2]}, {old[0]}, {old[1]}",
            ", ".join(f"{per_split[m]:.3f}" for m in errors),
            "pursuit is the fastest"
            if per_split["pursuit"] == min(per_split.values())
            else "pursuit is not the fastest",
            per_split["pursuit"] == min(per_split.values()),
        ),
    ]
    if name == "waveform":
        rows += _course_rows({m: np.mean(c, axis=0) for m, c in course.items()})
    points = np.round(np.array(SHARES) * np.mean(vectors))
    lines = {m: (points, e) for m, e in errors.items()}
    lines["all support vectors"] = (points, np.full(len(points), np.mean(base)))
    return rows, lines


def _course(model, K, a, K_train, y_train):
    """Training error, and the squared distance to the whole expansion as a share of its own."""
    own = float(a @ K @ a)
    gap = a.copy()
    gap[model.indices] -= model.coefficients
    error = _two_class_error(model, K_train, K_train, y_train, y_train)
    return error, float(gap @ K @ gap) / own


def _course_rows(course):
    """Both curves of the waveform set, over the shares of support vectors that are kept."""
    for i, what in enumerate(("training error", "squared distance to the machine")):
        values = {method: found[:, i] for method, found in course.items()}
        lower = [bool(v <= min(values["l1"][k], values["l0"][k]) + 1e-12)
                 for k, v in enumerate(values["pursuit"])]  # fmt: skip
        yield Row(
            f"waveform: {what} over the points kept (pursuit; l1; l0)",
            "pursuit is lowest (picture)",
            "; ".join(", ".join(f"{v:.3g}" for v in found) for found in values.values()),
            f"pursuit is lowest at {sum(lower)} of {len(lower)} sizes",
            bool(sum(lower) > len(lower) / 2),
        )


def _models(method, K, a, shares):
    """Reduced expansions of (at most) given shares of the points."""
    sizes = [max(1, round(share * len(K))) for share in shares]
    if method == "pursuit":
        path = reduce_expansion(K, a, n_points=sizes[-1])
        return [path.at(min(n, len(path.indices))) for n in sizes]
    if method == "l1":
        return [reduce_expansion(K, a, method="l1", n_points=n) for n in sizes]
    unit = float(a @ K @ a) / len(K)
    found = []
    for penalty in PENALTIES * unit:
        try:
            found.append(reduce_expansion(K, a, method="l0", alpha=float(penalty)))
        except ValueError:  # so strong that no point is left
            break
    # The largest model of each size: penalties are not sizes.
    fitting = [[m for m in found if len(m.indices) <= n] for n in sizes]
    return [
        max(some, key=lambda m: len(m.indices))
        if some
        else reduce_expansion(K, a, method="l0", n_points=n)
        for n, some in zip(sizes, fitting, strict=True)
    ]


def _two_class_error(model, K_train, K_test, y_train, y_test):
    from isthmus.reduction.thresholds import best_threshold

    values = K_train[:, model.indices] @ model.coefficients
    threshold = best_threshold(values, y_train > 0)
    predicted = K_test[:, model.indices] @ model.coefficients > threshold
    return float(np.mean(predicted != (y_test > 0)))


def _regression(name):
    published = REGRESSIONS[name]
    if name == "Abalone":
        data = load_abalone()
        X, y, Xt, yt = data.X_train, data.y_train, data.X_test, data.y_test
        width, ridge = 15.0, 1e-5
    else:
        data = load_pumadyn()
        X, y, Xt, yt = data.X[:3000], data.y[:3000], data.X[3000:], data.y[3000:]
        width, ridge = 20.0, 0.005
    scale = StandardScaler().fit(X)
    X, Xt = scale.transform(X), scale.transform(Xt)
    y, yt = (y - y.mean()) / y.std(), (yt - y.mean()) / y.std()
    kernel = Gaussian.from_width(width)
    model = KernelRidge(kernel="rbf", gamma=kernel.gamma, alpha=ridge).fit(X, y)
    base = float(np.mean((model.predict(Xt) - yt) ** 2))
    sizes = [10, 30, 100, 300, 600]
    path = reduce_expansion((kernel, X), model.dual_coef_, n_points=sizes[-1])
    sizes = [n for n in sizes if n <= len(path.indices)] or [len(path.indices)]
    errors = [
        float(np.mean((kernel(Xt, X[m.indices]) @ m.coefficients - yt) ** 2))
        for m in (path.at(n) for n in sizes)
    ]
    enough = next((n for n, e in zip(sizes, errors, strict=True) if e <= 1.02 * base), None)
    rows = [
        base_row(name, published, base, len(X), len(X)),
        Row(
            f"{name}: points for 2 % more squared error",
            "large compression (picture)",
            f"{enough} of {len(X)}" if enough else f"more than {sizes[-1]} of {len(X)}",
            "large compression" if enough else "none up to these sizes",
            bool(enough),
        ),
    ]
    lines = {"pursuit": (sizes, errors), "all points": (sizes, np.full(len(sizes), base))}
    return rows, lines
