"""Likelihood acquired directions."""

from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isthmus._parameters import Constraint, integer, real
from isthmus._warnings import warn
from isthmus.features.sufficient.base import Directions
from isthmus.features.sufficient.formulas import (
    ascend,
    leading,
    likelihood,
    mean_scatter,
    variance_scatter,
)
from isthmus.features.sufficient.sliced import SlicedReduction
from isthmus.features.sufficient.slices import cut_inputs, slice_labels, whiten
from isthmus.typing import Array


class LikelihoodAcquiredDirections(SlicedReduction):
    r"""Directions of largest likelihood of normal inputs within slices of the outputs (LAD).

    With whitened inputs and the covariances :math:`V_h` of the slices h, each of which holds a
    share :math:`f_h` of the rows,

    .. math:: \max_{B^\top B=I}\ -\tfrac12\sum_hf_h\log|B^\top V_hB|

    is maximised over the spans of B, starting from the directions of the sliced means and of the
    sliced variances [CookForzani2009]_. It uses both, and is the best of the three if the inputs
    within slices are normal.

    Parameters
    ----------
    n_components : int or None, default=None
        At most the number of columns that vary. None is 2, or fewer where no more are possible.
    n_slices : int, default=10
        Number of slices; equal outputs are never parted, so there may be fewer.
    shrinkage : float in [0, 1] or "auto", default="auto"
        Share of I in the covariances, of all rows and of the slices; "auto" is that of Ledoit and
        Wolf for all rows, and one row's worth for a slice.
    labels : bool or "auto", default="auto"
        Whether outputs are labels, each a slice; "auto" treats strings and booleans as such.
    max_iter : int, default=300
        Maximum number of steps from each start.
    tol : float, default=1e-6
        Smallest gain of a step, as a share of the value, and length of the gradient.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions for centred inputs; coordinates of training rows have unit variance.
    mean_ : ndarray of shape (n_features,)
    strengths_ : ndarray of shape (n_components,)
        The criterion at each direction alone, descending.
    objective_ : float
        The maximum.
    classes_ : ndarray or None
        The labels, where outputs are labels.
    n_iter_ : int
        Steps from the start that won.

    See Also
    --------
    SlicedInverseRegression, SlicedAverageVariance : the starts.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import LikelihoodAcquiredDirections
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 6))
    >>> y = X[:, 0] ** 2 + X[:, 1] + 0.1 * rng.normal(size=1000)
    >>> B = LikelihoodAcquiredDirections(2).fit(X, y).components_
    >>> bool(np.linalg.norm(B[:, 2:]) < 0.2 * np.linalg.norm(B))
    True
    """

    __module__ = "isthmus.features"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "max_iter": integer(1),
        "tol": real(0),
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_slices: int = 10,
        shrinkage: Any = "auto",
        labels: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-6,
    ):
        self.n_components = n_components
        self.n_slices = n_slices
        self.shrinkage = shrinkage
        self.labels = labels
        self.max_iter = max_iter
        self.tol = tol

    def _directions(self, X: Array, Y: Array) -> Directions:
        d = self._check_n_components(X.shape[1], "columns of X that vary")
        T, root = whiten(X, self.shrinkage)
        slices = cut_inputs(T, slice_labels(Y, self.n_slices), self.shrinkage)
        criterion = likelihood(slices)
        starts = [leading(M(slices), d)[0] for M in (mean_scatter, variance_scatter)]
        ends = [ascend(criterion, B, max_iter=self.max_iter, tol=self.tol) for B in starts]
        best = max(ends, key=lambda end: end.value)
        if not best.converged:
            warn(
                f"{type(self).__name__} did not reach tol={self.tol:g} in {best.n_iter} steps: "
                "raise max_iter or tol.",
                ConvergenceWarning,
            )
        self.objective_, self.n_iter_ = best.value, best.n_iter
        # Within the span any basis is as good: that in which variances differ most, one by one.
        inner = leading(best.B.T @ variance_scatter(slices) @ best.B, d)[0]
        B = best.B @ inner
        single = np.array([criterion(B[:, [j]])[0] for j in range(d)])
        order = np.argsort(-single, kind="stable")
        return Directions(root @ B[:, order], single[order])
