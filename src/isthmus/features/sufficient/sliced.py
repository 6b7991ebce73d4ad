"""Sliced inverse regression and sliced average variances."""

from typing import Any, ClassVar

from isthmus._parameters import Constraint, choice, integer, real
from isthmus.features.sufficient.base import Directions, SufficientReduction
from isthmus.features.sufficient.formulas import leading, mean_scatter, variance_scatter
from isthmus.features.sufficient.slices import cut_inputs, slice_labels, whiten
from isthmus.typing import Array


class SlicedReduction(SufficientReduction):
    """A reduction that sees the outputs as slices."""

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_slices": integer(2),
        "shrinkage": real(0, 1) | choice("auto"),
    }

    n_slices: int
    shrinkage: Any


class SlicedInverseRegression(SlicedReduction):
    r"""Directions in which the means of the inputs differ most between slices of the outputs (SIR).

    The outputs are cut into slices h of about equal size. With inputs whitened to
    :math:`t=\Sigma^{-1/2}(x-\bar x)` and the means :math:`m_h` of the slices, each of which holds a
    share :math:`f_h` of the rows, the directions are :math:`\Sigma^{-1/2}v` for the leading
    eigenvectors v of :math:`\sum_hf_hm_hm_h^\top` [Li1991]_. Where the outputs depend on the inputs
    through a few projections, and the inputs are normal, the directions lie in their span.

    Parameters
    ----------
    n_components : int or None, default=None
        At most the number of columns that vary, and fewer than slices or labels. None is 2, or
        fewer where no more are possible.
    n_slices : int, default=10
        Number of slices; more are made where ``n_components`` needs them. Equal outputs are never
        parted, so there may be fewer.
    shrinkage : float in [0, 1] or "auto", default="auto"
        Share of a multiple of I in the covariance of the inputs; "auto" is that of Ledoit and
        Wolf.
    labels : bool or "auto", default="auto"
        Whether outputs are labels, each a slice; "auto" treats strings and booleans as such.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions for centred inputs; coordinates of training rows have unit variance.
    mean_ : ndarray of shape (n_features,)
    strengths_ : ndarray of shape (n_components,)
        The eigenvalues: the share of the variance of each coordinate that lies between slices.
    classes_ : ndarray or None
        The labels, where outputs are labels.

    See Also
    --------
    SlicedAverageVariance : also sees ties that are even, such as a square.
    DistanceCorrelationReduction : coordinates that depend on both sides most.

    Notes
    -----
    A direction along which the outputs are an even function has the same mean in all slices and is
    not found.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import SlicedInverseRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 6))
    >>> y = np.exp(X[:, 0]) + 0.1 * rng.normal(size=500)
    >>> b = SlicedInverseRegression(1).fit(X, y).components_[0]
    >>> bool(abs(b[0]) > 0.95 * np.linalg.norm(b))
    True
    """

    __module__ = "isthmus.features"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_slices: int = 10,
        shrinkage: Any = "auto",
        labels: Any = "auto",
    ):
        self.n_components = n_components
        self.n_slices = n_slices
        self.shrinkage = shrinkage
        self.labels = labels

    def _directions(self, X: Array, Y: Array) -> Directions:
        wanted = max(self.n_slices, (self.n_components or 1) + 1)
        cut = slice_labels(Y, wanted)
        largest = min(X.shape[1], int(cut.max()))
        d = self._check_n_components(largest, "columns of X that vary, slices of y less one")
        T, root = whiten(X, self.shrinkage)
        V, values = leading(mean_scatter(cut_inputs(T, cut, 1.0)), d)
        return Directions(root @ V, values)


class SlicedAverageVariance(SlicedReduction):
    r"""Directions whose variance differs between slices of the outputs (SAVE).

    With inputs whitened to :math:`t=\Sigma^{-1/2}(x-\bar x)` and the covariances :math:`V_h` of the
    slices h of the outputs, each of which holds a share :math:`f_h` of the rows, the directions are
    :math:`\Sigma^{-1/2}v` for the leading eigenvectors v of :math:`\sum_hf_h(I-V_h)^2`
    [CookWeisberg1991]_. It also finds even dependence (such as a square), which does not change the
    means of slices; for monotone dependence it needs more rows than
    :class:`SlicedInverseRegression`.

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

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions for centred inputs; coordinates of training rows have unit variance.
    mean_ : ndarray of shape (n_features,)
    strengths_ : ndarray of shape (n_components,)
        The eigenvalues.
    classes_ : ndarray or None
        The labels, where outputs are labels.

    See Also
    --------
    SlicedInverseRegression : by the means of slices.
    LikelihoodAcquiredDirections : both at once, by likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import SlicedAverageVariance
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 6))
    >>> y = X[:, 0] ** 2 + 0.1 * rng.normal(size=1000)
    >>> b = SlicedAverageVariance(1).fit(X, y).components_[0]
    >>> bool(abs(b[0]) > 0.95 * np.linalg.norm(b))
    True
    """

    __module__ = "isthmus.features"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_slices: int = 10,
        shrinkage: Any = "auto",
        labels: Any = "auto",
    ):
        self.n_components = n_components
        self.n_slices = n_slices
        self.shrinkage = shrinkage
        self.labels = labels

    def _directions(self, X: Array, Y: Array) -> Directions:
        d = self._check_n_components(X.shape[1], "columns of X that vary")
        T, root = whiten(X, self.shrinkage)
        slices = cut_inputs(T, slice_labels(Y, self.n_slices), self.shrinkage)
        V, values = leading(variance_scatter(slices), d)
        return Directions(root @ V, values)
