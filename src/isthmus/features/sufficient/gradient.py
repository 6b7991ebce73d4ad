"""Gradient-based kernel dimension reduction."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist, pdist
from sklearn.utils import check_random_state

from isthmus._memory import require_memory
from isthmus._parameters import Constraint, choice, integer, real, seed
from isthmus.blocks.sampling import sample_rows
from isthmus.features.sufficient.base import Directions, SufficientReduction
from isthmus.features.sufficient.formulas import leading
from isthmus.typing import Array

WIDTHS = (0.5, 1.0, 2.0, 4.0)  # of the median distance
PENALTIES = tuple(10.0 ** np.arange(-6, 0))
N_OUTPUT_FEATURES = 30  # eigenvectors of the output kernel that count


class Choice(NamedTuple):
    """A width and a penalty, and the error of left-out rows that chose them."""

    width: float
    alpha: float
    error: float


class GradientKernelReduction(SufficientReduction):
    r"""Directions along which a kernel regression of the outputs moves (gKDR).

    With a Gaussian kernel on either side, the regression of the features of the output on the
    input has at x the slopes :math:`\partial k(x,x_j)/\partial x` in its weights, and

    .. math:: M=\frac1n\sum_iD_i^\top(G_X+n\alpha I)^{-1}G_Y(G_X+n\alpha I)^{-1}D_i,\qquad
              (D_i)_{j\cdot}=\nabla_xk(x_j,x)\big|_{x=x_i}

    is the mean of their outer products; its leading eigenvectors are the directions
    [Fukumizu2014]_. Neither slices nor normal inputs are assumed, and there is no iteration.

    Parameters
    ----------
    n_components : int or None, default=None
        At most the number of columns that vary. None is 2, or fewer where no more are possible.
    width : float or "loo", default="loo"
        Width :math:`\sigma` of the kernel :math:`e^{-\|x-z\|^2/2\sigma^2}` on standardized inputs,
        as a multiple of their median distance, up to 1e4; "loo" takes that with the least
        leave-one-out error of the regression.
    alpha : float or "loo", default="loo"
        The penalty :math:`\alpha`, chosen likewise.
    n_landmarks : int, default=1000
        Maximum number of rows, drawn at random, that are used: time grows with their cube.
    labels : bool or "auto", default="auto"
        Whether outputs are labels rather than numbers; "auto" treats strings and booleans as such.
    random_state : int, RandomState or None, default=None
        Draws the rows.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions for centred inputs; coordinates of training rows have unit variance.
    mean_ : ndarray of shape (n_features,)
    strengths_ : ndarray of shape (n_components,)
        The eigenvalues, as shares of the trace of M.
    width_, alpha_ : float
        What was chosen; the width as a multiple of the median distance.
    classes_ : ndarray or None
        The labels, where outputs are labels.

    See Also
    --------
    SlicedInverseRegression, SlicedAverageVariance : by moments of slices; cheaper.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import GradientKernelReduction
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(300, 6))
    >>> y = np.cos(3 * X[:, 0]) + 0.1 * rng.normal(size=300)
    >>> b = GradientKernelReduction(1).fit(X, y).components_[0]
    >>> bool(abs(b[0]) > 0.95 * np.linalg.norm(b))
    True
    """

    __module__ = "isthmus.features"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "width": real(0, 1e4, include_low=False) | choice("loo"),
        "alpha": real(0, include_low=False) | choice("loo"),
        "n_landmarks": integer(3),
        "random_state": seed,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        width: Any = "loo",
        alpha: Any = "loo",
        n_landmarks: int = 1000,
        labels: Any = "auto",
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.width = width
        self.alpha = alpha
        self.n_landmarks = n_landmarks
        self.labels = labels
        self.random_state = random_state

    def _directions(self, X: Array, Y: Array) -> Directions:
        d = self._check_n_components(X.shape[1], "columns of X that vary")
        rows = sample_rows(len(X), self.n_landmarks, check_random_state(self.random_state))
        n = len(rows)
        require_memory(
            self,
            5 * 8.0 * n * n,
            what=f"Gram matrices of {n} rows",
            avoid="Set fewer n_landmarks.",
        )
        X, root = X[rows], output_features(Y[rows])
        squares = cdist(X, X, "sqeuclidean")
        unit = median_distance(X)
        widths = WIDTHS if self.width == "loo" else (float(self.width),)
        penalties = PENALTIES if self.alpha == "loo" else (float(self.alpha),)
        chosen = choose(squares, root, unit, widths, penalties)
        self.width_, self.alpha_ = chosen.width, chosen.alpha
        M = slope_scatter(X, squares, root, chosen.width * unit, chosen.alpha)
        V, values = leading(M, d)
        return Directions(V, values / max(float(np.trace(M)), np.finfo(float).tiny))


def median_distance(X: Array) -> float:
    """The median distance of distinct rows; 1 where all are equal."""
    distances = pdist(X)
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0


def output_features(Y: Array) -> Array:
    r"""Columns R with :math:`RR^\top` the centred Gaussian kernel of the outputs, or nearly so."""
    G = np.exp(-cdist(Y, Y, "sqeuclidean") / (2 * median_distance(Y) ** 2))
    centre = G.mean(axis=0)
    G = G - centre - centre[:, None] + centre.mean()
    U, values = leading(G, min(N_OUTPUT_FEATURES, len(Y)))
    return U * np.sqrt(np.maximum(values, 0))


def choose(
    squares: Array,
    targets: Array,
    unit: float,
    widths: tuple[float, ...],
    penalties: tuple[float, ...],
) -> Choice:
    """The width and the penalty of least leave-one-out error of the regression onto targets.

    With :math:`G=U\\Lambda U^\\top` and hat matrix H, the left-out residual of a row is its
    residual over :math:`1-H_{ii}`: one decomposition serves all penalties.
    """
    if len(widths) == len(penalties) == 1:
        return Choice(widths[0], penalties[0], np.nan)
    n, best = len(squares), Choice(widths[0], penalties[0], np.inf)
    for width in widths:
        values, U = np.linalg.eigh(np.exp(-squares / (2 * (width * unit) ** 2)))
        rotated, weights = U.T @ targets, U**2
        for alpha in penalties:
            kept = values / (values + n * alpha)
            left = targets - U @ (kept[:, None] * rotated)
            error = float(np.mean((left / np.maximum(1 - weights @ kept, 1e-12)[:, None]) ** 2))
            if error < best.error:
                best = Choice(width, alpha, error)
    return best


def slope_scatter(X: Array, squares: Array, targets: Array, width: float, alpha: float) -> Array:
    """M for inputs, their squared distances and the features of the outputs.

    The slopes of one feature at all rows are a product of matrices; nothing of the size n²p is
    made.
    """
    n = len(X)
    G = np.exp(-squares / (2 * width**2))
    R = np.linalg.solve(G + n * alpha * np.eye(n), targets)
    M = np.zeros((X.shape[1], X.shape[1]))
    for r in R.T:
        weighted = G * r
        slopes = (weighted @ X - X * weighted.sum(axis=1)[:, None]) / width**2
        M += slopes.T @ slopes
    return M / n
