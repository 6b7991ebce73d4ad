"""Sets with coverage against mapie's and mulaconf's: the same estimator, the same rows held out.

mulaconf needs PyTorch and is not among the peers that are installed: install it to have its row.
"""

import os
from itertools import chain
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, PredefinedSplit
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.kernels import Gaussian
from isthmus.regression import KernelRidgeCV
from isthmus.structured import ConformalSets

COVERAGE = 0.9
DATA = Path(os.environ.get("ISTHMUS_DATA", "data"))
GAMMA, ALPHA = 0.5, 0.5


def mapie():
    """The peer's two modules."""
    try:
        from mapie import classification, regression
    except ImportError as error:
        raise Unavailable("pip install mapie") from error
    return regression, classification


def regression_task(n):
    X, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    # Unit columns, so that one width suits all.
    X, y = (X / X.std(axis=0) / np.sqrt(X.shape[1]))[order], y[order]
    return X[:n], y[:n], X[n:], y[n:]


def class_task(n):
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order, ::4] / 16, y[order]  # every fourth pixel, so that some digits are doubtful
    return X[:n], y[:n], X[n:], y[n:]


def interval_quality(truth):
    def quality(ends):
        inside = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
        return {"coverage": float(inside.mean()), "width": float(np.diff(ends).mean())}

    return quality


def class_quality(truth):
    def quality(table):
        inside = table[np.arange(len(truth)), truth]
        return {"coverage": float(inside.mean()), "size": float(table.sum(axis=1).mean())}

    return quality


def largest(a, b):
    return float(np.abs(np.asarray(a, float) - np.asarray(b, float)).max())


def machine():
    """The estimator of both sides."""
    return KernelRidgeCV(Gaussian(GAMMA), alpha=ALPHA)


def held_rows(n):
    """The rows that ours keeps for calibration, and the others."""
    order = np.random.RandomState(0).permutation(n)
    held = int(np.ceil(0.25 * n))
    return np.sort(order[:held]), np.sort(order[held:])


def folds_of(n, n_folds):
    """The folds of ours, as a splitter."""
    order, fold = np.random.RandomState(0).permutation(n), np.empty(n, dtype=int)
    for number, (_, test) in enumerate(KFold(n_folds).split(order)):
        fold[order[test]] = number
    return PredefinedSplit(fold)


def our_intervals(method, X, y, new, **options):
    sets = ConformalSets(machine(), coverage=COVERAGE, method=method, **options).fit(X, y)
    return np.array([(one.low, one.high) for one in sets.predict(new)])


def _intervals(method, case):
    X, y, new, truth = regression_task(case)

    def ours():
        return our_intervals(method, X, y, new, **({"cv": 10} if method == "cross" else {}))

    def peer():
        regression, _ = mapie()
        if method == "split":
            held, rest = held_rows(len(X))
            model = regression.SplitConformalRegressor(
                machine().fit(X[rest], y[rest]), confidence_level=COVERAGE, prefit=True
            )
            model.conformalize(X[held], y[held])
        else:
            folds = folds_of(len(X), 10) if method == "cross" else -1
            model = regression.CrossConformalRegressor(
                machine(), confidence_level=COVERAGE, method="plus", cv=folds
            )
            model.fit_conformalize(X, y)
        return np.asarray(model.predict_interval(new)[1])[:, :, 0]

    return Contest(ours, peer, interval_quality(truth), largest)


@benchmark(
    "conformal-split",
    work="ConformalSets(method='split') of kernel ridge regression, diabetes, the rest predicted",
    peer="mapie SplitConformalRegressor of the same regression",
    cases=(200, 300),
    quick=(200,),
    unit="rows",
    goal="the same coverage, no wider, no slower",
)
def split(case):
    return _intervals("split", case)


@benchmark(
    "conformal-cross",
    work="ConformalSets(method='cross', cv=10), CV+, diabetes, the rest predicted",
    peer="mapie CrossConformalRegressor(method='plus', cv=10)",
    cases=(200, 300),
    quick=(200,),
    unit="rows",
    goal="the same coverage, no wider, no slower",
)
def cross(case):
    return _intervals("cross", case)


@benchmark(
    "conformal-loo",
    work="ConformalSets(method='loo'), jackknife+ in closed form, diabetes, the rest predicted",
    peer="mapie CrossConformalRegressor(method='plus', cv=-1), one fit per row",
    cases=(100, 200, 300),
    quick=(100,),
    unit="rows",
    goal="the same intervals, faster",
)
def loo(case):
    return _intervals("loo", case)


