"""What must not matter: a second fit, a clone, a pickle, a copy, a thread, a fork."""

import copy
import multiprocessing
import pickle
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from tests.campaign.outcomes import state_of
from tests.campaign.subjects import Subject


def cases(subject: Subject, *, only: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Every invariant of one subject, or some of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = subject.fit(subject.build(), subject.X, subject.y)
        expected = _numbers(subject.answer(model, subject.X))
        for name, other in _others(subject, model).items():
            if only and name not in only:
                continue
            try:
                given = _numbers(other())
                same = _equal(given, expected)
                if name == "Fortran" and given.dtype.kind == "f":  # sums in another order
                    same = np.allclose(given, expected, rtol=1e-4, atol=1e-4 * np.std(expected))
            except Exception as error:
                yield name, f"{type(error).__name__}: {error}"
                continue
            yield name, "answered" if same else "gives other numbers"
        before = state_of(model)
        subject.answer(model, subject.X)
        yield "asking", "answered" if state_of(model) == before else "changes what was fitted"


def _others(subject: Subject, model: Any) -> dict[str, Callable[[], Any]]:
    X, y = subject.X, subject.y

    def fitted(other: Any) -> Any:
        return subject.answer(subject.fit(other, X, y), X)

    return {
        "refit": lambda: fitted(copy.deepcopy(model)),
        "refit after other data": lambda: fitted(
            subject.fit(subject.build(), X[::-1] * 1.5, None if y is None else y[::-1].copy())
        ),
        "clone": lambda: fitted(clone(model)),
        "pickle": lambda: subject.answer(pickle.loads(pickle.dumps(model)), X),
        "deepcopy": lambda: subject.answer(copy.deepcopy(model), X),
        "list": lambda: subject.answer(subject.fit(subject.build(), X.tolist(), y), X),
        "Fortran": lambda: subject.answer(
            subject.fit(subject.build(), np.asfortranarray(X), y), np.asfortranarray(X)
        ),
        "two threads": lambda: _in_threads(lambda: fitted(subject.build())),
        "questions in threads": lambda: _in_threads(lambda: subject.answer(model, X)),
        "fork": lambda: _in_fork(lambda: _numbers(subject.answer(model, X))),
    }


def _in_threads(call: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(2) as pool:
        first, second = (future.result() for future in [pool.submit(call) for _ in range(2)])
    return first if _equal(_numbers(first), _numbers(second)) else None


def _in_fork(call: Callable[[], Any]) -> Any:
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=lambda: theirs.send(call()), daemon=True
    )
    process.start()
    result = ours.recv() if ours.poll(20) else None
    process.join(5)
    process.kill()
    return result


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f")


def _numbers(answer: Any) -> np.ndarray:
    if issparse(answer):
        return answer.toarray()
    numbers = np.asarray(answer)
    if numbers.dtype.kind != "O":
        return numbers
    # Sets and other objects: what they print.
    return np.array([" ".join(repr(a).split()) for a in np.atleast_1d(numbers).ravel()])
