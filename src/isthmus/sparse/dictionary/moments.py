"""What dictionaries share that are learned from sums over signals and codes."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import (
    check_scale,
    check_table,
)
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, integer, none, numbers, real, seed, verbosity
from isthmus._progress import ProgressLine
from isthmus.linalg.threads import threads_for
from isthmus.sparse.coder import CodesMixin, double_rows
from isthmus.sparse.dictionary.ksvd.formulas import initial_atoms
from isthmus.sparse.dictionary.lagrange_dual import (
    CodeMoments,
    dual_dictionary,
    fit_error,
    map_codes,
    merge_codes,
)
from isthmus.sparse.pursuit.matching import unit_rows
from isthmus.typing import Array, BoolArray, IntArray

# An atom whose squared coefficients sum to a smaller share of the largest sum is not in use.
_UNUSED = 1e-10
# Gap of the dual for the first block of a stream, whose sums are rough anyhow.
_ROUGH = 1e-5
# Sweeps over the atoms after each further block: atoms that fit the sums of a few blocks exactly
# are worse for the next ones, and after many blocks three sweeps are as good as the dual. Sums over
# fewer uses of an atom than it has entries do not determine it: one sweep stays nearer to the
# former atoms.
_SWEEPS, _FEW_SWEEPS = 3, 1
# Uses of an atom for each of its entries that determine it.
_USES = 1.25


class DictionaryState(NamedTuple):
    """A dictionary that is being learned; ``enough`` signals would determine its atoms."""

    D: Array
    multipliers: Array | None
    moments: CodeMoments | None
    seen: int
    enough: float = 0.0


class MomentDictionary(CodesMixin, Estimator, ABC):
    r"""A dictionary learned by coding signals and fitting atoms in turn.

    The codes minimise :math:`\frac12\|x-cD\|^2` plus a penalty that a child class names, the atoms
    the squared error alone, with lengths of at most one.
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_atoms": none | integer(1),
        "max_iter": integer(1),
        "tol": real(0),
        "batch_size": none | integer(1),
        "forgetting_power": real(0),
        "init": none | numbers(2),
        "random_state": seed,
        "verbose": verbosity,
    }

    n_atoms: int | None
    max_iter: int
    tol: float
    batch_size: int | None
    forgetting_power: float
    init: Any
    random_state: Any
    verbose: int

    # What a child class says -------------------------------------------------------------

    @abstractmethod
    def _codes(self, X: Array, D: Array, start: Array | None, *, rough: bool) -> Array:
        """Codes of the signals, from a start where there is one."""

    @abstractmethod
    def _penalties(self, codes: Array) -> Array:
        """Penalty of each code."""

    @abstractmethod
    def _set_scale(self, X: Array) -> None:
        """Fix what depends on the size of the signals."""

    def _atom_step(
        self, state: DictionaryState, block: CodeMoments, *, rough: bool
    ) -> DictionaryState:
        """Atoms that fit the sums best, or better where they are rough."""
        assert state.moments is not None
        if not rough:
            return dual_atoms(state, tol=1e-9)
        if state.moments.count < state.enough:
            return swept_atoms(state, _FEW_SWEEPS)
        if state.seen > block.count:
            return swept_atoms(state, _SWEEPS)
        return dual_atoms(state, tol=_ROUGH)

    def _replace_unused(self, state: DictionaryState, X: Array, codes: Array) -> DictionaryState:
        """New atoms in the place of those that no code uses."""
        return replace_unused(state, X, codes)

    # Learning ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the dictionary from the rows of ``X``; return self."""
        rng = check_random_state(self.random_state)
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        check_scale(self, X)
        state = DictionaryState(self._first_atoms(X, rng), None, None, 0)
        self._set_scale(X)
        learn = self._fit_sweeps if self.batch_size is None else self._fit_batches
        with threads_for(0):  # the coding has threads of its own
            state, history, n_iter = learn(X, state, rng)
        return self._keep(state, history, n_iter)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from a further block of signals in constant memory; return self.

        The first block should hold a few times as many signals as there are atoms: they are drawn
        from it.
        """
        first = not hasattr(self, "components_")
        X = validate_data(self, X, dtype=np.float64, order="C", reset=first)
        check_scale(self, X)
        if first:
            state = DictionaryState(
                self._first_atoms(X, check_random_state(self.random_state)),
                None,
                None,
                0,
            )
            self._set_scale(X)
            history, n_iter = [], 0
        else:
            state = DictionaryState(
                self.components_, self.multipliers_, self.moments_, self.n_seen_
            )
            history, n_iter = list(self.objective_), self.n_iter_
        state, cost = self._learn_block(X, state)
        return self._keep(state, [*history, cost], n_iter + 1)

    def _fit_sweeps(
        self, X: Array, state: DictionaryState, rng: np.random.RandomState
    ) -> tuple[DictionaryState, list[float], int]:
        """Code all signals, fit the atoms, and again; the cost never rises."""
        history: list[float] = []
        codes: Array | None = None
        with ProgressLine(type(self).__name__, verbose=self.verbose) as line:
            for sweep in range(self.max_iter):
                codes = self._codes(X, state.D, codes, rough=False)
                block = map_codes(X, codes)
                state = self._atom_step(
                    state._replace(moments=block, seen=len(X)), block, rough=False
                )
                cost = fit_error(block, state.D) + float(self._penalties(codes).sum())
                history.append(cost / len(X))
                state = self._replace_unused(state, X, codes)
                line.update(sweep=sweep + 1, objective=history[-1])
                if sweep and history[-2] - history[-1] <= self.tol * history[-2]:
                    break
        return state, history, len(history)

    def _fit_batches(
        self, X: Array, state: DictionaryState, rng: np.random.RandomState
    ) -> tuple[DictionaryState, list[float], int]:
        history: list[float] = []
        with ProgressLine(type(self).__name__, verbose=self.verbose) as line:
            for turn in range(self.max_iter):
                order = rng.permutation(len(X))
                for rows in gen_batches(len(X), int(self.batch_size or 1)):
                    state, cost = self._learn_block(X[order[rows]], state)
                    history.append(cost)
                    line.update(turn=turn + 1, signals=state.seen, objective=cost)
        return state, history, self.max_iter

    def _learn_block(self, X: Array, state: DictionaryState) -> tuple[DictionaryState, float]:
        """Learn from a block; the cost is that of the block before anything was learned."""
        codes = self._codes(X, state.D, None, rough=True)
        block = map_codes(X, codes)
        cost = (fit_error(block, state.D) + float(self._penalties(codes).sum())) / len(X)
        seen, enough = state.seen + len(X), enough_signals(codes, X.shape[1])
        moments = block
        if state.moments is not None:
            share, power = state.seen / seen, self.forgetting_power
            wanted = (enough - block.count) / max(state.moments.count, 1e-300)
            # However much is wanted, the first codes are the worst and count the least.
            keep = min(share ** min(power, 1.0), max(share**power, wanted))
            moments = merge_codes(state.moments, block, keep=keep)
        state = state._replace(moments=moments, seen=seen, enough=enough)
        state = self._atom_step(state, block, rough=True)
        return self._replace_unused(state, X, codes), cost

    def _keep(self, state: DictionaryState, history: list[float], n_iter: int) -> Self:
        self.components_, self.multipliers_, self.moments_ = (
            state.D,
            state.multipliers,
            state.moments,
        )
        self.n_seen_, self.n_iter_ = state.seen, n_iter
        self.objective_ = np.array(history)
        return self

    def _first_atoms(self, X: Array, rng: np.random.RandomState) -> Array:
        if self.init is None:
            n_atoms = 2 * X.shape[1] if self.n_atoms is None else self.n_atoms
            return initial_atoms(X, n_atoms, rng)
        D = check_table(self.init, "init", self)
        expected = (len(D) if self.n_atoms is None else self.n_atoms, X.shape[1])
        if D.shape != expected:
            raise ValueError(
                f"The 'init' parameter of {type(self).__name__} must have the shape {expected} of "
                f"the dictionary. Got {D.shape} instead."
            )
        return unit_rows(D)[0]

    # Use ---------------------------------------------------------------------------------

    def transform(self, X: Any) -> Array:
        """Return the codes of ``X``, shape (n_signals, n_atoms)."""
        check_is_fitted(self)
        X, dtype = double_rows(self, X)
        return self._codes(X, self.components_, None, rough=False).astype(dtype, copy=False)


def enough_signals(codes: Array, n_features: int) -> float:
    """How many signals determine the atoms: each is used a little more often than it has entries.

    That is so on the average; atoms of pictures are used unequally.

    >>> import numpy as np
    >>> enough_signals(np.array([[0.0, 1.0], [2.0, 0.0]]), 10)
    25.0
    """
    return _USES * n_features * codes.size / max(1, int(np.count_nonzero(codes)))


def dual_atoms(state: DictionaryState, *, tol: float) -> DictionaryState:
    """Atoms that fit the sums of ``state`` best; those not in use stay as they are."""
    D, multipliers, moments = state.D, state.multipliers, state.moments
    assert moments is not None
    used = _in_use(moments)
    if not used.any():
        return state
    part = CodeMoments(
        moments.count, moments.squares, moments.gram[np.ix_(used, used)], moments.cross[used]
    )
    step = dual_dictionary(part, start=None if multipliers is None else multipliers[used], tol=tol)
    # Both are feasible, and the sums may be at the optimum already.
    if fit_error(part, step.dictionary) <= fit_error(part, D[used]):
        D = D.copy()
        D[used] = step.dictionary
    found = np.zeros(len(D))
    found[used] = step.multipliers
    return state._replace(D=D, multipliers=found)


def swept_atoms(state: DictionaryState, n_sweeps: int) -> DictionaryState:
    """Atoms that fit the sums of ``state`` better, by coordinate descent; unused ones stay."""
    # Imported here: numba takes a good part of a second.
    from isthmus.sparse.dictionary.atom_loops import sweep_atoms

    assert state.moments is not None
    gram, cross, D = state.moments.gram, state.moments.cross, state.D.copy()
    used = _in_use(state.moments)
    sweep_atoms(gram, cross, used, D, n_sweeps)
    # Where an atom has length one, what is left is a multiple of it.
    slopes = np.einsum("ij,ij->i", D, cross - gram @ D)
    return state._replace(D=D, multipliers=np.where(used, np.maximum(slopes, 0.0), 0.0))


def replace_unused(state: DictionaryState, X: Array, codes: Array) -> DictionaryState:
    """Put the signals that are represented worst in the place of atoms that no code uses."""
    D, unused = state.D, unused_atoms(state)
    if not len(unused):
        return state
    residual = X - codes @ D
    errors = np.einsum("ij,ij->i", residual, residual)
    worst = np.argsort(-errors, kind="stable")[: len(unused)]
    return put_residuals(state, residual[worst[errors[worst] > 0]])


def unused_atoms(state: DictionaryState) -> IntArray:
    """The numbers of atoms that no code uses."""
    assert state.moments is not None
    return np.flatnonzero(~_in_use(state.moments))


def put_residuals(state: DictionaryState, residuals: Array) -> DictionaryState:
    """Put residuals, the largest first, in the place of atoms that no code uses."""
    unused = unused_atoms(state)
    assert state.moments is not None
    D, moments = state.D.copy(), state.moments
    residuals = residuals[: len(unused)]
    D[unused[: len(residuals)]] = unit_rows(residuals)[0]
    gram, cross = moments.gram.copy(), moments.cross.copy()
    gram[unused] = gram[:, unused] = cross[unused] = 0.0
    return state._replace(D=D, moments=moments._replace(gram=gram, cross=cross))


def _in_use(moments: CodeMoments) -> BoolArray:
    sums = np.diagonal(moments.gram)
    used: BoolArray = sums > _UNUSED * sums.max(initial=0.0)
    return used
