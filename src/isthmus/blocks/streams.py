"""Streams of blocks: read from whatever yields them, several side by side."""

from collections.abc import Iterator, Sequence
from typing import Any

from isthmus.blocks.checks import join_blocks, n_rows_of
from isthmus.blocks.containers import STREAM, is_table, kind_of


def stream(X: Any) -> Iterator[Any]:
    """The blocks of an iterator, an iterable, a function that returns one, a pyarrow data set."""
    if hasattr(X, "to_batches"):
        for batch in X.to_batches():
            yield batch.to_pandas()
        return
    if callable(X) and not hasattr(X, "__iter__"):
        X = X()
    for block in X:
        yield block.to_pandas() if hasattr(block, "to_pandas") else block


def read(X: Any, rows: slice) -> Any:
    """Some rows of what takes slices, as a block in memory."""
    return X.iloc[rows] if is_table(X) else X[rows]


class Cutter:
    """The rows of a stream in portions of any size."""

    def __init__(self, blocks: Iterator[Any]):
        self._blocks = blocks
        self._rest: list[Any] = []

    def take(self, n: int) -> Any:
        """The next ``n`` rows, or fewer where the stream ends; None where it has ended."""
        have = sum(map(n_rows_of, self._rest))
        while have < n:
            block = next(self._blocks, None)
            if block is None:
                break
            have += n_rows_of(block)
            self._rest.append(block)
        if not self._rest:
            return None
        whole = join_blocks(self._rest)
        self._rest = [read(whole, slice(n, None))] if have > n else []
        return read(whole, slice(0, n)) if have > n else whole


class Slicer:
    """The rows of what takes slices in portions of any size."""

    def __init__(self, X: Any):
        self._X, self._at = X, 0

    def take(self, n: int) -> Any:
        block = read(self._X, slice(self._at, self._at + n))
        self._at += n
        return block if n_rows_of(block) else None


def together(
    owner: str, containers: Sequence[Any], names: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """Blocks of several containers that go together; the first stream says where they end."""
    lead = next(i for i, X in enumerate(containers) if kind_of(X) == STREAM)
    others = [
        (i, Cutter(stream(X)) if kind_of(X) == STREAM else Slicer(X))
        for i, X in enumerate(containers)
        if i != lead
    ]
    total = 0
    for block in stream(containers[lead]):
        if isinstance(block, tuple) and not others:
            yield block
            continue
        n = n_rows_of(block)
        total += n
        parts = {lead: block}
        for i, source in others:
            part = source.take(n) if n else block[:0]
            if part is None or n_rows_of(part) < n:
                raise ValueError(
                    f"{owner} needs inputs that go together row by row. Got at least {total} rows "
                    f"in {names[lead]} and fewer in {names[i]}."
                )
            parts[i] = part
        yield tuple(parts[i] for i in range(len(containers)))
    for i, source in others:
        if source.take(1) is not None:
            raise ValueError(
                f"{owner} needs inputs that go together row by row. Got {total} rows in "
                f"{names[lead]} and more in {names[i]}."
            )
