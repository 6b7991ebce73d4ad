"""Machines of many classes with few of their points, and the row of a machine before reduction."""

import numpy as np
from sklearn.svm import SVC

from isthmus.datasets import load_letter, load_usps
from isthmus.kernels import Gaussian
from isthmus.reduction import reduce_expansion
from isthmus.reduction.sklearn_machines import as_machine
from isthmus_experiments import Row

# Published support vectors and error.
MANY_CLASSES = {"USPS": (1526, 0.0416), "Letter": (4522, 0.0373)}
SHARES = (0.025, 0.05, 0.1, 0.2, 0.4)  # of the support vectors


def base_row(name, published, ours, vectors, published_vectors):
    close = abs(ours - published) <= 0.1 * published
    return Row(
        f"{name}: base error, support vectors",
        f"{published}, {published_vectors}",
        f"{ours:.4f}, {vectors:.0f}",
        "the error is within a tenth of the table"
        if close
        else f"the error is {ours / published - 1:+.0%} of the table's; how columns were scaled is "
        "not said there",
        close,
    )


def many_classes(name):
    data = load_usps() if name == "USPS" else load_letter()
    gamma, C = (1 / 128, 1000.0) if name == "USPS" else (Gaussian.from_width(4.0).gamma, 1000.0)
    X, Xt = np.asarray(data.X_train, dtype=float), np.asarray(data.X_test, dtype=float)
    machine = SVC(C=C, gamma=gamma, cache_size=1000).fit(X, data.y_train)
    base = 1 - machine.score(Xt, data.y_test)
    held = as_machine(machine).expansion_
    n = len(held.objects)
    sizes = [max(1, round(share * n)) for share in SHARES]
    kernel = Gaussian(gamma)
    path = reduce_expansion((kernel, held.objects), held.weights, n_points=sizes[-1])
    K_test = kernel(Xt, held.objects)
    shared = [_vote_error(path.at(s), K_test, held, machine, data.y_test) for s in sizes]
    enough = next((s for s, e in zip(sizes, shared, strict=True) if e <= base + 0.005), None)
    rows = [
        Row(
            f"{name}, one against one: base error, support vectors",
            None,
            f"{base:.4f}, {n}",
            "for information: published is one against the rest",
        ),
        Row(
            f"{name}: points that all pairs of classes share, for 0.5 % more errors",
            "large compression (picture)",
            f"{enough} of {n}" if enough else f"more than {sizes[-1]} of {n}",
            "a fifth of the points or fewer"
            if enough and enough <= round(0.2 * n)
            else "more than a fifth of the points",
            bool(enough and enough <= round(0.2 * n)),
        ),
    ]
    lines = {"shared points": (sizes, shared)}
    if name == "USPS":
        alone_sizes, alone = _each_pair_alone(kernel, held, K_test, machine, data.y_test, sizes)
        lines["each pair alone"] = (alone_sizes, alone)
        fewer = _kernels_for(base + 0.01, sizes, shared) < _kernels_for(
            base + 0.01, alone_sizes, alone
        )
        rows.append(
            Row(
                "USPS: kernels for 1 % more errors, shared against each pair alone",
                "shared needs fewer",
                f"{_kernels_for(base + 0.01, sizes, shared):.0f} against "
                f"{_kernels_for(base + 0.01, alone_sizes, alone):.0f}",
                "shared needs fewer" if fewer else "shared does not need fewer",
                bool(fewer),
            )
        )
    more, curves_of = _against_rest(name, X, data.y_train, Xt, data.y_test, gamma, C)
    lines |= curves_of
    lines["all support vectors"] = (sizes, np.full(len(sizes), base))
    return [*rows, *more], lines


