"""What is fitted to rows in blocks, each on so many rows as take minutes and not hours.

Rows are :data:`N_FEATURES` normal numbers. Kernel machines look at the first ten columns and core
sets at the first five, where a machine has something to learn.
"""

import pickle
import time
from contextlib import contextmanager

import numpy as np

N_FEATURES = 50
# Passes of the iterative ones: each costs the same, and a user's number of them is another.
SWEEPS = 5


def run_fold(name, X):
    """Fit to ``X``, whose first columns are outputs or latent points where such are needed."""
    from isthmus.blocks import Blocks, each

    def part(function):
        found = each(X, function)
        return (lambda: iter(found)) if isinstance(found, Blocks) else found

    def columns(where):
        return part(lambda block: np.ascontiguousarray(block[:, where]))

    family = next(family for family, names in FAMILIES.items() if name in names)
    return family(X, part, columns)[name]()


def _linear(X, part, columns):
    from isthmus.blocks import fold, map_block, merge
    from isthmus.features import SlowFeatureAnalysis
    from isthmus.manifold import SmoothPSOM
    from isthmus.regression import (
        BayesianLinearRegression,
        ReducedRankRegression,
        StiefelRegression,
    )

    grid = SmoothPSOM((8, 8), bounds=(-1e3, 1e3))
    huber = StiefelRegression(2, loss="huber", alpha=1.0, max_iter=SWEEPS)

    def regress(model):
        return lambda: model.fit(columns(slice(5, None)), columns(slice(0, 5)))

    return {
        "moments": lambda: fold(X, map_block, merge),
        "ReducedRankRegression": regress(ReducedRankRegression(2, alpha=1.0)),
        "StiefelRegression": regress(StiefelRegression(2, alpha=1.0)),
        "StiefelRegression, Huber": regress(huber),
        "BayesianLinearRegression": regress(BayesianLinearRegression()),
        "SlowFeatureAnalysis": lambda: SlowFeatureAnalysis(3).fit(X),
        "SlowFeatureAnalysis, quadratic": lambda: SlowFeatureAnalysis(3, expansion=2).fit(
            columns(slice(0, 10))
        ),
        "SmoothPSOM": lambda: grid.fit(columns(slice(2, None)), latent=columns(slice(0, 2))),
    }


def _kernels(X, part, columns):
    from isthmus.features import KernelPCA
    from isthmus.kernels import Gaussian
    from isthmus.preimage import LearnedPreimage
    from isthmus.regression import GaussianProcess, Inducing, KernelRidgeCV
    from isthmus.structured import DependencyEstimator

    some = {"n_landmarks": 100, "random_state": 0}
    kernel, inputs = Gaussian(0.05), columns(slice(0, 10))
    square = DependencyEstimator(
        x_features=KernelPCA(kernel=kernel, **some),
        y_features=KernelPCA(5, kernel=Gaussian(0.5), **some),
        preimage=LearnedPreimage(),
    )
    process = GaussianProcess(approximation=Inducing(50), n_init=1, max_iter=10, random_state=0)
    return {
        "KernelPCA, landmarks": lambda: KernelPCA(10, kernel=kernel, **some).fit(inputs),
        "KernelRidgeCV, landmarks": lambda: KernelRidgeCV(kernel, **some).fit(inputs, part(_wave)),
        "DependencyEstimator, landmarks": lambda: square.fit(inputs, part(_waves)),
        "GaussianProcess, inducing": lambda: process.fit(columns(slice(0, 2)), part(_wave)),
    }


def _measures(X, part, columns):
    from isthmus.dependence import Nystroem, coco, hsic, mmd

    few, other = columns(slice(0, 10)), columns(slice(10, 20))
    low = {"approximation": Nystroem(50)}
    return {
        "hsic, Nystroem": lambda: hsic(few, part(_waves), **low),
        "coco, Nystroem": lambda: coco(few, part(_waves), **low),
        "mmd, Nystroem": lambda: mmd(few, other, **low),
    }


