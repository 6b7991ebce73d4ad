"""Dictionaries for exact L1 codes."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from isthmus._parameters import Constraint, boolean, jobs, none, real
from isthmus._progress import ProgressLine
from isthmus.blocks.fitting import open_fit
from isthmus.blocks.rows import Rows
from isthmus.sparse.coder import penalty
from isthmus.sparse.dictionary.in_blocks import (
    MergePasses,
    PenalisedPass,
    WorstPass,
    batches,
    first_signals,
    typical_length,
)
from isthmus.sparse.dictionary.lagrange_dual import CodeMoments, fit_error, merge_codes
from isthmus.sparse.dictionary.moments import (
    DictionaryState,
    MomentDictionary,
    put_residuals,
    unused_atoms,
)
from isthmus.sparse.dictionary.positive_atoms import positive_dictionary
from isthmus.sparse.l1.feature_sign import sign_search
from isthmus.typing import Array


class SparseDictionary(MomentDictionary):
    r"""Learn a dictionary in which signals have codes of small L1 norm.

    .. math:: \min_{D,C}\ \tfrac12\|X-CD\|_F^2+\alpha\sum_i\|c_i\|_1
              \quad\text{subject to}\quad\|d_j\|\le1

    Two convex problems in turn, each solved exactly: codes by feature-sign search, atoms by the
    Lagrange dual [Lee2007]_. The objective falls with every sweep. With ``batch_size`` and in
    :meth:`partial_fit` only the sums :math:`C^\top C` and :math:`C^\top X` are kept, as in
    [Mairal2010]_, and the atoms go on by coordinate descent; those of a first block that is large
    enough to determine them are fitted exactly.

    Parameters
    ----------
    n_atoms : int or None, default=None
        Size of the dictionary; None takes twice the number of features, or that of ``init``.
    alpha : float or None, default=None
        Penalty. None takes a tenth of the root mean square length of the signals; in scikit-learn
        it is 1, whatever their unit.
    positive : bool, default=False
        Only coefficients that are not negative.
    positive_atoms : bool, default=False
        Only atoms without negative entries, by coordinate descent in place of the dual; there are
        no multipliers then. With both, a factorisation as of :class:`NonnegativeFactorization`.
    max_iter : int, default=50
        Maximum number of sweeps, or of passes over the mini-batches.
    tol : float, default=1e-4
        Stop where a sweep lowers the objective by less than this share of it. Mini-batches run to
        the end.
    batch_size : int or None, default=None
        Learn from mini-batches of this many signals: a few passes are often enough. None sweeps
        over all signals, which is the published way, and never lets the objective rise.
    forgetting_power : float, default=20.0
        Mini-batches and streams: what was seen when the stream had n of its N signals counts
        :math:`(n/N)^p` with this power p, since it was coded with a worse dictionary, or more, up
        to :math:`n/N`, while what is left uses an atom hardly more often than it has entries, on
        the average. 0 forgets nothing.
    init : array of shape (n_atoms, n_features) or None, default=None
        Atoms to start from; None draws signals.
    n_jobs : int or None, default=None
        Threads of the coding. Results do not depend on it.
    random_state : int, RandomState or None
        Draws the first atoms and the mini-batches.
    verbose : int, default=0
        1 shows a progress line on a terminal.

    Attributes
    ----------
    components_ : ndarray of shape (n_atoms, n_features)
        The atoms, of length at most one.
    alpha_ : float
        The penalty used.
    multipliers_ : ndarray of shape (n_atoms,)
        Of the constraints on the lengths; zero for atoms that are shorter than one.
    objective_ : ndarray
        Mean objective of a signal after each sweep; with mini-batches and streams that of each
        block before anything was learned from it.
    moments_ : CodeMoments
        The sums.
    n_iter_ : int
        Sweeps, passes, or blocks of a stream.
    n_seen_ : int
        Signals seen, with repetition.

    See Also
    --------
    SparseCoder : codes over a given dictionary.
    KSVD : a number of non-zeros instead of a penalty.
    sklearn.decomposition.MiniBatchDictionaryLearning : the same problem, with one pass of
        coordinate descent for the atoms.

    Notes
    -----
    Atoms that no code uses are replaced by the residuals of the signals represented worst, which
    does not change the objective. The problem is not convex in both: the start matters. Signals
    are not centred; for patches of images subtract the mean of each. Signals that come in blocks
    are coded anew in every sweep, so that no codes are held; ``batch_size`` takes them in their
    order. Of more than 5000 signals (20 for each atom, if that is more) the first atoms are drawn
    from as many.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import SparseDictionary
    >>> rng = np.random.default_rng(0)
    >>> planted = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    >>> codes = np.where(rng.random((300, 6)) < 0.3, rng.normal(size=(300, 6)), 0)
    >>> model = SparseDictionary(6, alpha=0.05, random_state=0).fit(codes @ planted)
    >>> found = np.abs(model.components_ @ planted.T).max(axis=0) > 0.99
    >>> int(found.sum())
    6
    """

    __module__ = "isthmus.sparse"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "alpha": none | real(0, include_low=False),
        "positive": boolean,
        "positive_atoms": boolean,
        "n_jobs": jobs,
    }

    def __init__(
        self,
        n_atoms: int | None = None,
        *,
        alpha: float | None = None,
        positive: bool = False,
        positive_atoms: bool = False,
        max_iter: int = 50,
        tol: float = 1e-4,
        batch_size: int | None = None,
        forgetting_power: float = 20.0,
        init: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_atoms = n_atoms
        self.alpha = alpha
        self.positive = positive
        self.positive_atoms = positive_atoms
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.forgetting_power = forgetting_power
        self.init = init
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit_blocks(self, X: Any, y: Any = None) -> Self:
        """The same, of signals that come in blocks: a pass for every sweep."""
        rng = check_random_state(self.random_state)
        rows = open_fit(self, X)
        rows.require_passes("one pass for each sweep")
        width = rows.checks[0].width or 1
        atoms = self._first_atoms(first_signals(rows, self.n_atoms or 2 * width), rng)
        state = DictionaryState(atoms, None, None, 0)
        # A signal of typical length stands for all.
        self._set_scale(np.array([[typical_length(rows)]]) if self.alpha is None else atoms)
        history: list[float] = []
        if self.batch_size is not None:
            for _ in range(self.max_iter):
                for batch in batches(rows, X, int(self.batch_size)):
                    state, cost = self._learn_block(batch, state)
                    history.append(cost)
            return self._keep(state, history, self.max_iter)
        with ProgressLine(type(self).__name__, verbose=self.verbose) as line:
            for sweep in range(self.max_iter):
                state, cost = self._sweep_blocks(rows, state)
                history.append(cost)
                line.update(sweep=sweep + 1, objective=cost)
                if sweep and history[-2] - history[-1] <= self.tol * history[-2]:
                    break
        return self._keep(state, history, len(history))

    def _sweep_blocks(self, rows: Rows, state: DictionaryState) -> tuple[DictionaryState, float]:
        """One pass of coding, new atoms, and another pass only where some are not in use."""
        settings = self.alpha_, bool(self.positive)
        coder = PenalisedPass(state.D, *settings)
        found = rows.fold(coder, MergePasses(merge_codes, 0))
        block, n = found.sums, found.n_signals
        state = self._atom_step(state._replace(moments=block, seen=n), block, rough=False)
        cost = (fit_error(block, state.D) + found.cost) / n
        n_unused = len(unused_atoms(state))
        if n_unused:
            again = WorstPass(coder.D, *settings, state.D, n_unused)
            worst = rows.fold(again, MergePasses(lambda a, b: None, n_unused))
            state = self._admit(put_residuals(state, worst.worst[worst.errors > 0]))
        return state, cost

    def _first_atoms(self, X: Array, rng: np.random.RandomState) -> Array:
        D = super()._first_atoms(X, rng)
        return np.abs(D) if self.positive_atoms else D

    def _atom_step(
        self, state: DictionaryState, block: CodeMoments, *, rough: bool
    ) -> DictionaryState:
        if not self.positive_atoms:
            return super()._atom_step(state, block, rough=rough)
        assert state.moments is not None
        D = positive_dictionary(state.moments, state.D, tol=1e-4 if rough else 1e-8)
        return state._replace(D=D, multipliers=np.zeros(len(D)))

    def _replace_unused(self, state: DictionaryState, X: Array, codes: Array) -> DictionaryState:
        return self._admit(super()._replace_unused(state, X, codes))

    def _admit(self, state: DictionaryState) -> DictionaryState:
        """Residuals that have replaced atoms may have negative entries."""
        return state._replace(D=np.abs(state.D)) if self.positive_atoms else state

    def _set_scale(self, X: Array) -> None:
        self.alpha_ = penalty(self, X)

    def _codes(self, X: Array, D: Array, start: Array | None, *, rough: bool) -> Array:
        codes = np.zeros((len(X), len(D))) if start is None else start.copy()
        sign_search(X, D, self.alpha_, codes, positive=bool(self.positive), n_jobs=self.n_jobs)
        return codes

    def _penalties(self, codes: Array) -> Array:
        return np.asarray(self.alpha_ * np.abs(codes).sum(axis=1))
