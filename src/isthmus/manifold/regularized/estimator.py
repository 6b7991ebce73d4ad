"""Regularised principal manifolds: the smooth sheet that is nearest to the rows."""

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from isthmus._checks import check_length, refusal
from isthmus._memory import require_memory
from isthmus._parameters import (
    Constraint,
    ParameterError,
    boolean,
    choice,
    integer,
    none,
    numbers,
    real,
    seed,
    several,
    verbosity,
)
from isthmus._progress import ProgressLine
from isthmus._warnings import warn
from isthmus.kernels.base import Kernel
from isthmus.kernels.resolve import A_KERNEL, kernel_parameter
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.manifold.domain import Domain
from isthmus.manifold.gtm.basis import counts_on_axes, lattice, spacing
from isthmus.manifold.gtm.starts import into_box
from isthmus.manifold.latent_map import BaseLatentMap, MapValues
from isthmus.manifold.regularized.basis import NodeBasis
from isthmus.manifold.regularized.learning import (
    STEPS,
    State,
    choose_stiffness,
    joint_step,
    reach,
    settle,
)
from isthmus.manifold.regularized.objective import REGULARIZERS, Problem
from isthmus.manifold.regularized.starts import SPECTRAL, first_places
from isthmus.manifold.units import own_units
from isthmus.typing import Array

# Nodes where their number is not given, in all and on a line; the width of the default kernel in
# units of their distance; and rows that are needed to hold some out.
N_NODES, N_NODES_ON_A_LINE, WIDTH, FEWEST_ROWS = 100, 30, 2.0, 10
# Latent points of training rows from which projections may start, beside the nodes.
N_STARTS = 512
ALPHA_OF_FEW = 0.1


