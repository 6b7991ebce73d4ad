"""Sparse coding by probabilistic modelling: dictionaries under smooth sparse priors."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg

from isthmus._parameters import Constraint, choice, real
from isthmus.optimize.batched_lbfgs import minimize_rows
from isthmus.sparse.dictionary.lagrange_dual import CodeMoments
from isthmus.sparse.dictionary.moments import DictionaryState, MomentDictionary
from isthmus.sparse.l1.feature_sign import sign_search
from isthmus.sparse.pursuit.matching import unit_rows
from isthmus.typing import Array, IntArray


class SparsePrior(NamedTuple):
    """Penalty S of a coefficient, its derivative, and the largest second derivative."""

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    curvature: float


PRIORS = {
    "log": SparsePrior(lambda u: np.log1p(u * u), lambda u: 2 * u / (1 + u * u), 2.0),
    "exp": SparsePrior(lambda u: -np.expm1(-u * u), lambda u: 2 * u * np.exp(-u * u), 2.0),
    "abs": SparsePrior(np.abs, np.sign, 0.0),
}


class SparseNet(MomentDictionary):
    r"""Sparse coding of Olshausen and Field: atoms under which signals have sparse codes.

    A signal is a sum of atoms and Gaussian noise, coefficients are independent with a density
    :math:`\propto e^{-\beta S(a/s)}` that is peaked at zero. Dictionary and codes of largest joint
    likelihood minimise

    .. math:: \sum_i\tfrac12\|x_i-a_iD\|^2+\alpha\sum_{ij}S(a_{ij}/s)
              \quad\text{subject to}\quad\|d_j\|\le1 .

    On whitened patches of natural images the atoms become localised, oriented and band-pass, like
    receptive fields of the visual cortex [Olshausen1996]_.

    Parameters
    ----------
    n_atoms : int or None, default=None
        Size of the dictionary; None takes twice the number of features, or that of ``init``.
    prior : {"log", "exp", "abs"}, default="log"
        :math:`S(u)=\log(1+u^2)`, :math:`1-e^{-u^2}` or :math:`|u|`; the last is the problem of
        :class:`SparseDictionary`.
    alpha : float, default=1.0
        Penalty, in units of the variance :math:`s^2` of the entries of the signals, so that nothing
        depends on their unit; ``alpha_`` is in theirs. The smooth priors are quadratic near zero:
        with the 0.22 of [Olshausen1996]_ few coefficients leave that range, and planted atoms
        are found less reliably, above all under ``"exp"``, which is flat beyond it: a large
        coefficient costs no more than one that is larger still.
    solver : {"moments", "published"}, default="moments"
        Codes by L-BFGS and atoms from sums over all signals so far, in closed form, or, as
        published, codes by following :math:`\dot a=-\partial E/\partial a` with Euler steps and
        atoms by steps of gradient descent, scaled to length one.
    learning_rate : float, default=1.0
        Of the published solver, in units of one over the mean squared coefficient. It falls as
        :math:`100/(100+t)`, down to a tenth, with the number t of blocks.
    max_iter : int, default=10
        Maximum number of passes over the mini-batches, or of sweeps.
    tol : float, default=1e-4
        Stop where a sweep over all signals lowers the objective by less than this share of it.
    batch_size : int or None, default=200
        None sweeps over all signals at once.
    forgetting_power : float, default=100.0
        What was seen when the stream had n of its N signals counts :math:`(n/N)^p`
        with this power p, as in :class:`SparseDictionary`.
    init : array of shape (n_atoms, n_features) or None, default=None
        Atoms to start from; None draws signals.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    components_ : ndarray of shape (n_atoms, n_features)
    alpha_, scale_ : float
        :math:`\alpha` and :math:`s`.
    objective_ : ndarray
        Mean objective of a signal: of each block before anything was learned from it, or after
        each sweep.
    multipliers_, moments_, n_iter_, n_seen_
        As in :class:`SparseDictionary`.

    Notes
    -----
    The published cost has :math:`\|x-aD\|^2` and :math:`\lambda=2\alpha`; its published rule for
    the codes belongs to the halved cost. [Olshausen1996]_ sets :math:`\lambda/\sigma=0.14` for
    images of variance 0.1, which is ``alpha=0.22``. Smooth priors are not convex: a code is a
    local minimum, found from :math:`a=xD^\top`.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import SparseNet
    >>> rng = np.random.default_rng(0)
    >>> planted = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    >>> X = rng.laplace(size=(2000, 4)) ** 3 @ planted
    >>> net = SparseNet(4, random_state=0).fit(X)
    >>> match = np.abs(net.components_ @ planted.T).max(axis=0)
    >>> bool(match.min() > 0.95)
    True
    """

    __module__ = "isthmus.sparse"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "prior": choice(*PRIORS),
        "alpha": real(0, include_low=False),
        "solver": choice("moments", "published"),
        "learning_rate": real(0, include_low=False),
    }

    def __init__(
        self,
        n_atoms: int | None = None,
        *,
        prior: str = "log",
        alpha: float = 1.0,
        solver: str = "moments",
        learning_rate: float = 1.0,
        max_iter: int = 10,
        tol: float = 1e-4,
        batch_size: int | None = 200,
        forgetting_power: float = 100.0,
        init: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_atoms = n_atoms
        self.prior = prior
        self.alpha = alpha
        self.solver = solver
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.forgetting_power = forgetting_power
        self.init = init
        self.random_state = random_state
        self.verbose = verbose

    def _set_scale(self, X: Array) -> None:
        self.scale_ = float(X.std()) or 1.0
        self.alpha_ = float(self.alpha) * self.scale_**2

    def _codes(self, X: Array, D: Array, start: Array | None, *, rough: bool) -> Array:
        # In units of the scale, so that the solvers' first steps do not depend on it.
        X = X / self.scale_
        start = None if start is None else start / self.scale_
        weight, prior = float(self.alpha), PRIORS[self.prior]
        if self.solver == "published":
            codes = flow_codes(X, D, weight, prior, start=start)
        elif self.prior == "abs":
            codes = np.zeros((len(X), len(D))) if start is None else start
            sign_search(X, D, weight, codes)
        else:
            codes = smooth_codes(X, D, weight, prior, start=start, tol=1e-2 if rough else 1e-8)
        return codes * self.scale_

    def _penalties(self, codes: Array) -> Array:
        return np.asarray(self.alpha_ * PRIORS[self.prior].value(codes / self.scale_).sum(axis=1))

    def _atom_step(
        self, state: DictionaryState, block: CodeMoments, *, rough: bool
    ) -> DictionaryState:
        if self.solver == "moments":
            return super()._atom_step(state, block, rough=rough)
        t = (state.seen - block.count) / block.count
        rate = float(self.learning_rate) * max(0.1, 100 / (100 + t))
        # ΔD ∝ Σ a (x - aD), from the sums of the block
        gradient = block.cross - block.gram @ state.D
        size = np.trace(block.gram) / len(block.gram)
        D = unit_rows(state.D + rate * gradient / max(size, 1e-300))[0]
        return state._replace(D=D)


def code_energy(
    X: Array, D: Array, weight: float, prior: SparsePrior
) -> Callable[[Array, IntArray], tuple[Array, Array]]:
    r"""Energy :math:`\frac12\|x-aD\|^2+\text{weight}\sum_jS(a_j)` and its gradient, by rows."""
    G, B = D @ D.T, X @ D.T
    squares = 0.5 * np.einsum("ij,ij->i", X, X)

    def energy(A: Array, rows: IntArray) -> tuple[Array, Array]:
        fitted, b = A @ G, B[rows]
        value = squares[rows] + np.einsum("ij,ij->i", A, 0.5 * fitted - b)
        value += weight * prior.value(A).sum(axis=1)
        return value, fitted - b + weight * prior.slope(A)

    return energy


def smooth_codes(
    X: Array,
    D: Array,
    weight: float,
    prior: SparsePrior,
    *,
    start: Array | None = None,
    tol: float = 1e-8,
) -> Array:
    """Codes at a minimum of the energy of a smooth prior, by L-BFGS over all signals at once."""
    A = X @ D.T if start is None else start
    # A tiny scale: a signal's code must not depend on its company in the batch.
    return minimize_rows(code_energy(X, D, weight, prior), A, tol=tol, max_iter=500, scale=1e-300).x


def flow_codes(
    X: Array,
    D: Array,
    weight: float,
    prior: SparsePrior,
    *,
    start: Array | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
) -> Array:
    """Codes at equilibrium of the published differential equation, by Euler steps.

    The step is half of the largest stable one. A signal is at rest when its gradient has fallen
    to ``tol`` of that at zero. A prior with a kink at zero has no equilibrium there, so it is
    followed for a tenth of the steps.
    """
    energy = code_energy(X, D, weight, prior)
    A = X @ D.T if start is None else start.copy()
    rest = tol * np.abs(X @ D.T).max(axis=1, initial=0.0)
    largest = float(linalg.eigvalsh(D @ D.T, subset_by_index=[len(D) - 1, len(D) - 1])[0])
    step = 1.0 / max(largest + weight * prior.curvature, 1e-300)
    rows = np.arange(len(X))
    for _ in range(max_iter if prior.curvature else max_iter // 10):
        gradient = energy(A[rows], rows)[1]
        moving = np.abs(gradient).max(axis=1, initial=0.0) > rest[rows]
        rows = rows[moving]
        if not len(rows):
            break
        A[rows] -= step * gradient[moving]
    return A
