"""Bad and odd data: for the fit as rows and as outputs, and for the fitted model."""

import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
from scipy import sparse

from tests.campaign.documented import MISSING_OUTPUTS
from tests.campaign.outcomes import outcome_of, state_of
from tests.campaign.subjects import Subject

# An answer to one of these would be wrong: something was read that is not there.
MUST_REFUSE = {
    "one NaN", "all NaN", "infinity", "minus infinity", "no rows", "no columns", "text", "None",
    "object with None", "object with dict", "complex", "ragged", "masked", "scalar", "word",
    "times 1e300", "one 1e200", "bytes", "four dimensions", "wrong length", "too short",
    "NaN", "all masked", "other width", "one column less", "structured", "object of lists",
}  # fmt: skip


# Reductions for which words are labels, as their parameter says.
WORDS_ARE_LABELS = (
    "DistanceCorrelationReduction",
    "GradientKernelReduction",
    "LikelihoodAcquiredDirections",
    "SlicedAverageVariance",
    "SlicedInverseRegression",
)


def bad_rows(X: np.ndarray) -> dict[str, Any]:
    """Tables that are bad, or good but odd."""
    d = X.shape[1]
    frame = np.zeros(len(X), dtype=[("a", float), ("b", float)])
    return {
        "one NaN": _with(X, np.nan),
        "all NaN": np.full_like(X, np.nan),
        "infinity": _with(X, np.inf),
        "minus infinity": _with(X, -np.inf),
        "no rows": X[:0],
        "no columns": X[:, :0],
        "one row": X[:1],
        "two rows": X[:2],
        "one column": X[:, :1],
        "one dimension": X[:, 0],
        "three dimensions": X[:, :, None],
        "four dimensions": X[:, :, None, None],
        "scalar": 3.0,
        "None": None,
        "word": "abc",
        "bytes": b"abc",
        "text": X.astype(str).astype(object) + "x",
        "object": X.astype(object),
        "object with None": _with(X.astype(object), None),
        "object with dict": _with(X.astype(object), {}),
        "object of lists": np.array([[[], []]] * len(X), dtype=object)[:, :, None],
        "decimal": np.array([[Decimal(float(v)) for v in row] for row in X], dtype=object),
        "complex": X + 1j,
        "boolean": np.median(X) < X,
        "integers": (10 * X).astype(int),
        "unsigned bytes": (100 * X).astype(np.uint8),
        "half precision": X.astype(np.float16),
        "single precision": X.astype(np.float32),
        "long double": X.astype(np.longdouble),
        "dates": np.full(X.shape, np.datetime64(datetime.date(2020, 1, 1))),
        "sparse": sparse.csr_array(X),
        "sparse COO": sparse.coo_array(X),
        "masked": np.ma.masked_greater(X, np.median(X)),
        "all masked": np.ma.masked_all(X.shape),
        "list": X.tolist(),
        "tuple": tuple(map(tuple, X.tolist())),
        "ragged": [list(row[: 1 + i % d]) for i, row in enumerate(X)],
        "generator": (row for row in X),
        "dictionary": {"a": X[:, 0]},
        "set": set(X[:, 0]),
        "structured": frame,
        "read-only": _read_only(X),
        "Fortran": np.asfortranarray(X),
        "reversed": X[::-1],
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
        "zeros": np.zeros_like(X),
        "constant": np.full_like(X, 3.7),
        "constant column": np.column_stack([X[:, :-1], np.ones(len(X))]),
        "equal columns": np.repeat(X[:, :1], d, axis=1),
        "equal rows": np.repeat(X[:1], len(X), axis=0),
        "every row twice": np.repeat(X[: len(X) // 2], 2, axis=0),
        "negative": -X,
        "wide": np.tile(X[:6], 5),
        "times 1e300": 1e300 * X,
        "times 1e150": 1e150 * X,
        "one 1e200": _with(X, 1e200),
        "times 1e-160": 1e-160 * X,
        "times 1e-300": 1e-300 * X,
        "smallest": np.full_like(X, 5e-324),
        "one large": _with(X, 1e15),
        "plus 1e12": X + 1e12,
    }


def bad_outputs(y: np.ndarray) -> dict[str, Any]:
    """Outputs that are bad, or good but odd."""
    numbers = y.astype(float)
    return {
        "None": None,
        "one NaN": _with(numbers, np.nan),
        "all NaN": np.full(len(y), np.nan),
        "infinity": _with(numbers, np.inf),
        "wrong length": np.concatenate([y, y]),
        "too short": y[:-1],
        "empty": y[:0],
        "scalar": 3.0,
        "word": "abc",
        "complex": y + 1j,
        "text": np.array([f"v{v}" for v in y], dtype=object),
        "object with None": _with(y.astype(object), None),
        "object with dict": _with(y.astype(object), {}),
        "three dimensions": y[:, None, None],
        "two columns": np.column_stack([y, y[::-1]]),
        "no columns": np.zeros((len(y), 0)),
        "one column": y[:, None],
        "list": y.tolist(),
        "constant": np.full(len(y), y[0]),
        "boolean": y > np.median(y),
        "masked": np.ma.masked_greater(numbers, np.median(y)),
        "times 1e300": 1e300 * (numbers + 1),
        "one 1e200": _with(numbers, 1e200),
        "times 1e-160": 1e-160 * (numbers + 1),
        "plus 1e12": numbers + 1e12,
        "dates": np.full(len(y), np.datetime64(datetime.date(2020, 1, 1))),
        "set": set(y.tolist()),
        "dictionary": {"a": y},
        "single precision": numbers.astype(np.float32),
        "sparse": sparse.csr_array(numbers[:, None]),
    }


def bad_questions(X: np.ndarray) -> dict[str, Any]:
    """Rows for a fitted model: all the above, and tables of another width."""
    return {
        **{name: rows for name, rows in bad_rows(X).items() if name not in ("wide", "one column")},
        "other width": np.column_stack([X, X]),
        "one column less": X[:, :-1],
    }


def cases(subject: Subject) -> Iterator[tuple[str, str]]:
    """Every case of one subject: its name, and what it came to."""
    for name, rows in bad_rows(subject.X).items():
        yield f"X {name}", refit(subject, name, rows, outputs_for(subject, rows))
    if subject.y is not None:
        given = subject.bad_outputs()
        for name, outputs in (bad_outputs(subject.y) if given is None else given).items():
            yield f"y {name}", refit(subject, name, subject.X, outputs, given=True)
    model = subject.fit(subject.build(), subject.X, subject.y)
    before = state_of(model)
    for name, rows in bad_questions(subject.X).items():
        outcome = outcome_of(lambda rows=rows: subject.answer(model, rows))
        yield f"question {name}", _checked(subject, name, outcome)
    if state_of(model) != before:
        yield "questions", "changed what was fitted"


def outputs_for(subject: Subject, rows: Any) -> Any:
    """As many outputs as there are rows, so that only the rows are bad."""
    has_length = isinstance(rows, (list, tuple)) or (isinstance(rows, np.ndarray) and rows.ndim > 0)
    n = len(rows) if has_length else 0
    return subject.y if subject.y is None or n in (0, len(subject.X)) else subject.y[:n]


def refit(subject: Subject, name: str, rows: Any, y: Any, *, given: bool = False) -> str:
    """What comes of fitting a model that was fitted before with bad data."""
    model = subject.fit(subject.build(), subject.X, subject.y)
    before, copy = state_of(model), _copy(rows)

    def call() -> Any:
        if given:
            subject.refit(model, rows, y)
        else:
            subject.fit(model, rows, y)
        return subject.answer(model, rows)

    outcome = outcome_of(call)
    if outcome == "refused" and not hasattr(rows, "__next__"):
        refitted = outcome_of(lambda: subject.fit(model, rows, y) and 0) if not given else "refused"
        if refitted == "refused" and state_of(model) != before:
            return "a refused fit changed the former one"
    if not _same(rows, copy):
        return "changed its input"
    if given and _means_something(subject, name):
        return outcome
    return _checked(subject, name, outcome)


def _means_something(subject: Subject, name: str) -> bool:
    """Whether odd outputs are what an estimator documents: words as classes, gaps as missing."""
    kind = type(subject.estimator).__name__
    if name == "text":
        return subject.takes_labels or kind in WORDS_ARE_LABELS
    return kind in MISSING_OUTPUTS and name in ("one NaN", "object with None")


def _checked(subject: Subject, name: str, outcome: str) -> str:
    takes_nan = subject.estimator.__sklearn_tags__().input_tags.allow_nan
    missing = "NaN" in name or "None" in name  # as scikit-learn reads objects
    if outcome == "answered" and name in MUST_REFUSE and not (missing and takes_nan):
        return "answered what cannot be known"
    return outcome


def _with(X: np.ndarray, value: Any) -> np.ndarray:
    X = X.copy()
    X[(1,) * X.ndim] = value
    return X


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def _copy(rows: Any) -> Any:
    return rows.copy() if isinstance(rows, np.ndarray) else rows


def _same(a: Any, b: Any) -> bool:
    if not isinstance(a, np.ndarray) or a.dtype.kind == "O":
        return True
    return np.ma.getdata(a).tobytes() == np.ma.getdata(b).tobytes()
