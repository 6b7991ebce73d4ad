"""The cross-entropy method: minimise over a finite set by learning which elements to draw.

A search of its own [RubinsteinKroese2004]_, and that of the pre-images of sequences and graphs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from isthmus._progress import ProgressLine
from isthmus.typing import Array, IntArray


class Family(Protocol):
    """Product distributions over vectors of integers, with parameters in [0, 1]."""

    def sample(self, v: Array, n: int, rng: np.random.Generator) -> IntArray:
        """``n`` draws, shape (n, d)."""

    def fit(self, elite: IntArray) -> Array:
        """Parameters of maximal likelihood for the rows of ``elite``."""

    def restrict(self, v: Array, floor: float) -> Array:
        """The closest parameters that give every value a positive probability."""

    def shrink(self, v: Array, amount: float) -> Array:
        """Less probability for everything but the value 0."""


Family.__module__ = "isthmus.optimize"


@dataclass(frozen=True)
class Binomial:
    r"""Independent :math:`z_j\sim\mathrm{Binomial}(n_j,v_j)`; with :math:`n_j=1` coins.

    >>> import numpy as np
    >>> from isthmus.optimize import Binomial
    >>> Binomial(np.array([2, 1])).fit(np.array([[2, 0], [1, 0]]))
    array([0.75, 0.  ])
    """

    __module__ = "isthmus.optimize"

    trials: IntArray

    def sample(self, v: Array, n: int, rng: np.random.Generator) -> IntArray:
        return rng.binomial(self.trials, v, size=(n, len(self.trials)))

    def fit(self, elite: IntArray) -> Array:
        return np.asarray(elite.mean(axis=0) / np.maximum(self.trials, 1))

    def restrict(self, v: Array, floor: float) -> Array:
        return np.clip(v, floor, 1 - floor)

    def shrink(self, v: Array, amount: float) -> Array:
        return v - amount


@dataclass(frozen=True)
class Categorical:
    r"""Independent :math:`z_j\in\{0,\dots,o-1\}` with probabilities :math:`v_{j\cdot}`, (d, o).

    >>> import numpy as np
    >>> from isthmus.optimize import Categorical
    >>> Categorical(3).fit(np.array([[0, 2], [1, 2]]))
    array([[0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """

    __module__ = "isthmus.optimize"

    n_outcomes: int

    def sample(self, v: Array, n: int, rng: np.random.Generator) -> IntArray:
        steps = np.cumsum(v, axis=1)[:, :-1]
        return np.sum(rng.random((n, len(v), 1)) > steps, axis=2)

    def fit(self, elite: IntArray) -> Array:
        return np.stack([(elite == o).mean(axis=0) for o in range(self.n_outcomes)], axis=1)

    def restrict(self, v: Array, floor: float) -> Array:
        rest = np.maximum(v[:, 1:], floor)
        most = 1 - floor
        rest = rest * np.minimum(1, most / rest.sum(axis=1, keepdims=True))
        return np.column_stack([1 - rest.sum(axis=1), rest])

    def shrink(self, v: Array, amount: float) -> Array:
        return np.column_stack([v[:, 0], v[:, 1:] - amount])


@dataclass(frozen=True)
class CrossEntropySearch:
    """How long and how greedily to search.

    Parameters
    ----------
    n_samples : int
        Number of draws per iteration.
    elite : float, default=0.1
        Share of them from which the next distribution is learned.
    smoothing : float, default=0.7
        Weight of the new estimate relative to the previous one.
    sparsity : float, default=0.0
        Penalty on everything but zeros, :math:`\\lambda` of the sparsity prior.
    floor : float, default=0.01
        Smallest probability of any value.
    patience : int, default=5
        Number of iterations without a better elite after which the search stops.
    max_iter : int, default=100
    tol : float, default=1e-4
        The search also stops after this many iterations, or at a change this small.
    """

    __module__ = "isthmus.optimize"

    n_samples: int
    elite: float = 0.1
    smoothing: float = 0.7
    sparsity: float = 0.0
    floor: float = 0.01
    patience: int = 5
    max_iter: int = 100
    tol: float = 1e-4


@dataclass(frozen=True)
class CrossEntropyResult:
    """The best draw, its cost, the last parameters, and the course of the elite's level."""

    __module__ = "isthmus.optimize"

    best: IntArray
    value: float
    v: Array
    levels: Array


def update_parameters(
    family: Family, elite: IntArray, v: Array, search: CrossEntropySearch
) -> Array:
    r"""Parameters learned from elite draws, under the priors.

    With the maximum-likelihood estimate :math:`F`, smoothing :math:`a` and sparsity
    :math:`\lambda`,

    .. math::
        v_k=\arg\min_{v\ge\nu}a\|F-v\|^2+(1-a)\|v-v_{k-1}\|^2+\lambda\mathbf 1^\top v
           =\max\big(\nu,\;aF+(1-a)v_{k-1}-\tfrac\lambda2\big).
    """
    a = search.smoothing
    new = a * family.fit(elite) + (1 - a) * v
    return family.restrict(family.shrink(new, search.sparsity / 2), search.floor)


def cross_entropy(
    cost: Callable[[IntArray], Array],
    family: Family,
    v: Array,
    search: CrossEntropySearch,
    rng: np.random.Generator,
    *,
    repair: Callable[[IntArray, Array], IntArray] | None = None,
    line: ProgressLine | None = None,
) -> CrossEntropyResult:
    r"""Minimise ``cost`` over what ``family`` can draw.

    Draw, keep the best share as the elite, fit the family to it, draw again. The distribution is
    only updated if the level :math:`\gamma_k` (cost of the worst elite draw) falls; other
    iterations do not count. The best draw of all is returned, so more iterations never hurt.

    Parameters
    ----------
    cost : callable
        Of draws (n, d), returns (n,) numbers; ``inf`` excludes a draw.
    family : Family
        What is drawn from, such as :class:`Binomial` or :class:`Categorical`.
    v : ndarray
        Initial parameters of the family.
    search : CrossEntropySearch
    rng : numpy.random.Generator
    repair : callable, optional
        Of draws and parameters, returns allowed draws.
    line : progress line, optional

    Returns
    -------
    CrossEntropyResult

    Examples
    --------
    The heaviest bag of at most 10 kg, out of six things.

    >>> import numpy as np
    >>> from isthmus.optimize import Binomial, CrossEntropySearch, cross_entropy
    >>> weight, worth = np.array([6, 5, 4, 3, 2, 1]), np.array([13, 11, 8, 5, 3, 1])
    >>> def cost(bags):
    ...     return np.where(bags @ weight <= 10, -(bags @ worth), np.inf)
    >>> found = cross_entropy(
    ...     cost, Binomial(np.ones(6, dtype=int)), np.full(6, 0.5),
    ...     CrossEntropySearch(50), np.random.default_rng(0),
    ... )
    >>> found.best, found.value
    (array([1, 0, 1, 0, 0, 0]), -21.0)
    """
    v = family.restrict(v, search.floor)
    n_elite = max(1, int(np.ceil(search.elite * search.n_samples)))
    level, void = np.inf, 0
    best, value, levels = None, np.inf, []
    for _ in range(search.max_iter):
        Z = family.sample(v, search.n_samples, rng)
        if repair is not None:
            Z = repair(Z, v)
        costs = cost(Z)
        order = np.argsort(costs, kind="stable")
        if best is None or costs[order[0]] < value:
            best, value = Z[order[0]].copy(), float(costs[order[0]])
        new_level = costs[order[n_elite - 1]]
        if line is not None:
            line.update(level=float(new_level), best=value)
        if not new_level < level:
            void += 1
            if void >= search.patience:
                break
            continue
        level, void = new_level, 0
        levels.append(level)
        last, v = v, update_parameters(family, Z[order[:n_elite]], v, search)
        if np.abs(v - last).max() < search.tol:
            break
    assert best is not None
    return CrossEntropyResult(best, value, v, np.array(levels))
