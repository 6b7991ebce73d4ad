"""Maximum variance unfolding as an estimator."""

from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from isthmus._parameters import Constraint, boolean, choice, real
from isthmus._warnings import warn
from isthmus.linalg.signs import fix_signs
from isthmus.manifold.embedding.base import BaseEmbedding
from isthmus.manifold.embedding.graph import (
    neighbor_pairs,
    path_lengths,
    principal_places,
)
from isthmus.manifold.embedding.unfolding import (
    INTERIOR_PAIRS,
    INTERIOR_ROWS,
    Unfolded,
    exact_unfolding,
    incidence,
    unfold_variance,
    with_common_neighbors,
)
from isthmus.typing import Array, IntArray

# Columns of the factor beyond those that are asked for: room to turn while unfolding.
ROOM = 6
# A bound farther than this share above the variance found is worth a word.
LOOSE = 0.02


class MaximumVarianceUnfolding(BaseEmbedding):
    r"""An embedding spread as far apart as the distances of neighbours allow.

    Data on a curled sheet are pulled flat: of all places that keep the distances of neighbouring
    rows, it finds those with the largest variance [Weinberger2006]_,

    .. math:: \max_X\sum_i\|x_i-\bar x\|^2\quad\text{s.t. }\|x_i-x_j\|\le\|y_i-y_j\|\
              \text{for neighbours},

    and the leading principal components of the solution are the places. This is a semidefinite
    program in :math:`K=XX^\top`. Up to 1000 rows and 3000 pairs of neighbours, which 500 landmarks
    with up to 8 neighbours have, an interior point solves it exactly [Helmberg1996]_. Beyond that
    it is solved over factors of few columns, whose cost grows with the number of pairs. Either way
    the dual bound tells how far the result can be from the optimum (``bound_`` against
    ``variance_``): where the two meet, it is the exact solution. The bound is never more than what
    paths along the data allow.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the places.
    constraint : {"at_most", "equal"}, default="at_most"
        Whether distances of neighbours may shrink. With noise, pairs that must keep their
        distances exactly hold a sheet stiff: less of it unfolds, and beyond the size of the
        interior point the bound may stay that of paths along the data.
    angles : bool, default=False
        Keep also the distances of rows that share a neighbour, and so the angles between
        neighbours, as published.
    init : {"auto", "pca", "isomap"} or array-like of shape (n_samples, n_components), \
            default="auto"
        Start of the factors; ``"auto"`` is ``"pca"``: the rows themselves, which meet all
        constraints. The program has one value of the optimum whatever the start, and an interior
        point needs none.
    n_neighbors : int, optional
        Neighbours in the graph; None takes as few as connect the rows, 4 to 10.
    n_landmarks : int or None, default=500
        At most this many rows are unfolded, chosen far from each other; the others are
        projected on the map of these. None unfolds all.
    max_iter : int, default=4000
        Maximum number of steps in all; an interior point takes 10 to 25.
    tol : float, default=1e-4
        Largest violation of a constraint, as a share of the mean squared distance. The bound is
        within this share by an interior point, and must be within ten times this share otherwise.
    random_state : int, RandomState instance or None, default=None
        For the choice of landmarks, and a trace of noise in the start of the factors.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Places of the training rows; equal rows have one place.
    variance_, bound_ : float
        Sum of squares of all columns of the solution, and the least upper bound known, in units
        of the data's variance per row.
    violation_ : float
        Largest violation of a constraint, as a share of the mean squared distance.
    eigenvalues_ : ndarray
        Of the solution :math:`K`, the largest first: how many columns matter.
    places_, rows_ : ndarray
        Places and rows of the landmarks, of which the map back is made.
    n_iter_ : int
        Steps in all.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.manifold import MaximumVarianceUnfolding
    >>> t = np.linspace(0, 3 * np.pi / 2, 40)
    >>> arc = np.column_stack([np.cos(t), np.sin(t)])
    >>> model = MaximumVarianceUnfolding(1, n_neighbors=1).fit(arc)
    >>> print(f"{model.variance_:.4f} of at most {model.bound_:.4f}")
    2.1015 of at most 2.1015
    >>> steps = np.abs(np.diff(model.embedding_[:, 0]))  # straightened: all steps are chords
    >>> bool(np.allclose(steps, np.linalg.norm(np.diff(arc, axis=0), axis=1), rtol=1e-2))
    True
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "constraint": choice("at_most", "equal"),
        "angles": boolean,
        "tol": real(0),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        constraint: str = "at_most",
        angles: bool = False,
        init: Any = "auto",
        n_neighbors: int | None = None,
        n_landmarks: int | None = 500,
        max_iter: int = 4000,
        tol: float = 1e-4,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.constraint = constraint
        self.angles = angles
        self.init = init
        self.n_neighbors = n_neighbors
        self.n_landmarks = n_landmarks
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _embed(self, Y: Array, given: Array | None, rng: np.random.RandomState) -> Array:
        n, q = len(Y), self.n_components
        pairs = neighbor_pairs(Y, self.n_neighbors)
        if self.angles:
            pairs = with_common_neighbors(pairs, n)
        squares = np.sum((Y[pairs[:, 0]] - Y[pairs[:, 1]]) ** 2, axis=1)
        found = self._exact(pairs, squares, n) or self._by_factors(Y, given, pairs, squares, rng)
        # Rows are no farther apart than the path between them.
        farthest = float(np.sum(path_lengths(Y, pairs) ** 2)) / (2 * n)
        U, s, _ = linalg.svd(found.factor, full_matrices=False)
        self.variance_ = found.variance / n
        self.bound_ = min(found.bound, farthest) / n
        self.violation_, self.n_iter_ = found.violation, found.n_iter
        self.eigenvalues_ = s**2
        self._tell(found.violation)
        Z = fix_signs(U) * s
        return np.pad(Z, ((0, 0), (0, max(0, q - Z.shape[1]))))[:, :q]

    def _exact(self, pairs: IntArray, squares: Array, n: int) -> Unfolded | None:
        """The solution by an interior point; None where it is too large, or not found."""
        if n > INTERIOR_ROWS or len(pairs) > INTERIOR_PAIRS:
            return None
        found = exact_unfolding(
            incidence(pairs, n),
            squares,
            at_most=self.constraint == "at_most",
            max_iter=self.max_iter,
            tol=self.tol,
        )
        apart = abs(found.bound - found.variance) > LOOSE * found.variance
        return None if apart or found.violation > 100 * self.tol else found

    def _by_factors(
        self, Y: Array, given: Array | None, pairs: IntArray, squares: Array, rng: Any
    ) -> Unfolded:
        n, q = len(Y), self.n_components
        r = max(q, min(n, q + ROOM))
        if given is None:
            given = self._start(Y, "isomap") if self.init == "isomap" else principal_places(Y, r)
        start = np.zeros((n, r))
        start[:, : given.shape[1]] = given
        start += 1e-2 * rng.normal(size=start.shape)
        return unfold_variance(
            start,
            pairs,
            squares,
            at_most=self.constraint == "at_most",
            max_iter=self.max_iter,
            tol=self.tol,
        )

    def _tell(self, violation: float) -> None:
        if violation > 100 * self.tol or self.bound_ > (1 + LOOSE) * self.variance_:
            warn(
                f"MaximumVarianceUnfolding has not settled in {self.n_iter_} steps: distances are "
                f"off by up to {violation:.2g} of their mean square, and the variance could be "
                f"{self.bound_ / self.variance_:.3g} times as large. Raise max_iter, or lower "
                "n_landmarks.",
                ConvergenceWarning,
            )
