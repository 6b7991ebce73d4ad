"""Support feature machine against the l1 support vector machine and recursive elimination."""

import numpy as np
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC

from benchmarks._harness import Contest, benchmark
from isthmus.regression import SupportFeatureMachine

N_SAMPLES, N_TRUE = 100, 5


def _task(n):
    rng = np.random.default_rng(0)
    X, X_test = rng.normal(size=(N_SAMPLES, n)), rng.normal(size=(2000, n))
    y, y_test = (np.sign(Z[:, :N_TRUE].sum(axis=1)) for Z in (X, X_test))
    return X, y, X_test, y_test


def _quality(X_test, y_test):
    def measured(found):
        machine, support = found
        return {
            "features": float(len(support)),
            "true ones": float(np.sum(support < N_TRUE)),
            "accuracy": float(machine.score(X_test, y_test)),
        }

    return measured


def _ours(X, y):
    machine = SupportFeatureMachine().fit(X, y)
    return machine, machine.support_


def _l1(X, y):
    machine = LinearSVC(penalty="l1", dual=False, C=0.5, max_iter=5000, random_state=0).fit(X, y)
    return machine, np.flatnonzero(machine.coef_)


def _rfe(X, y):
    machine = RFE(LinearSVC(random_state=0), n_features_to_select=N_TRUE, step=0.1).fit(X, y)
    return machine, np.flatnonzero(machine.support_)


@benchmark(
    "features-l1",
    work="Few features, 100 samples, 5 true ones among n",
    peer='LinearSVC(penalty="l1", C=0.5)',
    cases=(500, 1000, 2000),
    quick=(50, 100),
    goal="fewer features, more accurate, as fast",
)
def against_l1(n):
    X, y, X_test, y_test = _task(n)
    return Contest(lambda: _ours(X, y), lambda: _l1(X, y), _quality(X_test, y_test))


@benchmark(
    "features-rfe",
    work="Few features, 100 samples, 5 true ones among n",
    peer="RFE(LinearSVC(), n_features_to_select=5), told the number",
    cases=(500, 1000, 2000),
    quick=(50, 100),
    goal="more true features",
)
def against_elimination(n):
    X, y, X_test, y_test = _task(n)
    return Contest(lambda: _ours(X, y), lambda: _rfe(X, y), _quality(X_test, y_test))