class RegularizedPrincipalManifold(BaseLatentMap):
    r"""The smooth sheet that is nearest to the rows: an expansion in any kernel.

    .. math:: \min_f\frac1N\sum_i\min_x\|y_i-f(x)\|^2+\alpha\,Q(f),\qquad
        f(x)=f_0+Vx+\sum_ja_j\,k(r_j,x)

    with nodes :math:`r_j` on a lattice in the box :math:`[-1,1]^q` [Smola2001]_. The sheet begins
    as a stiff one, with :math:`\alpha` large, and softens by steps; from places that are unfolded
    already (Isomap, or given ones) it begins as soft as it will be.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions. The number of nodes grows exponentially with them.
    kernel : kernel, its name, or None, default=None
        Any kernel of vectors with a gradient. None is a Gaussian twice as wide as the nodes are
        apart.
    n_nodes : int, tuple of int or None, default=None
        Nodes on each latent axis; None takes 30 on one axis and about 100 in all on several.
    regularizer : {"kernel", "length", "sparse"}, default="kernel"
        :math:`Q`.

        - ``"kernel"`` is half of the squared norm in the kernel's space,
          :math:`\frac12\sum_{ij}a_i^\top a_jk(r_i,r_j)`; the plane is free, so that a stiff sheet
          is the principal plane.
        - ``"length"`` is half of the mean of :math:`\|\partial f/\partial x\|_F^2` over the box:
          a short curve, or a small sheet. Nothing but :math:`f_0` is free.
        - ``"sparse"`` is :math:`\sum_j\|a_j\|`, which leaves few nodes with a weight.
    alpha : float or None, default=None
        Stiffness, in units of the data's variance. None chooses the one for which the tube around
        the sheet that holds a fifth of the rows, left out, is thinnest.
    linear : bool, default=True
        Whether the plane :math:`Vx` is part of the sheet. The published one has :math:`f_0` alone.
    solver : {"two-step", "joint"}, default="two-step"
        The published alternation of projections and regularised least squares, or a quasi-Newton
        descent in the places of all rows at once, the weights being the best for these.
    init : {"auto", "pca", "isomap", "laplacian"} or array-like of shape (n_samples, q), \
            default="auto"
        Places of the rows to begin with; "auto" takes principal components or the best embedding of
        a neighbour graph, whichever leads to a thinner tube.
    max_iter : int, default=200
        Maximum number of rounds at the last stiffness.
    tol : float, default=1e-4
        The end is reached where a round lowers the objective by less than this share of the data's
        variance.
    random_state : int, RandomState or None, default=0
        Which rows are left out.
    verbose : int, default=0

    Attributes
    ----------
    nodes_ : ndarray of shape (n_nodes, n_components)
    weights_ : ndarray of shape (n_nodes, n_features)
        :math:`a_j`.
    plane_ : ndarray of shape (1 + n_components, n_features)
        :math:`f_0` and :math:`V`; without ``linear`` the latter is zero.
    kernel_ : Kernel
    embedding_ : ndarray of shape (n_samples, n_components)
        Places of the training rows.
    alpha_ : float
    objective_ : float
        Of the training rows, in units of their variance.
    history_ : list of float
        The objective after each round at the last stiffness; it does not rise.
    trials_ : list of dict
        Start, stiffness, held-out error and tube of what was tried.
    start_ : str
    n_iter_ : int

    Notes
    -----
    The *tube*, :math:`\log V+\frac{d-q}2\log\sigma^2` with the volume V of the sheet and the mean
    squared distance :math:`\sigma^2` of rows left out, is minus the log likelihood of rows spread
    evenly over the sheet with Gaussian noise across it. Their distance alone would choose
    sheets that wriggle through the noise. A round costs O(N M (d + M)) for M nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.datasets import make_half_circle
    >>> from isthmus.manifold import RegularizedPrincipalManifold
    >>> Y, angle = make_half_circle(100, noise=0.5, random_state=0)
    >>> sheet = RegularizedPrincipalManifold(1).fit(Y)
    >>> bool(abs(np.corrcoef(sheet.embedding_[:, 0], angle)[0, 1]) > 0.99)
    True
    >>> bool(np.mean(sheet.reconstruction_error(Y)) < 0.4)
    True
    """

    __module__ = "isthmus.manifold"

    domain = Domain(-1.0, 1.0)

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1),
        "kernel": A_KERNEL | none,
        "n_nodes": integer(2) | several(integer(2)) | none,
        "regularizer": choice(*REGULARIZERS),
        "alpha": real(0, include_low=False) | none,
        "linear": boolean,
        "solver": choice(*STEPS),
        "init": choice("auto", "pca", *SPECTRAL) | numbers(2),
        "max_iter": integer(1),
        "tol": real(0),
        "random_state": seed,
        "verbose": verbosity,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = None,
        n_nodes: Any = None,
        regularizer: str = "kernel",
        alpha: float | None = None,
        linear: bool = True,
        solver: str = "two-step",
        init: Any = "auto",
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Any = 0,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.n_nodes = n_nodes
        self.regularizer = regularizer
        self.alpha = alpha
        self.linear = linear
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the sheet that is nearest to the rows of ``X``; return self."""
        X, mean, spread, Y = own_units(self, X)
        basis = self._basis(Y.shape[1])
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        problem = Problem(Y, basis, self.regularizer)
        starts = self._starts(problem, rng)
        with ProgressLine(type(self).__name__, verbose=self.verbose) as line:
            start, Z, alpha, trials = self._choose(problem, starts, rng, line)
            state = self._learn(problem, Z, alpha, unfolded=start != "pca")
        if not state.settled:
            warn(
                f"RegularizedPrincipalManifold has not settled in max_iter={self.max_iter} rounds. "
                "Raise max_iter or tol.",
                ConvergenceWarning,
            )
        self.kernel_, self.nodes_ = basis.kernel, basis.nodes
        self._keep(mean, spread, state, basis)
        self.embedding_ = state.latent.astype(X.dtype, copy=False)
        self.alpha_, self.start_, self.trials_ = alpha, start, trials
        self.objective_, self.history_ = state.history[-1], state.history
        self.n_iter_ = len(state.history) - 1
        return self

    # What is learned ----------------------------------------------------------------------

    def _basis(self, n_features: int) -> NodeBasis:
        """The nodes, and the kernel at them."""
        q = int(self.n_components)
        if self.n_nodes is not None and np.ndim(self.n_nodes) and len(self.n_nodes) != q:
            text = f"None, an int, or {q} of them, one for each latent axis"
            raise ParameterError(refusal(self, "n_nodes", text, self.n_nodes))
        counts = counts_on_axes(self.n_nodes, q, N_NODES, N_NODES_ON_A_LINE)
        size = np.prod(counts, dtype=float)
        require_memory(
            self,
            8 * size * (4 * size + n_features),
            what=f"{size:.0f} nodes",
            avoid="Their number grows exponentially with n_components: take fewer.",
        )
        nodes = lattice(counts)
        return NodeBasis(self._kernel(counts, nodes), nodes, bool(self.linear))

    def _kernel(self, counts: tuple[int, ...], nodes: Array) -> Kernel:
        if self.kernel is None:
            return Gaussian.from_width(WIDTH * float(spacing(counts).max()))
        kernel = kernel_parameter(self, "kernel")
        if not {"vectors", "gradient"} <= kernel.provides:
            raise TypeError(
                f"RegularizedPrincipalManifold cannot use the kernel {kernel!r:.80}: the sheet "
                "needs a kernel of vectors with a gradient, such as Gaussian or Matern."
            )
        return kernel.resolve(nodes)

    def _starts(self, problem: Problem, rng: np.random.Generator) -> list[tuple[str, Array]]:
        """Names and places in the box from which the sheet may begin."""
        q, n = int(self.n_components), len(problem.rows)
        if not isinstance(self.init, str):
            given = np.asarray(self.init, dtype=np.float64)
            check_length(self, n, len(given), what="places in init as rows")
            if given.shape[1] != q:
                text = f"'auto', 'pca', 'isomap', 'laplacian' or places of {q} columns"
                raise ParameterError(refusal(self, "init", text, self.init))
            return [("given", into_box(given))]
        names = ("pca", *SPECTRAL) if self.init == "auto" else (self.init,)
        found = first_places(problem, q, names, rng)
        if not found:
            raise ValueError(
                f"RegularizedPrincipalManifold found no start by {self.init!r}: the graph of 30 "
                "nearest neighbours is in pieces. Take init='pca'."
            )
        return found

    def _choose(
        self,
        whole: Problem,
        starts: list[tuple[str, Array]],
        rng: np.random.Generator,
        line: ProgressLine,
    ) -> tuple[str, Array, float, list[dict[str, Any]]]:
        """The start and the stiffness, by rows left out where something is to be chosen."""
        Y, (name, Z) = whole.rows, starts[0]
        given = None if self.alpha is None else float(self.alpha)
        if len(Y) < FEWEST_ROWS or (given is not None and len(starts) == 1):
            return name, Z, ALPHA_OF_FEW if given is None else given, []
        order = rng.permutation(len(Y))
        n_held = len(Y) // 5
        held, kept = np.sort(order[:n_held]), np.sort(order[n_held:])
        problem = Problem(Y[kept], whole.basis, self.regularizer)
        trials, ends = [], []
        for name, Z in starts:
            alpha, value, tried = choose_stiffness(
                problem,
                Z[kept],
                STEPS[self.solver],
                Y[held],
                unfolded=name != "pca",
                tell=partial(line.update, start=name),
            )
            trials += [{"start": name, **row} for row in tried]
            ends.append((value, name, Z, alpha))
        _, name, Z, alpha = min(ends, key=lambda end: end[0])
        return name, Z, alpha if given is None else given, trials

    def _learn(self, problem: Problem, Z: Array, alpha: float, *, unfolded: bool) -> State:
        """The sheet at one stiffness, until it has settled."""
        step = STEPS[self.solver]
        state = reach(problem, Z, step, alpha, unfolded=unfolded)
        last = partial(joint_step, max_iter=20) if self.solver == "joint" else step
        state = settle(problem, state, last, alpha, max_iter=self.max_iter, tol=float(self.tol))
        if self.regularizer == "sparse":
            state.weights = problem.without_small(state.latent, state.weights, alpha)
        return state

    def _keep(self, mean: Array, spread: float, state: State, basis: NodeBasis) -> None:
        m, (n, q) = len(basis.nodes), state.latent.shape
        W = spread * state.weights
        self.weights_, self.plane_ = W[:m], np.zeros((1 + q, len(mean)))
        self.plane_[: basis.free] = W[m:]
        self.plane_[0] += mean
        some = np.unique(np.linspace(0, n - 1, min(n, N_STARTS)).astype(int))
        self.places_ = np.vstack([basis.nodes[:N_STARTS], state.latent[some]])
        self.images_ = self.evaluate(self.places_).values

    # The map ------------------------------------------------------------------------------

    def evaluate(self, Z: Array, jacobian: bool = False) -> MapValues:
        """Return the sheet at latent points, with Jacobians if asked for; nothing is checked."""
        basis = NodeBasis(self.kernel_, self.nodes_, linear=True)
        W = np.vstack([self.weights_, self.plane_])
        values, slopes = basis.combine(Z, W, jacobian)
        return MapValues(values, slopes, np.ones(len(Z), dtype=bool))

    def starts(self) -> tuple[Array, Array]:
        """Return nodes and places of training rows, and their images."""
        return self.places_, self.images_
