"""Long streams: constant memory, and the same result when stopped, saved, loaded and resumed.

``python -m tests.campaign.soak`` sends a stream of 10^8 numbers through every ``partial_fit`` that
promises constant memory. In the middle the model is saved; the model that goes on and the one that
is loaded from the file learn the rest, and must answer alike to the last bit. The saved
state must not grow with the stream. It takes some minutes and is no part of ``make test``.
"""

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import isthmus
from isthmus.features import (
    CandidPCA,
    KernelPCA,
    MinorComponents,
    SlowFeatureAnalysis,
    Whitening,
)
from isthmus.regression import BayesianLinearRegression, SequentialStiefelRegression
from isthmus.sparse import KSVD, SparseDictionary, SparseNet

# A file may grow by this share and so many bytes: counters, and one number per block of history.
GROWTH, SLACK = 0.05, 65_536


class Stream(NamedTuple):
    """A model that learns from blocks, and how it is asked."""

    model: Callable[[], Any]
    n_features: int
    n_rows: int
    n_outputs: int = 0

    def blocks(self, first: int, last: int) -> Iterator[tuple[np.ndarray, ...]]:
        """Blocks of the stream by their numbers; each has a seed of its own."""
        for number in range(first, last):
            yield self.block(number)

    def block(self, number: int) -> tuple[np.ndarray, ...]:
        rng = np.random.default_rng([2026, number])
        shared = np.random.default_rng(0)
        mixing = shared.normal(size=(8, self.n_features))
        sources = rng.laplace(size=(self.n_rows, 8)).cumsum(axis=0) * 0.05
        X = sources @ mixing + 0.1 * rng.normal(size=(self.n_rows, self.n_features))
        if not self.n_outputs:
            return (X,)
        return X, X @ shared.normal(size=(self.n_features, self.n_outputs))

    def answer(self, model: Any) -> np.ndarray:
        X = self.block(10**6)[0][:50]
        return np.asarray(model.predict(X) if self.n_outputs else model.transform(X))


STREAMS = {
    "SlowFeatureAnalysis": Stream(lambda: SlowFeatureAnalysis(3), 50, 4000),
    "Whitening": Stream(lambda: Whitening(3), 50, 4000),
    "CandidPCA": Stream(lambda: CandidPCA(3), 50, 4000),
    "MinorComponents": Stream(lambda: MinorComponents(3), 50, 4000),
    "MinorComponents, online": Stream(
        lambda: MinorComponents(3, solver="online", random_state=0), 50, 4000
    ),
    "KernelPCA": Stream(lambda: KernelPCA(5, n_landmarks=50, random_state=0), 100, 2000),
    "SequentialStiefelRegression": Stream(lambda: SequentialStiefelRegression(3), 50, 4000, 4),
    "SequentialStiefelRegression, proximal": Stream(
        lambda: SequentialStiefelRegression(3, mode="proximal"), 50, 4000, 4
    ),
    "BayesianLinearRegression": Stream(lambda: BayesianLinearRegression(), 50, 4000, 4),
    "KSVD": Stream(lambda: KSVD(16, n_nonzero=3, random_state=0), 200, 1000),
    "SparseDictionary": Stream(lambda: SparseDictionary(12, random_state=0), 200, 1000),
    "SparseNet": Stream(lambda: SparseNet(12, random_state=0), 200, 1000),
}


def soak(stream: Stream, n_numbers: float, folder: Path) -> tuple[bool, str]:
    """Run a stream; whether all went well, and a line that says how."""
    n_blocks = max(4, int(np.ceil(n_numbers / (stream.n_features * stream.n_rows))))
    early, middle = max(1, n_blocks // 10), n_blocks // 2
    start = time.process_time()
    model = stream.model()
    for block in stream.blocks(0, early):
        model.partial_fit(*block)
    first_size = _saved(model, folder / "early.isthmus")
    for block in stream.blocks(early, middle):
        model.partial_fit(*block)
    _saved(model, folder / "middle.isthmus")
    resumed = isthmus.load(folder / "middle.isthmus")
    for block in stream.blocks(middle, n_blocks):
        model.partial_fit(*block)
        resumed.partial_fit(*block)
    last_size = _saved(model, folder / "late.isthmus")
    same = np.array_equal(stream.answer(model), stream.answer(resumed))
    constant = last_size <= first_size * (1 + GROWTH) + SLACK
    seconds = time.process_time() - start
    return same and constant, (
        f"{n_blocks * stream.n_features * stream.n_rows:.1e} numbers in {n_blocks} blocks, "
        f"{seconds:.0f} s; file {first_size / 1e3:.1f} kB at a tenth, {last_size / 1e3:.1f} kB at "
        f"the end; resumed {'the same' if same else 'DIFFERS'}"
    )


def _saved(model: Any, path: Path) -> int:
    isthmus.save(model, path)
    return path.stat().st_size


def main() -> int:
    """Soak every stream, or those that are named."""
    parser = argparse.ArgumentParser(description="long streams through every partial_fit")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(STREAMS)}; all without any")
    parser.add_argument("--numbers", type=float, default=1e8, help="length of a stream")
    options = parser.parse_args()
    failed = 0
    for name in options.names or STREAMS:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            good, line = soak(STREAMS[name], options.numbers, Path(folder))
        failed += not good
        print(f"{'ok    ' if good else 'DEFECT'} {name}: {line}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