def _against_rest(name, X, y, Xt, yt, gamma, C):
    """One machine per class against the rest, as published: a row, and curves over its points."""
    classes = np.unique(y)
    machines = [SVC(C=C, gamma=gamma, cache_size=500).fit(X, y == c) for c in classes]
    values = np.column_stack([m.decision_function(Xt) for m in machines])
    base = float(np.mean(classes[values.argmax(axis=1)] != yt))
    used = np.unique(np.concatenate([m.support_ for m in machines]))
    weights = np.zeros((len(used), len(classes)))
    for k, machine in enumerate(machines):
        weights[np.searchsorted(used, machine.support_), k] = machine.dual_coef_[0]
    offsets = np.array([m.intercept_[0] for m in machines])
    kernel = Gaussian(gamma)
    sizes = [max(1, round(share * len(used))) for share in SHARES]
    path = reduce_expansion((kernel, X[used]), weights, n_points=sizes[-1])
    K_test = kernel(Xt, X[used])
    shared = []
    for size in sizes:
        model = path.at(min(size, len(path.indices)))
        guess = K_test[:, model.indices] @ model.coefficients + offsets
        shared.append(float(np.mean(classes[guess.argmax(axis=1)] != yt)))
    alone_sizes, alone = _each_class_alone(
        kernel, X[used], weights, offsets, K_test, classes, yt, len(used)
    )
    published_vectors, published = MANY_CLASSES[name]
    rows = [
        base_row(f"{name}, one against the rest", published, base, len(used), published_vectors),
        Row(
            f"{name}: kernels for 1 % more errors, shared against each class alone",
            "shared needs fewer (picture)",
            f"{_kernels_for(base + 0.01, sizes, shared):.0f} against "
            f"{_kernels_for(base + 0.01, alone_sizes, alone):.0f}",
            "inf: not reached at the sizes tried",
            bool(
                _kernels_for(base + 0.01, sizes, shared)
                < _kernels_for(base + 0.01, alone_sizes, alone)
            ),
        ),
    ]
    lines = {
        "one against the rest, shared points": (sizes, shared),
        "one against the rest, each class alone": (alone_sizes, alone),
    }
    return rows, lines


def _each_class_alone(kernel, objects, weights, offsets, K_test, classes, yt, n):
    paths = []
    for column in weights.T:
        own = np.flatnonzero(column)
        most = min(len(own), max(1, round(0.4 * n / len(classes))))
        paths.append((own, reduce_expansion((kernel, objects[own]), column[own], n_points=most)))
    sizes, errors = [], []
    for share in SHARES:
        union, values = set(), np.empty((len(K_test), len(classes)))
        for k, (own, path) in enumerate(paths):
            size = max(1, round(share * n / len(classes)))
            model = path.at(min(size, len(path.indices)))
            points = own[model.indices]
            union.update(points.tolist())
            values[:, k] = K_test[:, points] @ model.coefficients
        sizes.append(len(union))
        errors.append(float(np.mean(classes[(values + offsets).argmax(axis=1)] != yt)))
    return sizes, errors


def _vote_error(model, K_test, held, machine, y_test):
    values = K_test[:, model.indices] @ model.coefficients + held.offset
    return float(np.mean(_votes(values, machine.classes_) != y_test))


def _votes(values, classes):
    from isthmus.reduction.machines import pairs

    votes = np.zeros((len(values), len(classes)))
    for column, (i, j) in enumerate(pairs(len(classes))):
        votes[:, i] += values[:, column] > 0
        votes[:, j] += values[:, column] <= 0
    return classes[votes.argmax(axis=1)]


def _each_pair_alone(kernel, held, K_test, machine, y_test, sizes):
    """As many points for each pair by itself; what counts is their union."""
    K = kernel(held.objects)
    paths = []
    for column in range(held.weights.shape[1]):
        used = np.flatnonzero(held.weights[:, column])
        most = min(len(used), sizes[-1])
        path = reduce_expansion(K[np.ix_(used, used)], held.weights[used, column], n_points=most)
        paths.append((used, path))
    kernels, errors = [], []
    for n in (2, 4, 8, 16, 32):
        values = np.empty((len(K_test), len(paths)))
        union = set()
        for column, (used, path) in enumerate(paths):
            model = path.at(min(n, len(path.indices)))
            points = used[model.indices]
            union.update(points.tolist())
            values[:, column] = K_test[:, points] @ model.coefficients
        kernels.append(len(union))
        errors.append(float(np.mean(_votes(values + held.offset, machine.classes_) != y_test)))
    return kernels, errors


def _kernels_for(error, sizes, errors):
    """Where a curve crosses an error, by interpolation; infinite where it does not."""
    below = np.flatnonzero(np.asarray(errors) <= error)
    if not len(below):
        return np.inf
    i = below[0]
    if i == 0:
        return float(sizes[0])
    x, y = np.log(sizes[i - 1 : i + 1]), np.asarray(errors)[i - 1 : i + 1]
    return float(np.exp(np.interp(-error, -y, x)))
