"""Single precision: the answer of an estimator to numbers that fit into it."""

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.base import is_classifier

from tests.campaign.scales import answer_of, difference
from tests.campaign.subjects import Subject

# Of the spread of the answers: four digits of seven may go into the condition of a problem.
TOLERANCE = 1e-3

# Estimators whose answers may differ by more, with the reason.
LOOSE = {
    "KernelPCA": "axes whose variance is below the rounding errors are left out: fewer of them",
    "SlowFeatureAnalysis": "with a kernel, axes below the rounding errors are left out",
    "NonnegativeFactorization": "rounding decides between factorisations of equal error",
    "UnsupervisedKernelRegression": "rounding decides between local minima of equal error",
}


def cases(subject: Subject) -> Iterator[tuple[str, str]]:
    """The same numbers in single and in double precision."""
    if not subject.has_units:  # words and graphs have no precision
        return
    rows = subject.X.astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        single = answer_of(subject, rows, subject.y)
        double = answer_of(subject, rows.astype(np.float64), subject.y)
    yield "single precision", _judge(subject, single, double)


def _judge(subject: Subject, single: np.ndarray, double: np.ndarray) -> str:
    if is_classifier(subject.estimator) or double.dtype.kind not in "fc":
        return "answered" if np.mean(single == double) > 0.9 else "other"
    if not np.isfinite(single).all():
        return "answered with NaN or infinity"
    found = difference(single.astype(np.float64), double)
    if found <= TOLERANCE or type(subject.estimator).__name__ in LOOSE:
        return "answered"
    return f"differs by {found:.2g}"
