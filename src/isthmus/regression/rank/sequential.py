"""Regression of limited rank on a stream of rows."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isthmus._memory import require_memory
from isthmus._parameters import Constraint, boolean, choice, integer, none, real, verbosity
from isthmus._progress import ProgressLine
from isthmus.blocks.moments import Moments, merge
from isthmus.regression.rank.base import RankLimitedRegressor
from isthmus.regression.rank.choice import (
    generalized_errors,
    generalized_rank,
    penalty_grid,
    steadiest,
)
from isthmus.regression.rank.reduced_rank import AUTO
from isthmus.regression.rank.reduced_rank_formulas import (
    RankPath,
    Scatter,
    about_origin,
    joint_moments,
    rank_paths,
    scatter_of,
)
from isthmus.typing import Array


class SequentialStiefelRegression(RankLimitedRegressor):
    r"""Linear regression of limited rank, learned block by block in constant memory.

    ``mode="moments"`` keeps the means and scatter matrices of all rows so far and solves

    .. math:: \min_{\operatorname{rank}F\le r}\ \sum_i\lambda^{n-i}\|y_i-Fx_i-b\|^2+\alpha\|F\|^2

    exactly after each block: with :math:`\lambda=1` the answer is that of
    :class:`ReducedRankRegression` on all rows, whatever their order and however they were cut
    into blocks. ``mode="proximal"`` is the published sequential scheme, which remembers the
    last map alone,

    .. math:: F_k=\operatorname*{arg\,min}_{\operatorname{rank}F\le r}\
              \|Y_k-FX_k\|^2+\gamma_k\|F-F_{k-1}\|^2,\qquad F_0=I,

    each step solved in closed form.

    Parameters
    ----------
    rank : int or None, default=None
        Number of combinations of inputs from which all outputs are predicted. None takes anew
        after each block the one of smallest generalised cross-validation error, and in the mode
        ``"proximal"``, whose last map has no errors to compare, all.
    mode : {"moments", "proximal"}, default="moments"
    alpha : "auto" or float, default="auto"
        Ridge penalty in the mode ``"moments"``. ``"auto"`` takes anew after each block the one
        of smallest generalised cross-validation error, which the moments alone tell (rows that
        have gone by cannot be left out), in units of the data. The published method has none,
        ``alpha=0``.
    forgetting : float in (0, 1], default=1.0
        The factor :math:`\lambda` by which a row counts less than the next one; a stream then
        counts like its last :math:`1/(1-\lambda)` rows. In the mode ``"proximal"`` it acts on
        the running means.
    gamma : float, default=1.0
        Hold on the last map in the mode ``"proximal"``: the inverse of a learning rate. Must be
        positive where a block has fewer rows than features.
    growing : bool, default=True
        Let the hold grow with the blocks, :math:`\gamma_k=k\gamma`, which averages over them; False
        keeps it constant and follows a drift.
    batch_size : int, default=50
        Rows of a block in ``fit`` with the mode ``"proximal"``.
    fit_intercept : bool, default=True
        Centre by the running means.
    verbose : int, default=0
        One line of progress on a terminal, during ``fit``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_outputs, n_features)
    intercept_ : ndarray of shape (n_outputs,)
    V_, s_, W_ : ndarrays of shape (n_outputs, rank_), (rank_,), (n_features, rank_)
    rank_ : int
    moments_ : Moments
        Weight, means and (in the mode ``"moments"``) joint scatter of inputs and outputs so far.
    alpha_ : float
        The penalty in use (zero in the mode ``"proximal"``).
    n_blocks_ : int

    Notes
    -----
    Memory and time of a block are O((d + o)²) and O(n(d + o)² + d³) for ``"moments"``.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import ReducedRankRegression, SequentialStiefelRegression
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(300, 5)), rng.normal(size=(300, 4))
    >>> stream = SequentialStiefelRegression(2)  # without a number the rank is chosen too
    >>> for block in range(0, 300, 30):
    ...     stream = stream.partial_fit(X[block : block + 30], Y[block : block + 30])
    >>> whole = ReducedRankRegression(2, alpha=stream.alpha_).fit(X, Y)
    >>> bool(np.allclose(stream.coef_, whole.coef_))
    True
    """

    __module__ = "isthmus.regression"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "rank": integer(1) | none,
        "mode": choice("moments", "proximal"),
        "alpha": choice(AUTO) | real(0),
        "forgetting": real(0, 1, include_low=False),
        "gamma": real(0),
        "growing": boolean,
        "batch_size": integer(1),
        "fit_intercept": boolean,
        "verbose": verbosity,
    }

    def __init__(
        self,
        rank: int | None = None,
        *,
        mode: str = "moments",
        alpha: Any = AUTO,
        forgetting: float = 1.0,
        gamma: float = 1.0,
        growing: bool = True,
        batch_size: int = 50,
        fit_intercept: bool = True,
        verbose: int = 0,
    ):
        self.rank = rank
        self.mode = mode
        self.alpha = alpha
        self.forgetting = forgetting
        self.gamma = gamma
        self.growing = growing
        self.batch_size = batch_size
        self.fit_intercept = fit_intercept
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn from the rows in their order; return self."""
        X, Y, weights = self._check_data(X, y, sample_weight)
        self._begin(X.shape[1], Y.shape[1])
        if self.mode == "moments":
            return self._learn(X, Y, weights)
        size = int(self.batch_size)
        with ProgressLine(type(self).__name__, verbose=self.verbose) as line:
            for start in range(0, len(X), size):
                rows = slice(start, start + size)
                self._learn(X[rows], Y[rows], None if weights is None else weights[rows])
                line.update(rows=min(start + size, len(X)))
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from one more block of rows; return self."""
        first = not hasattr(self, "moments_")
        X, Y, weights = self._check_data(X, y, sample_weight, reset=first)
        if first:
            self._begin(X.shape[1], Y.shape[1])
        n_outputs = len(self.coef_)
        if Y.shape[1] != n_outputs:
            raise ValueError(
                f"SequentialStiefelRegression has learned {n_outputs} outputs. "
                f"Got a block with {Y.shape[1]} instead."
            )
        return self._learn(X, Y, weights)

    def _begin(self, n_features: int, n_outputs: int) -> None:
        d, o = n_features, n_outputs
        rank = min(d, o) if self.rank is None else self._check_rank(d, o)
        if self.mode == "moments":
            require_memory(
                self,
                8.0 * 4 * (d + o) ** 2,
                what=f"the moments of {d} inputs and {o} outputs",
                avoid='Set mode="proximal", which keeps the map alone.',
            )
        scatter = np.zeros((d + o,) * 2) if self.mode == "moments" else np.zeros(0)
        self.moments_ = Moments(0.0, np.zeros(d + o), scatter)
        self.n_blocks_, self.alpha_ = 0, 0.0
        self.coef_ = np.eye(o, rank) @ np.eye(rank, d)

    def _learn(self, X: Array, Y: Array, weights: Array | None) -> Self:
        d = X.shape[1]
        weights, kept = self._fading(weights, len(X))
        step = self._moments_step if self.mode == "moments" else self._proximal_step
        path = step(X, Y, weights, kept)
        self.n_blocks_ += 1
        mean = self.moments_.mean if self.fit_intercept else np.zeros_like(self.moments_.mean)
        rank = path.basis.shape[1]
        self._set_map(path.coef(rank), path.basis, mean[:d], mean[d:], X.dtype)
        return self

    def _fading(self, weights: Array | None, n: int) -> tuple[Array | None, float]:
        """Weights of the rows of a block, and what is kept of all rows before it."""
        fade = float(self.forgetting)
        if fade == 1:
            return weights, 1.0
        ages = fade ** np.arange(n - 1, -1, -1.0)
        return ages if weights is None else weights * ages, fade**n

    def _moments_step(self, X: Array, Y: Array, weights: Array | None, kept: float) -> RankPath:
        old = self.moments_
        faded = Moments(old.count * kept, old.mean, old.scatter * kept)
        self.moments_ = merge(faded, joint_moments(X, Y, weights))
        moments = self.moments_ if self.fit_intercept else about_origin(self.moments_)
        scatter = scatter_of(moments, X.shape[1])
        if isinstance(self.alpha, str):
            grid = penalty_grid(scatter, moments.count)
            self.alpha_ = grid[steadiest(generalized_errors(scatter, moments.count, grid))]
        else:
            self.alpha_ = float(self.alpha)
        path = next(rank_paths(scatter, [self.alpha_], max_rank=self.rank))
        if self.rank is not None:
            return path
        rank = generalized_rank(path, scatter, moments.count, self.alpha_)
        return path._replace(basis=path.basis[:, :rank], gain=path.gain[:rank])

    def _proximal_step(self, X: Array, Y: Array, weights: Array | None, kept: float) -> RankPath:
        d = X.shape[1]
        block = np.concatenate([X, Y], axis=1, dtype=np.float64)
        old = self.moments_
        weight = float(len(block) if weights is None else weights.sum())
        count = old.count * kept + weight
        block_mean = np.average(block, axis=0, weights=weights)
        mean = old.mean + (block_mean - old.mean) * (weight / count)
        self.moments_ = Moments(count, mean, old.scatter)
        if self.fit_intercept:
            block = block - mean
        if weights is not None:
            block = block * np.sqrt(weights)[:, None]
        gamma = float(self.gamma) * (self.n_blocks_ + 1 if self.growing else 1)
        # ‖Y - FX‖² + γ‖F - F₀‖² has the moments of the block with γI and γF₀ added.
        S = block.T @ block
        S_xx = S[:d, :d] + gamma * np.eye(d)
        S_yx = S[d:, :d] + gamma * self.coef_
        return next(rank_paths(Scatter(S_xx, S_yx, np.diagonal(S)[d:]), [0.0], max_rank=self.rank))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_blocks_") and self.n_blocks_ > 0

    def predict(self, X: Any) -> Array:
        """Return the outputs for the rows of ``X``."""
        check_is_fitted(self)
        return super().predict(X)
