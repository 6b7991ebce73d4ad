r"""Slow features without covariance matrices, one row at a time.

Principal directions by CCIPCA [Weng2003]_, whitening by them, and minor components of the
whitened differences, as in incremental slow feature analysis [Kompella2012]_. It costs O(q K) per
row instead of the O(K²) of the exact stream, so it pays off where K is in the thousands.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state

from isthmus._checks import check_int
from isthmus.features.slow.expander import expand, expand_blocks
from isthmus.features.slow.formulas import SlowAxes
from isthmus.kernels.objects import take
from isthmus.linalg.signs import fix_signs
from isthmus.typing import Array, BoolArray

AMNESIA = 2.0  # how much CCIPCA favours new rows
FLOOR = 1e-4  # learning rates never fall below this, so that drift is followed
SETTLE = 1000  # rows before the minor components start, so that the whitening can settle


@dataclass
class OnlineState:
    """Everything learned from the rows so far; ``new`` is the state before the first row."""

    mean: Array
    V: Array
    w: Array
    w_average: Array
    top: Array
    previous: Array
    counters: Array

    @classmethod
    def new(
        cls, n_inputs: int, n_whitened: int, n_components: int, rng: np.random.RandomState
    ) -> "OnlineState":
        """A state without rows; the minor directions start at random."""
        w = linalg.qr(rng.normal(size=(n_whitened, n_components)), mode="economic")[0].T.copy()
        return cls(
            np.zeros(n_inputs),
            np.zeros((n_whitened, n_inputs)),
            w,
            w.copy(),
            np.zeros(n_whitened),
            np.zeros(n_inputs),
            np.zeros(2, dtype=np.int64),
        )

    def copy(self) -> "OnlineState":
        """The same state in arrays of its own."""
        return OnlineState(*(getattr(self, f.name).copy() for f in fields(self)))

    def update(self, Phi: Array, starts: BoolArray, *, rate: float, rcond: float) -> None:
        """Learn from the rows of ``Phi`` in order."""
        from isthmus.features.slow.online_loops import run  # compiled on first use

        run(
            np.ascontiguousarray(Phi, dtype=np.float64),
            starts,
            self.mean,
            self.V,
            self.w,
            self.w_average,
            self.top,
            self.previous,
            self.counters,
            (AMNESIA, FLOOR, rate, float(SETTLE), rcond),
        )

    def update_by_episodes(
        self, expander: Any, episodes: list[Any], *, rate: float, rcond: float
    ) -> None:
        """Learn from all rows once, in order; no difference is taken between episodes."""
        for episode in episodes:
            first = True
            for Phi in expand_blocks(expander, episode):
                starts = np.zeros(len(Phi), dtype=bool)
                starts[0] = first
                first = False
                self.update(Phi, starts, rate=rate, rcond=rcond)

    def axes(self, rcond: float) -> SlowAxes:
        r"""The map learned so far; slowness from :math:`\|w_j\|\to1-\lambda_j/\gamma`."""
        variances = np.linalg.norm(self.V, axis=1)
        used = variances > rcond * max(variances.max(), np.finfo(float).tiny)
        whitening = np.zeros_like(self.V)
        whitening[used] = self.V[used] / variances[used, None] ** 1.5
        Q = linalg.qr(self.w_average.T, mode="economic")[0]
        gamma = 1.1 * np.linalg.norm(self.top)
        slowness = np.maximum(gamma * (1 - np.linalg.norm(self.w, axis=1)), 0.0)
        A = fix_signs(Q)
        patterns = A.T @ (self.V / np.sqrt(np.where(used, variances, 1.0))[:, None])
        return SlowAxes(self.mean.copy(), whitening.T @ A, slowness, int(used.sum()), patterns)


def new_state(owner: Any, expander: Any, rows: Any) -> OnlineState:
    """Where the online solver of ``owner`` starts."""
    rng = check_random_state(owner.random_state)
    n_inputs = expand(expander, take(rows, slice(0, 1))).shape[1]
    n_whitened = n_inputs
    if owner.n_whitened is not None:
        n_whitened = check_int(
            owner.n_whitened, "n_whitened", owner, low=1, high=n_inputs, why="expanded inputs"
        )
    n_components = n_whitened
    if owner.n_components is not None:
        n_components = check_int(
            owner.n_components, "n_components", owner, low=1, high=n_whitened, why="whitened"
        )
    return OnlineState.new(n_inputs, n_whitened, n_components, rng)
