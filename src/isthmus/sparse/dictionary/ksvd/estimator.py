"""K-SVD, in memory, in mini-batches and on streams."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import (
    check_scale,
    check_table,
)
from isthmus._estimator import Estimator
from isthmus._parameters import (
    Constraint,
    boolean,
    choice,
    instance,
    integer,
    jobs,
    none,
    numbers,
    real,
    seed,
    verbosity,
)
from isthmus._progress import ProgressLine
from isthmus.blocks.fitting import open_fit, refuse_blocks
from isthmus.linalg.threads import threads_for
from isthmus.sparse.coder import CodesMixin, double_rows
from isthmus.sparse.dictionary.in_blocks import STILL, batches, first_signals, pursue_in_passes
from isthmus.sparse.dictionary.ksvd.formulas import (
    SparseCodes,
    approximate_sweep,
    exact_sweep,
    initial_atoms,
    poor_atoms,
    pursue_codes,
    replace_atoms,
)
from isthmus.sparse.dictionary.ksvd.stream import (
    CodeSums,
    atoms_from_sums,
    forget_atoms,
    map_block,
    merge,
)
from isthmus.sparse.dictionary.ksvd.update import AtomUpdate, as_atom_update
from isthmus.sparse.pursuit.checks import count_limit, residual_goals
from isthmus.sparse.pursuit.matching import as_dense, pursue, unit_rows
from isthmus.typing import Array


class KSVD(CodesMixin, Estimator):
    r"""Learn a dictionary in which signals have codes with few non-zeros.

    .. math:: \min_{D,C}\ \|X-CD\|_F^2\quad\text{subject to}\quad\|c_i\|_0\le S,\ \|d_j\|=1

    A sweep codes all signals by orthogonal pursuit, then improves one atom after the other
    together with its coefficients: the best rank-one fit of what the other atoms leave of the
    signals that use it [Aharon2006]_. It generalises k-means, which is the case of one non-zero
    that must be 1.

    Parameters
    ----------
    n_atoms : int or None, default=None
        Size of the dictionary; None takes twice the number of features.
    n_nonzero : int or None, default=None
        Maximum number of non-zeros of a code. None without ``tol`` takes a tenth of the features,
        at least one.
    tol : float or None, default=None
        Norm of the residual at which a code is good enough, however few atoms it has.
    max_iter : int, default=20
        Maximum number of sweeps, or of passes over the mini-batches. The problem is not convex and
        K-SVD has no other natural end; it stops earlier where a sweep changes nothing.
    update : {"power", "exact"} or AtomUpdate, default="power"
        How atoms are improved, by power steps or by singular value decompositions, and when they
        are replaced: see :class:`AtomUpdate`. The published update is "exact", which costs a
        decomposition for each atom.
    rule : {"residual", "correlation"}, default="residual"
        How the pursuit picks atoms, see :func:`orthogonal_matching_pursuit`; the second is the
        published one, the first takes the atom that leaves the smallest residual.
    monotone : bool, default=False
        Keep the last code of a signal, with its coefficients fitted again, where the pursuit finds
        a worse one. The error then never rises (but for replaced atoms), and ends in worse minima.
    batch_size : int or None, default=None
        Learn from mini-batches of this many signals, as :meth:`partial_fit` does: two passes are
        often enough, and the residuals of all signals need not be held.
    forgetting_power : float, default=5.0
        Mini-batches and streams: what was seen when the stream had n of its N signals counts
        :math:`(n/N)^p` with this power p, since it was coded with a worse dictionary. 0 forgets
        nothing.
    init : array of shape (n_atoms, n_features) or None, default=None
        Atoms to start from; None draws signals.
    n_jobs : int or None, default=None
        Threads of the pursuits. Results do not depend on it.
    random_state : int, RandomState or None
        Draws the first atoms, and the order in which atoms are improved.
    verbose : int, default=0
        1 shows a progress line on a terminal.

    Attributes
    ----------
    components_ : ndarray of shape (n_atoms, n_features)
        The atoms, of unit length.
    objective_ : ndarray
        Mean squared residual norm of a signal after each sweep; with mini-batches and streams
        that of each block before anything was learned from it.
    n_iter_ : int
        Sweeps, passes, or blocks of a stream.
    n_seen_ : int
        Signals seen, with repetition.

    See Also
    --------
    orthogonal_matching_pursuit : codes over a given dictionary, also of signals with gaps.
    sklearn.decomposition.MiniBatchDictionaryLearning : an L1 penalty instead of a count.

    Notes
    -----
    A sweep of N signals of length p takes O(N(pk + kS²) + NpS) for k atoms. The stream needs
    O(k² + kp) memory: the power step of an atom depends on the past through two sums only.

    Signals that come in blocks are learned from in the same way: a sweep is a pass that codes all
    of them and adds up the sums, and then improves the atoms while the codes stay, which is
    another path than that in memory. Of more than 5000 signals (20 for each atom, if that is
    more) the first atoms are drawn from as many.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import KSVD
    >>> rng = np.random.default_rng(0)
    >>> planted = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    >>> codes = np.where(rng.random((300, 6)) < 0.3, rng.normal(size=(300, 6)), 0)
    >>> X = codes @ planted
    >>> model = KSVD(6, n_nonzero=2, random_state=0).fit(X)
    >>> found = np.abs(model.components_ @ planted.T).max(axis=0) > 0.99
    >>> int(found.sum())
    6
    >>> model.inverse_transform(model.transform(X)).shape
    (300, 6)
    """

    __module__ = "isthmus.sparse"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_atoms": none | integer(1),
        "n_nonzero": none | integer(1),
        "tol": none | real(0),
        "max_iter": integer(1),
        "update": choice("power", "exact") | instance(AtomUpdate),
        "rule": choice("residual", "correlation"),
        "monotone": boolean,
        "batch_size": none | integer(1),
        "forgetting_power": real(0),
        "init": none | numbers(2),
        "n_jobs": jobs,
        "random_state": seed,
        "verbose": verbosity,
    }

    # In blocks the codes stay while atoms are improved, which in memory they need not.
    _memmap_as_array = True
    _rng: np.random.RandomState

    def __init__(
        self,
        n_atoms: int | None = None,
        *,
        n_nonzero: int | None = None,
        tol: float | None = None,
        max_iter: int = 20,
        update: Any = "power",
        rule: str = "residual",
        monotone: bool = False,
        batch_size: int | None = None,
        forgetting_power: float = 5.0,
        init: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_atoms = n_atoms
        self.n_nonzero = n_nonzero
        self.tol = tol
        self.max_iter = max_iter
        self.update = update
        self.rule = rule
        self.monotone = monotone
        self.batch_size = batch_size
        self.forgetting_power = forgetting_power
        self.init = init
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # Learning -----------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the dictionary from the rows of ``X``; return self."""
        rng = check_random_state(self.random_state)
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        check_scale(self, X)
        D = self._first_atoms(X, rng)
        learn = self._fit_sweeps if self.batch_size is None else self._fit_batches
        with threads_for(0):  # the pursuits have threads of their own
            learn(X, D, rng)
        return self

    def _fit_blocks(self, X: Any, y: Any = None) -> Self:
        """The same, of signals that come in blocks: a pass for every sweep."""
        rng = check_random_state(self.random_state)
        update = as_atom_update(self.update, self)
        if update.method == "exact" or self.monotone:
            refuse_blocks(
                self,
                f"update={self.update!r} with monotone={self.monotone!r} needs all codes at once",
                instead='update="power" with monotone=False',
            )
        rows = open_fit(self, X)
        rows.require_passes("one pass for each sweep")
        width = rows.checks[0].width or 1
        D = self._first_atoms(first_signals(rows, self.n_atoms or 2 * width), rng)
        if self.batch_size is None:
            found: Any = pursue_in_passes(self, rows, D, rng, update)
        else:
            sums, seen, history = None, 0, []
            for _ in range(self.max_iter):
                for batch in batches(rows, X, int(self.batch_size)):
                    sums, error = self._learn_block(batch, D, sums, seen, rng, replace=True)
                    seen += len(batch)
                    history.append(error)
            found = sums, history, seen, self.max_iter
        self._rng = rng
        self._keep(D, *found)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from a further block of signals in constant memory; return self.

        The first block should hold a few times as many signals as there are atoms.
        """
        first = not hasattr(self, "components_")
        rng = check_random_state(self.random_state) if first else self._rng
        X = validate_data(self, X, dtype=np.float64, order="C", reset=first)
        check_scale(self, X)
        D = self._first_atoms(X, rng) if first else self.components_.copy()
        sums, seen = (None, 0) if first else (self._sums, self.n_seen_)
        history = [] if first else list(self.objective_)
        with threads_for(0):  # the pursuits have threads of their own
            sums, error = self._learn_block(X, D, sums, seen, rng, replace=True)
        self._rng = rng
        self._keep(D, sums, [*history, error], seen + len(X), 1 if first else self.n_iter_ + 1)
        return self

    def _fit_sweeps(self, X: Array, D: Array, rng: np.random.RandomState) -> None:
        n_nonzero, goals = self._limits(X, len(D))
        update = as_atom_update(self.update, self)
        codes: SparseCodes | None = None
        history: list[float] = []
        with ProgressLine("KSVD", verbose=self.verbose) as line:
            for sweep in range(self.max_iter):
                if sweep > 0 and codes is not None:
                    self._replace(D, codes, codes.support, X)
                codes = pursue_codes(
                    X,
                    D,
                    n_nonzero,
                    goals,
                    rule=self.rule,
                    n_jobs=self.n_jobs,
                    last=codes if self.monotone else None,
                )
                order = rng.permutation(len(D))
                if update.method == "exact":
                    exact_sweep(D, codes, order)
                else:
                    approximate_sweep(D, codes, order, update.n_power)
                history.append(float(codes.errors.mean()))
                line.update(sweep=sweep + 1, error=history[-1])
                if len(history) > 1 and abs(history[-2] - history[-1]) <= STILL * history[-2]:
                    break
        assert codes is not None  # max_iter is at least one
        # Eigenvectors have no sign of their own: the largest entry is positive.
        signs = np.where(D[np.arange(len(D)), np.abs(D).argmax(axis=1)] < 0, -1.0, 1.0)
        D *= signs[:, None]
        codes.coef[...] *= signs[codes.support]
        self._rng = rng
        self._keep(D, map_block(X, codes, len(D)), history, len(X), len(history))

    def _fit_batches(self, X: Array, D: Array, rng: np.random.RandomState) -> None:
        batches = list(gen_batches(len(X), int(self.batch_size or 1)))
        sums, seen, history = None, 0, []
        with ProgressLine("KSVD", verbose=self.verbose) as line:
            for turn in range(self.max_iter):
                order = rng.permutation(len(X))
                for i, rows in enumerate(batches):
                    block = X[order[rows]]
                    last = turn == self.max_iter - 1 and i > len(batches) // 2
                    sums, error = self._learn_block(block, D, sums, seen, rng, replace=not last)
                    seen += len(block)
                    history.append(error)
                    line.update(turn=turn + 1, signals=seen, error=error)
        self._rng = rng
        self._keep(D, sums, history, seen, self.max_iter)

    def _learn_block(
        self,
        X: Array,
        D: Array,
        sums: CodeSums | None,
        seen: int,
        rng: np.random.RandomState,
        *,
        replace: bool,
    ) -> tuple[CodeSums, float]:
        """Improve ``D`` in place by a block; return the new sums and the error before it."""
        n_nonzero, goals = self._limits(X, len(D))
        codes = pursue_codes(X, D, n_nonzero, goals, rule=self.rule, n_jobs=self.n_jobs)
        error = float(codes.errors.mean())
        block = map_block(X, codes, len(D))
        if sums is not None:
            block = merge(sums, block, keep=(seen / (seen + len(X))) ** self.forgetting_power)
        atoms_from_sums(D, block, rng.permutation(len(D)), 1)
        if replace:
            # Usage over the stream; a block may be too short for all atoms.
            used = np.repeat(np.arange(len(D)), np.ceil(block.usage).astype(int))
            self._replace(D, codes, used, X, sums=block)
        return block, error

    def _replace(
        self, D: Array, codes: SparseCodes, used: Any, X: Array, sums: CodeSums | None = None
    ) -> None:
        update = as_atom_update(self.update, self)
        fair = int(codes.support.size // (2 * len(D)))
        poor = poor_atoms(
            D,
            used,
            min_usage=min(update.min_usage, max(1, fair)) if update.min_usage else 0,
            max_coherence=update.max_coherence,
        )
        if poor.any():
            replaced = replace_atoms(D, codes, poor, X)
            if sums is not None:
                forget_atoms(sums, replaced)

    def _keep(self, D: Array, sums: Any, history: list[float], seen: int, n_iter: int) -> None:
        self.components_, self._sums = D, sums
        self.objective_ = np.array(history)
        self.n_seen_, self.n_iter_ = seen, n_iter

    def _first_atoms(self, X: Array, rng: np.random.RandomState) -> Array:
        n_atoms = 2 * X.shape[1] if self.n_atoms is None else self.n_atoms
        if self.init is None:
            return initial_atoms(X, n_atoms, rng)
        D = check_table(self.init, "init", self)
        expected = (n_atoms if self.n_atoms is not None else len(D), X.shape[1])
        if D.shape != expected:
            raise ValueError(
                f"The 'init' parameter of KSVD must have the shape {expected} of the dictionary. "
                f"Got {D.shape} instead."
            )
        D, lengths = unit_rows(D)
        if not lengths.all():
            raise ValueError("The 'init' parameter of KSVD holds an atom of length zero.")
        return D

    def _limits(self, X: Array, n_atoms: int) -> tuple[int, Array]:
        n_nonzero = count_limit("KSVD", self.n_nonzero, self.tol, n_atoms, X.shape[1])
        return n_nonzero, residual_goals("KSVD", self.tol, len(X))

    # Use ----------------------------------------------------------------------------

    def transform(self, X: Any) -> Array:
        """Return the codes of ``X``, shape (n_signals, n_atoms)."""
        check_is_fitted(self)
        X, dtype = double_rows(self, X)
        D = self.components_
        n_nonzero, goals = self._limits(X, len(D))
        support, coef = pursue(X, D, n_nonzero, goals, rule=self.rule, n_jobs=self.n_jobs)
        return as_dense(support, coef, len(D)).astype(dtype, copy=False)
