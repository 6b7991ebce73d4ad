"""The search for the output that agrees best with a new input."""

from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isthmus._parameters import Constraint, check_parameters, integer, real
from isthmus._piece import Piece
from isthmus.blocks.slices import block_slices
from isthmus.kernels.objects import object_array, take
from isthmus.structured.twin.bridge import TriedOutputs, TwinQuery, tried_outputs
from isthmus.structured.twin.landscape import Landscape, OutputBox
from isthmus.structured.twin.levels import (
    LEAST_ROWS,
    LowInverse,
    descend,
    exact_descent,
    rough_descent,
    single_is_enough,
)
from isthmus.typing import Array, BoolArray, Objects

# Starts of one query must differ: outputs this similar count as one.
SIMILAR = 0.5


@dataclass(kw_only=True)
class TwinSearch(Piece):
    """How a :class:`TwinGaussianProcess` searches for the best output.

    Parameters
    ----------
    n_init : int, default=2
        Starts for each point: kernel ridge regression, then training outputs with the best
        criterion that differ from each other. Where inputs have several right outputs, take more.
    margin : float, default=0.2
        Predictions stay in the box of the training outputs, widened on each side by this share.
    tol : float, default=1e-5
        A point has converged when no entry of its (projected) gradient is larger, in units of
        the spread of the outputs.
    max_iter : int, default=200
        Maximum number of quasi-Newton iterations.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.structured import TwinGaussianProcess, TwinSearch
    >>> t = np.linspace(0, 1, 40)[:, None]
    >>> model = TwinGaussianProcess(tune=None, search=TwinSearch(n_init=4))
    >>> model.fit(t, np.sin(6 * t)).predict(t).shape
    (40, 1)
    """

    __module__ = "isthmus.structured"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_init": integer(1),
        "margin": real(0),
        "tol": real(0, include_low=False),
        "max_iter": integer(1),
    }

    n_init: int = 2
    margin: float = 0.2
    tol: float = 1e-5
    max_iter: int = 200

    def check(self) -> None:
        """Refuse what cannot be used, by name."""
        check_parameters(self)


class FoundOutputs(NamedTuple):
    """The best outputs that a search has found, one per query."""

    outputs: Array
    values: Array
    converged: BoolArray


def best_outputs(
    bridge: Any,
    query: TwinQuery,
    box: OutputBox | None,
    candidates: Objects,
    search: TwinSearch,
    *,
    rough: bool = False,
    verbose: int = 0,
) -> FoundOutputs:
    """The best vectors in the box; without one, the best of the candidates.

    A rough search is content with the criterion of an inverse of low rank, where there is one, or
    with the inverse in single precision.
    """
    kernel, noise = bridge.sides.y_kernel, bridge.sides.y_noise
    if box is not None:
        tried = bridge.tried if search.n_init > 1 else None
        land = Landscape(kernel, bridge.outputs, noise, box)
        return search_outputs(query, land, search, tried=tried, rough=rough, verbose=verbose)
    table = query.table(kernel.gram(candidates, bridge.outputs), kernel.diag(candidates) + noise)
    best = table.argmin(axis=1)
    chosen = take(candidates, best)
    chosen = chosen if isinstance(chosen, np.ndarray) else object_array(chosen)
    return FoundOutputs(chosen, table[np.arange(len(best)), best], np.ones(len(best), dtype=bool))


def search_outputs(
    query: TwinQuery,
    land: Landscape,
    search: TwinSearch,
    *,
    tried: TriedOutputs | None = None,
    rough: bool = False,
    verbose: int = 0,
) -> FoundOutputs:
    """Minimise the criterion of all queries together, from one start or several."""
    starts = [np.asarray(query.start)]
    if search.n_init > 1:
        starts += _distinct_starts(query, land, search.n_init - 1, tried)
    # All starts of all queries side by side: row i belongs to query i modulo n.
    n, x = len(starts[0]), land.scaled(np.concatenate(starts))
    queries = np.tile(np.arange(n), len(starts))
    options = {"tol": search.tol, "max_iter": search.max_iter, "verbose": verbose}
    low: LowInverse | None = None
    if query.levels is not None and len(x) >= LEAST_ROWS:
        inverse = query.levels.inverse
        low = inverse.low_rank
        if rough and low is None and single_is_enough(land, options):
            low = inverse.single
    if query.levels is None or low is None:
        found = exact_descent(land, query.criterion, x, queries, options, query.terms)
    elif rough:
        found = rough_descent(land, query.levels, low, x, queries, options)
    else:
        found = descend(land, query.criterion, query.levels, low, x, queries, options)
    outputs = land.outputs(found.x)
    ends = [
        FoundOutputs(outputs[rows], found.value[rows], found.converged[rows])
        for rows in block_slices(len(outputs), 1, block_size=n)
    ]
    return reduce(partial(_better, slack=search.tol**2), ends)


def _better(one: FoundOutputs, other: FoundOutputs, slack: float) -> FoundOutputs:
    """The better of two ends; the first where both are the same minimum, up to the tolerance.

    Values there differ by the square of what gradients do; rounding, and with it the order of
    the queries, would choose between the two.
    """
    take_other = other.values < one.values - slack
    return FoundOutputs(
        np.where(take_other[:, None], other.outputs, one.outputs),
        np.where(take_other, other.values, one.values),
        np.where(take_other, other.converged, one.converged),
    )


def _distinct_starts(
    query: TwinQuery, land: Landscape, n_starts: int, known: TriedOutputs | None
) -> list[Array]:
    """The best of some reference outputs for each query, each different from those before it."""
    kernel, tried = land.kernel, tried_outputs(land.reference)
    scale = kernel.diag(tried)
    g, forms = (kernel.gram(tried, land.reference), None) if known is None else known
    table = query.table(g, scale + land.noise, forms)
    starts = [tried[table.argmin(axis=1)]]
    for _ in range(1, n_starts):
        table = np.where(kernel.gram(starts[-1], tried) > SIMILAR * scale, np.inf, table)
        starts.append(tried[table.argmin(axis=1)])
    return starts
