"""How long an interrupt waits in fits of many seconds: ``python -m tests.campaign.long_fits``."""

import signal
import time
import warnings
from typing import Any

import numpy as np

from isthmus.coreset import CoreVectorClassifier
from isthmus.features import KernelPCA, SlowFeatureAnalysis
from isthmus.manifold import UnsupervisedKernelRegression
from isthmus.regression import GaussianProcess, KernelRidgeCV, LocalPolynomialRegression
from isthmus.sparse import (
    KSVD,
    ConvexFactorization,
    NonnegativeFactorization,
    SparseDictionary,
    SparseNet,
)
from isthmus.structured import DependencyEstimator, TwinGaussianProcess

WAIT = 2.0  # seconds of work before the interrupt


def fits() -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Estimators with data that keep them busy for longer than we wait."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 64))
    S = rng.normal(size=(3500, 6))
    y = np.sin(S[:, 0]) + 0.1 * rng.normal(size=len(S))
    labels = (X[:, 0] * X[:, 1] > 0).astype(int)
    return {
        "KSVD": (KSVD(256, n_nonzero=8, random_state=0), (X,)),
        "SparseDictionary": (SparseDictionary(256, alpha=0.1, random_state=0), (X,)),
        "SparseNet": (SparseNet(128, random_state=0), (X,)),
        "NonnegativeFactorization": (
            NonnegativeFactorization(40, random_state=0, tol=1e-9),
            (np.abs(X),),
        ),
        "ConvexFactorization": (ConvexFactorization(20, random_state=0), (X[:3000],)),
        "UnsupervisedKernelRegression": (
            UnsupervisedKernelRegression(2, random_state=0),
            (X[:4000, :10],),
        ),
        "CoreVectorClassifier": (CoreVectorClassifier(random_state=0), (X, labels)),
        "GaussianProcess": (GaussianProcess("ard", random_state=0), (S, y)),
        "KernelRidgeCV": (KernelRidgeCV(), (S, y)),
        "LocalPolynomialRegression": (LocalPolynomialRegression(1), (S, y)),
        "TwinGaussianProcess": (TwinGaussianProcess(), (S, y)),
        "DependencyEstimator": (DependencyEstimator(y_features="gaussian"), (S, S[:, :3])),
        "KernelPCA": (KernelPCA(kernel="gaussian"), (np.tile(S, (2, 1)),)),
        "SlowFeatureAnalysis": (SlowFeatureAnalysis(expansion=2), (X,)),
    }


def latency(model: Any, data: tuple[Any, ...]) -> float | None:
    """Seconds from the interrupt to its answer; None where the fit ended before."""
    rung = [0.0]

    def ring(*_: Any) -> None:
        rung[0] = time.perf_counter()
        raise KeyboardInterrupt

    handler = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, WAIT)
    asked = time.perf_counter() + WAIT
    try:
        model.fit(*data)
    except KeyboardInterrupt:
        assert not [name for name in vars(model) if name.endswith("_")]
        return time.perf_counter() - asked
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    return time.perf_counter() - asked if rung[0] else None


def main() -> None:
    """One line per estimator."""
    warnings.simplefilter("ignore")
    for name, (model, data) in fits().items():
        waited = latency(model, data)
        print(f"{'ended before' if waited is None else f'{waited:8.2f} s'}  {name}", flush=True)


if __name__ == "__main__":
    main()