def _sweeps(X, part, columns):
    from isthmus.manifold import KHarmonicMeans
    from isthmus.sparse import KSVD, NonnegativeFactorization, SparseDictionary

    again = {"max_iter": SWEEPS, "random_state": 0}
    return {
        "KSVD": lambda: KSVD(60, n_nonzero=3, **again).fit(X),
        "SparseDictionary": lambda: SparseDictionary(60, alpha=4.0, **again).fit(X),
        "NonnegativeFactorization": lambda: NonnegativeFactorization(5, tol=0.0, **again).fit(
            part(np.abs)
        ),
        "KHarmonicMeans": lambda: KHarmonicMeans(8, tol=0.0, **again).fit(columns(slice(0, 5))),
    }


def _cores(X, part, columns):
    from isthmus.coreset import (
        CoreVectorClassifier,
        CoreVectorOutlierDetector,
        CoreVectorRegressor,
        MinimumEnclosingBall,
    )
    from isthmus.kernels import Gaussian

    few = columns(slice(0, 5))
    options = {"kernel": Gaussian(0.1), "random_state": 0}
    return {
        "MinimumEnclosingBall": lambda: MinimumEnclosingBall(random_state=0).fit(few),
        "CoreVectorClassifier": lambda: CoreVectorClassifier(**options).fit(few, part(_side)),
        "CoreVectorRegressor": lambda: CoreVectorRegressor(tube=0.5, **options).fit(
            few, part(_wave)
        ),
        "CoreVectorOutlierDetector": lambda: CoreVectorOutlierDetector(**options).fit(few),
    }


def _wave(block):
    return np.sin(block[:, 0]) + 0.5 * block[:, 1] + 0.1 * block[:, 20]


def _waves(block):
    return np.column_stack([np.sin(block[:, 0]), np.cos(block[:, 1])]) + 0.1 * block[:, 20:22]


def _side(block):
    return (block[:, 0] + 0.3 * block[:, 1] ** 2 > 0.3).astype(int)


# Each fold with the most rows it is measured on.
FAMILIES = {
    _linear: {
        "moments": 10**7,
        "ReducedRankRegression": 10**7,
        "StiefelRegression": 10**7,
        "StiefelRegression, Huber": 10**7,
        "BayesianLinearRegression": 10**7,
        "SlowFeatureAnalysis": 10**7,
        "SlowFeatureAnalysis, quadratic": 10**7,
        "SmoothPSOM": 10**7,
    },
    _kernels: {
        "KernelPCA, landmarks": 10**7,
        "KernelRidgeCV, landmarks": 10**7,
        "DependencyEstimator, landmarks": 10**7,
        "GaussianProcess, inducing": 10**7,
    },
    _measures: {"hsic, Nystroem": 10**7, "coco, Nystroem": 10**7, "mmd, Nystroem": 10**7},
    _sweeps: {
        "KSVD": 10**7,
        "SparseDictionary": 10**7,
        "NonnegativeFactorization": 10**7,
        "KHarmonicMeans": 10**7,
    },
    _cores: {
        "MinimumEnclosingBall": 10**7,
        "CoreVectorClassifier": 10**7,
        "CoreVectorRegressor": 10**7,
        "CoreVectorOutlierDetector": 10**7,
    },
}
FOLDS = {name: most for names in FAMILIES.values() for name, most in names.items()}


@contextmanager
def watched():
    """A list that gets one ``(bytes, seconds)`` for each pass: its statistics and their merge."""
    from isthmus.blocks import rows
    from isthmus.blocks.tree import TreeMerge

    seen = []

    class Watching(TreeMerge):
        def __init__(self, merge):
            super().__init__(merge)
            self.merging = merge
            seen.append((0, 0.0))
            self.first = None

        def push(self, found, level=0):
            if level == 0 and found is not None:
                told = pickle.dumps(found)
                if self.first is None:
                    self.first, seen[-1] = told, (len(told), 0.0)
                else:
                    seen[-1] = (max(seen[-1][0], len(told)), self._time(told))
            super().push(found, level)

        def _time(self, told):
            times = []
            for _ in range(3):
                pair = pickle.loads(self.first), pickle.loads(told)
                start = time.process_time()
                self.merging(*pair)
                times.append(time.process_time() - start)
            return min(times)

    rows.TreeMerge = Watching
    try:
        yield seen
    finally:
        rows.TreeMerge = TreeMerge
