"""PSOM+: maps through grid nodes that are smooth where the data are noisy, few or absent."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from isthmus._checks import (
    check_choice,
    check_float,
    check_length,
    check_piece,
    check_scale,
    check_seed,
)
from isthmus._parameters import Constraint, choice, instance, none, real, seed, verbosity
from isthmus._progress import ProgressLine
from isthmus.blocks.fitting import open_fit, refuse_blocks
from isthmus.manifold.projection import Search
from isthmus.manifold.psom.annealing import Annealing, check_annealing
from isthmus.manifold.psom.base import A_GRID, BOUNDS, OUTSIDE, BaseGridManifold
from isthmus.manifold.psom.checks import check_latent, check_nodes, check_spread, check_variances
from isthmus.manifold.psom.choice import RULES, choose_smoothness
from isthmus.manifold.psom.grid import BASES, NodeGrid, make_grid
from isthmus.manifold.psom.in_blocks import (
    extent_of,
    folded_samples,
    root_as_samples,
    samples_root,
    stands_for_many,
)
from isthmus.manifold.psom.learn import principal_plane, unfold
from isthmus.manifold.psom.smoothing import (
    DENSE_LIMIT,
    Samples,
    make_smoother,
    smooth_nodes,
    smooth_samples,
    smoothest_interpolant,
)
from isthmus.typing import Array

FEW_ROWS = 10  # with fewer none are held out


class SmoothPSOM(BaseGridManifold):
    r"""A smooth map through the nodes of a grid, from noisy or scattered nodes, or rows alone.

    Minimises the misfit plus the roughness of the map over the whole domain,

    .. math::
        \sum_i\|y_i-f(x_i)\|^2+\lambda\int\sum_{\mu\nu}
        \Bigl\|\frac{\partial^2f}{\partial x_\mu\partial x_\nu}\Bigr\|^2dx ,

    over the images of the nodes [Klanke2007]_. There are three ways to fit it, depending on what is
    known:

    - ``fit(X)``: rows alone. Latent points and map are learned in turn, from the principal plane
      on, while :math:`\lambda` falls.
    - ``fit(X, latent=Z)``: rows and their latent points, anywhere in the domain.
    - ``fit_nodes(nodes)``: images of the grid's nodes, with noise, or NaN where they are missing.

    Parameters
    ----------
    grid_shape : tuple of int, default=(8, 8)
        Nodes on each latent axis. As many as affordable: the smoothness limits the map.
    smoothness : float or {"auto", "gcv", "loo", "noise", "discrepancy"}, default="auto"
        :math:`\lambda`: by generalised cross-validation (``"auto"`` too), by leaving one out, by
        the least estimated error under a known ``noise``, or, as published, so that the known
        noise is left over (``"discrepancy"``, which smooths too much); 0 meets all data as
        smoothly as possible. From rows alone ``"auto"`` stops where held-out rows are no
        longer met better.
    noise : float, optional
        Standard deviation of the noise in each component, for the two rules that need it.
    basis : {"chebyshev", "legendre", "lagrange"}, default="chebyshev"
        Chebyshev, Legendre or regular nodes.
    bounds : pair, or a pair for each axis, optional
        The domain; by default what ``latent`` spans, or [-1, 1].
    annealing : Annealing, optional
        How the smoothness falls while a map is learned from rows alone.
    outside, search :
        As in :class:`PSOM`.
    random_state : int, RandomState or None
        Which rows are held out.
    verbose : int, default=0

    Attributes
    ----------
    weights_ : ndarray of shape (\*grid_shape, n_features)
        Images of the nodes.
    embedding_ : ndarray of shape (n_samples, n_components)
        Latent points of the training rows; they are not kept if rows come in blocks.
    smoothness_ : float
        The one used.
    dof_ : float
        Degrees of freedom of a fit whose smoothness was chosen by a rule, else NaN.
    history_ : list of dict
        Smoothness and error(s), one for each step or trial.

    Examples
    --------
    Rows alone, near half a circle:

    >>> import numpy as np
    >>> from isthmus.manifold import SmoothPSOM
    >>> rng = np.random.default_rng(0)
    >>> a = rng.uniform(0, np.pi, 200)
    >>> X = np.c_[np.cos(a), np.sin(a)] + 0.05 * rng.normal(size=(200, 2))
    >>> curve = SmoothPSOM((10,), random_state=0).fit(X)
    >>> radius = np.linalg.norm(curve.reconstruct(X), axis=1)
    >>> bool(abs(radius - 1).max() < 0.05)
    True

    Noisy values at known points:

    >>> f = SmoothPSOM((12,)).fit(X[:, 1:], latent=a[:, None])
    >>> bool(abs(f.inverse_transform([[np.pi / 2]])[0, 0] - 1) < 0.02)
    True
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "grid_shape": A_GRID,
        "smoothness": real(0) | choice("auto", *RULES),
        "noise": real(0, include_low=False) | none,
        "basis": choice(*BASES),
        "bounds": BOUNDS | none,
        "annealing": instance(Annealing) | none,
        "outside": choice(*OUTSIDE),
        "search": instance(Search) | none,
        "random_state": seed,
        "verbose": verbosity,
    }

    def __init__(
        self,
        grid_shape: Any = (8, 8),
        *,
        smoothness: Any = "auto",
        noise: float | None = None,
        basis: str = "chebyshev",
        bounds: Any = None,
        annealing: Annealing | None = None,
        outside: str = "clip",
        search: Search | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.grid_shape = grid_shape
        self.smoothness = smoothness
        self.noise = noise
        self.basis = basis
        self.bounds = bounds
        self.annealing = annealing
        self.outside = outside
        self.search = search
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, latent: Any = None, X_valid: Any = None) -> Self:
        """Learn the map from rows, and from their latent points where they are known.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        latent : array-like of shape (n_samples, n_components), optional
            Latent points of the rows. None learns them.
        X_valid : array-like of shape (n_valid, n_features), optional
            Rows that choose the last smoothness instead of a share of ``X``.
        """
        rule = self._check_parameters()
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        check_scale(self, X)
        if latent is None:
            return self._fit_rows(X, self._grid(self.bounds), rule, X_valid)
        Z = check_array(latent, dtype=np.float64, input_name="latent", estimator=self)
        check_length(self, len(X), len(Z), what="latent points as rows")
        box = np.c_[Z.min(axis=0), Z.max(axis=0)] if self.bounds is None else self.bounds
        check_spread(self, Z, "latent points")
        grid = self._grid(box)
        check_latent(self, Z, grid)
        if self.smoothness == 0:
            self._keep(grid, smoothest_interpolant(grid, Z, X), Z, 0.0)
        elif rule not in (None, "loo") and stands_for_many(grid, X):
            # Every smoothness that is tried looks at all residuals: those of a root are few.
            data = root_as_samples(grid, samples_root(grid, Z, X))
            self._keep_smoothed(grid, data, rule, len(X))
            self.embedding_ = Z
        else:
            self._keep_smoothed(grid, Samples(Z, X, np.ones(len(X))), rule)
        return self

    def _fit_blocks(
        self, X: Any, y: Any = None, *, latent: Any = None, X_valid: Any = None
    ) -> Self:
        """The same, of rows and latent points that come in blocks."""
        rule = self._check_parameters()
        if latent is None or rule == "loo" or self.smoothness == 0:
            refuse_blocks(
                self,
                "it needs the latent points of the rows, and a smoothness above 0 that is given "
                "or chosen by a sum over rows",
                instead='fit(X, latent=Z) with smoothness="gcv"',
            )
        rows = open_fit(self, X, latent, names=("X", "latent"))
        box = self.bounds
        if box is None:
            rows.require_passes("the domain first; give bounds to do without")
            box = extent_of(self, rows)
        grid = self._grid(box)
        if grid.size > DENSE_LIMIT:
            refuse_blocks(
                self,
                f"a grid of {grid.size} nodes is solved by iteration over all rows",
                instead=f"A grid of at most {DENSE_LIMIT} nodes",
            )
        data, n_rows = folded_samples(self, rows, grid)
        self._keep_smoothed(grid, data, rule, n_rows)
        self.embedding_ = np.empty((0, len(grid.axes)))
        return self

    def fit_nodes(self, nodes: Any, *, variances: Any = None) -> Self:
        r"""Smooth the images of the grid's nodes, and fill in those that are missing.

        Minimises :math:`\sum_i\|w_i-\tilde w_i\|^2/\lambda_i+R(w)`.

        Parameters
        ----------
        nodes : array-like of shape (\*grid_shape, n_features) or (n_nodes, n_features)
            A node with a NaN is missing.
        variances : array-like of shape (n_nodes,), optional
            Noise of each node, relative: :math:`\lambda_i` is the smoothness times it. 0 keeps
            the node where it is. By default 1 for all.
        """
        W = check_array(
            nodes,
            dtype=np.float64,
            allow_nd=True,
            ensure_all_finite="allow-nan",
            input_name="nodes",
            estimator=self,
        )
        check_scale(self, W, what="nodes")
        rule = self._check_parameters()
        grid = self._grid(self.bounds)
        W = check_nodes(self, W, grid)
        known = np.flatnonzero(~np.isnan(W).any(axis=1))
        points = grid.points
        check_spread(self, points[known], "known nodes")
        spread = check_variances(self, variances, grid.size)
        if rule is None:
            lam = np.full(grid.size, np.inf)
            lam[known] = float(self.smoothness) * spread[known]
            weights = smooth_nodes(grid, W, lam)
            self._keep(grid, weights, points, float(self.smoothness))
        else:
            if np.any(spread[known] == 0):
                raise ValueError(
                    "SmoothPSOM cannot choose a smoothness if some nodes have variance 0 and are "
                    "met exactly. Give smoothness as a number."
                )
            data = Samples(points[known], W[known], 1 / spread[known], known)
            self._keep_smoothed(grid, data, rule)
            self.embedding_ = points
        self.n_features_in_ = W.shape[1]
        return self

    # The three ways of fitting ------------------------------------------------------------

    def _fit_rows(self, X: Array, grid: NodeGrid, rule: str | None, X_valid: Any) -> Self:
        """Learn latent points and map in turn while the smoothness falls."""
        if rule is not None and self.smoothness != "auto":
            raise ValueError(
                f"smoothness={self.smoothness!r} of SmoothPSOM needs latent points, or nodes. From "
                'rows alone take "auto" or a number.'
            )
        if rule is None:
            check_float(self.smoothness, "smoothness", self, include_low=False)
        n = len(X)
        annealing = Annealing() if self.annealing is None else self.annealing
        known = X_valid is not None
        if known:
            X_valid = validate_data(self, X_valid, dtype=np.float64, reset=False)
        history: list[dict[str, float]] = []
        with ProgressLine("SmoothPSOM", verbose=self.verbose) as line:

            def anneal(rows: Array, last: float | None, held_out: Array | None) -> Any:
                # The penalty stands against a sum over rows.
                share = len(rows) / n
                return unfold(
                    principal_plane(grid, rows),
                    (share * lam for lam in annealing.schedule(n, last)),
                    n_cycles=annealing.n_cycles,
                    held_out=held_out,
                    patience=annealing.patience,
                    tell=line.update,
                )

            last: float | None = None if rule is not None else float(self.smoothness)
            if rule is not None and not known and n >= FEW_ROWS:
                order = check_seed(self.random_state, "random_state", self).permutation(n)
                kept = n - max(1, round(annealing.held_out * n))
                history = anneal(X[order[:kept]], None, X[order[kept:]])[2]
                best = int(np.argmin([row["held_out_error"] for row in history]))
                last = history[best]["smoothness"] * n / kept
            weights, latent, steps = anneal(X, last, X_valid if last is None else None)
        if known and rule is not None:
            best = int(np.argmin([row["held_out_error"] for row in steps]))
            last = steps[best]["smoothness"]
        self._keep(grid, weights, latent, float(last or steps[-1]["smoothness"]))
        self.history_ = history or steps
        return self

    def _keep_smoothed(
        self, grid: NodeGrid, data: Samples, rule: str | None, n_rows: int | None = None
    ) -> None:
        if rule is None:
            lam = float(self.smoothness)
            self._keep(grid, smooth_samples(grid, data, lam), data.points, lam)
            return
        smoother = make_smoother(grid, data, with_leverage=rule == "loo")
        noise = None
        if rule in ("noise", "discrepancy"):
            if self.noise is None:
                raise ValueError(f"smoothness={rule!r} of SmoothPSOM needs the parameter noise.")
            noise = float(self.noise)
        lam, history = choose_smoothness(smoother, rule, data.weights, noise=noise, n_rows=n_rows)
        fit = smoother.at(lam)
        self._keep(grid, fit.weights, data.points, lam)
        self.dof_, self.history_ = fit.dof, history

    def _keep(self, grid: NodeGrid, weights: Array, latent: Array, lam: float) -> None:
        self.grid_, self.embedding_, self.smoothness_ = grid, latent, lam
        self.weights_ = weights.reshape(*grid.shape, -1)
        self.dof_, self.history_ = float("nan"), []

    # Checks -----------------------------------------------------------------------------

    def _grid(self, bounds: Any) -> NodeGrid:
        return make_grid(
            "SmoothPSOM", self.grid_shape, bounds=bounds, basis=self.basis, parameter="grid_shape"
        )

    def _check_parameters(self) -> str | None:
        """The rule that chooses the smoothness, None where it is a number."""
        self._check_search()
        if self.annealing is not None:
            check_piece(self.annealing, "annealing", self, check_annealing)
        if self.noise is not None:
            check_float(self.noise, "noise", self, include_low=False)
        check_seed(self.random_state, "random_state", self)
        if isinstance(self.smoothness, Real):
            check_float(self.smoothness, "smoothness", self)
            return None
        rule = check_choice(self.smoothness, "smoothness", self, ("auto", *RULES))
        return "gcv" if rule == "auto" else str(rule)
