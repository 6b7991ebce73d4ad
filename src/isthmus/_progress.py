"""One progress line on a terminal, nothing in a pipe."""

import sys
import time
from typing import Any, Self


class ProgressLine:
    """Rewrite one line with the state of a long computation.

    With ``verbose=0``, or where standard error is not a terminal, it is silent.

    >>> with ProgressLine("fit", verbose=1) as line:
    ...     line.update(step=1, objective=0.5)
    """

    def __init__(self, title: str, *, verbose: int = 0, every: float = 0.1):
        self.title = title
        self.active = bool(verbose) and sys.stderr.isatty()
        self.every = every
        self._start = time.perf_counter()
        self._last = 0.0

    def update(self, **state: Any) -> None:
        """Show ``name value`` pairs, at most once in ``every`` seconds."""
        now = time.perf_counter()
        if not self.active or now - self._last < self.every:
            return
        self._last = now
        shown = "  ".join(
            f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in state.items()
        )
        sys.stderr.write(f"\r\x1b[2K{self.title}: {shown}  {now - self._start:.1f} s")
        sys.stderr.flush()

    def close(self) -> None:
        """End the line."""
        if self.active and self._last:
            sys.stderr.write("\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