def _classes(method, case):
    X, y, new, truth = class_task(case)
    classifier = LogisticRegression(C=1.0, max_iter=1000)

    def ours():
        sets = ConformalSets(classifier, coverage=COVERAGE, method=method, cv=5).fit(X, y)
        found = [one.objects for one in sets.predict(new)]
        table = np.zeros((len(new), 10), dtype=bool)
        rows = np.repeat(np.arange(len(new)), list(map(len, found)))
        table[rows, np.fromiter(chain.from_iterable(found), dtype=int)] = True
        return table

    def peer():
        _, classification = mapie()
        if method == "split":
            held, rest = held_rows(len(X))
            model = classification.SplitConformalClassifier(
                clone(classifier).fit(X[rest], y[rest]),
                confidence_level=COVERAGE,
                prefit=True,
                conformity_score="lac",
            )
            model.conformalize(X[held], y[held])
        else:
            model = classification.CrossConformalClassifier(
                classifier,
                confidence_level=COVERAGE,
                conformity_score="lac",
                cv=folds_of(len(X), 5),
            )
            model.fit_conformalize(X, y)
            # Its default, "mean", averages the models of all folds, of which nothing is promised.
            return np.asarray(model.predict_set(new, agg_scores="crossval")[1])[:, :, 0]
        return np.asarray(model.predict_set(new)[1])[:, :, 0]

    return Contest(ours, peer, class_quality(truth), largest)


@benchmark(
    "conformal-classes",
    work="ConformalSets of logistic regression, digits by every fourth pixel, the rest predicted",
    peer="mapie SplitConformalClassifier(conformity_score='lac')",
    cases=(400, 800),
    quick=(400,),
    unit="rows",
    goal="the same coverage, sets no larger, no slower",
    why="both sides fit the same classifier, which is most of the time; ours then makes an object "
    "of every set, the peer one table",
)
def split_classes(case):
    return _classes("split", case)


@benchmark(
    "conformal-classes-cross",
    work="ConformalSets(method='cross', cv=5) of logistic regression, digits",
    peer="mapie CrossConformalClassifier(conformity_score='lac', cv=5), agg_scores='crossval'",
    cases=(400,),
    quick=(400,),
    unit="rows",
    goal="the same sets, no slower",
)
def cross_classes(case):
    return _classes("cross", case)


def label_task(name):
    """Up to 1500 rows of label sets, two thirds of them to fit and to calibrate."""
    data = np.load(DATA / "multilabel" / f"{name}.npz")
    order = np.random.default_rng(0).permutation(len(data["X"]))[:1500]
    X, Y = data["X"].astype(float)[order], data["Y"].astype(int)[order]
    n = 2 * len(X) // 3
    return X[:n], Y[:n], X[n:], Y[n:]


def label_set_quality(truth):
    def quality(found):
        inside = [(one == y).all(axis=1).any() for one, y in zip(found, truth, strict=True)]
        return {"coverage": float(np.mean(inside)), "size": float(np.mean([len(s) for s in found]))}

    return quality


@benchmark(
    "conformal-label-sets",
    work="ConformalSets of a logistic regression per label, label sets of three sets of data",
    peer="mulaconf ICPWrapper(measure='mahalanobis'), its default, both penalties 0",
    cases=("emotions", "scene", "yeast"),
    quick=("emotions",),
    unit="set",
    goal="the same coverage, sets no larger, no slower",
)
def label_sets(case):
    X, Y, new, truth = label_task(case)
    model = make_pipeline(
        StandardScaler(), MultiOutputClassifier(LogisticRegression(C=0.1, max_iter=1000))
    )

    def ours():
        sets = ConformalSets(model, coverage=COVERAGE).fit(X, Y)
        return [np.reshape(one.objects, (-1, Y.shape[1])) for one in sets.predict(new)]

    def peer():
        try:
            from mulaconf.icp_wrapper import ICPWrapper
        except ImportError as error:
            raise Unavailable("pip install mulaconf (it needs torch)") from error
        held, rest = held_rows(len(X))
        wrapper = ICPWrapper(model, measure="mahalanobis", device="cpu")
        wrapper.fit(X[rest], Y[rest])
        wrapper.calibrate(X[held], Y[held])
        regions = wrapper.predict(new)
        regions.non_empty_prediction_regions = False  # as ours: a set may be empty
        return [one.numpy() for one in regions(significance_level=1 - COVERAGE)]

    def difference(a, b):
        """Largest share of a set that is not in the other."""
        shares = []
        for one, other in zip(a, b, strict=True):
            first, second = ({tuple(y) for y in map(tuple, part.tolist())} for part in (one, other))
            shares.append(len(first ^ second) / max(len(first | second), 1))
        return max(shares)

    return Contest(ours, peer, label_set_quality(truth), difference)
