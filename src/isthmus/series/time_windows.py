"""Time windows: delay embedding as a transformer with an inverse."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, choice, integer, none
from isthmus.series.collection import as_series
from isthmus.typing import Array, IntArray


class TimeWindows(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    r"""Windows of a signal: row t becomes :math:`(x_{t-(w-1)\tau},\dots,x_{t-\tau},x_t)`.

    Rows are successive time steps: do not shuffle them. A window of :math:`2d+1` delayed values
    of one sensor unfolds an attractor of dimension d [Takens1981]_.

    Parameters
    ----------
    length : int, default=10
        Number w of elements in a window.
    stride : int, default=1
        Steps from one window to the next.
    lag : int or "auto", default=1
        Steps :math:`\tau` between the elements of a window. ``"auto"`` takes the first time
        at which the autocorrelation of the first channel vanishes.
    pad : {"edge", None}, default="edge"
        ``"edge"`` begins with the window that ends at the first step, its missing elements
        filled with the first value: with stride 1 there is a row for every step, so a target
        stays aligned. None keeps whole windows alone.

    Attributes
    ----------
    lag_ : int
        The lag in use.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.series import TimeWindows
    >>> signal = np.arange(5.0)[:, None]
    >>> windows = TimeWindows(3, pad=None)
    >>> windows.fit_transform(signal)
    array([[0., 1., 2.],
           [1., 2., 3.],
           [2., 3., 4.]])
    >>> windows.inverse_transform(windows.transform(signal)).ravel()
    array([0., 1., 2., 3., 4.])
    """

    __module__ = "isthmus.series"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "length": integer(1),
        "stride": integer(1),
        "lag": integer(1) | choice("auto"),
        "pad": choice("edge") | none,
    }

    def __init__(self, length: int = 10, *, stride: int = 1, lag: Any = 1, pad: Any = "edge"):
        self.length = length
        self.stride = stride
        self.lag = lag
        self.pad = pad

    @property
    def provides(self) -> frozenset[str]:
        """What the transformer can do, see :mod:`isthmus.typing`."""
        return frozenset({"transform", "inverse", "vectors"})

    def fit(self, X: Any, y: Any = None) -> "TimeWindows":
        """Learn the number of channels, and the lag; return self."""
        length, lag = int(self.length), self.lag
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        self.lag_ = decorrelation_lag(X[:, 0]) if lag == "auto" else int(lag)
        self._n_features_out = length * X.shape[1]
        return self

    def transform(self, X: Any) -> Array:
        """Return the windows, shape (n_windows, length * channels), oldest element first."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        span = (self.length - 1) * self.lag_
        if self.pad is None and len(X) <= span:
            raise ValueError(
                f"TimeWindows expected at least {span + 1} time steps for one window of length "
                f"{self.length} and lag {self.lag_}. Got {len(X)} instead."
            )
        ends = np.arange(0 if self.pad else span, len(X), self.stride)
        return X[self._places(ends)].reshape(len(ends), -1)

    def inverse_transform(self, X: Any) -> Array:
        """Return the signal whose windows these are, shape (n_steps, channels).

        Where windows overlap and disagree, their mean is taken: this is the signal whose windows
        are nearest in least squares.
        """
        check_is_fitted(self)
        W = check_array(X, dtype=[np.float64, np.float32], input_name="X", estimator=self)
        if W.shape[1] != self._n_features_out:
            raise ValueError(
                f"TimeWindows expected windows of {self._n_features_out} numbers. "
                f"Got shape {W.shape} instead."
            )
        span = (self.length - 1) * self.lag_
        n_steps = (len(W) - 1) * self.stride + 1 + (0 if self.pad else span)
        places = self._places(np.arange(0 if self.pad else span, n_steps, self.stride))
        signal = np.zeros((n_steps, self.n_features_in_), dtype=W.dtype)
        count = np.zeros(n_steps, dtype=W.dtype)
        np.add.at(signal, places, W.reshape(*places.shape, -1))
        np.add.at(count, places, 1)
        if not count.all():
            raise ValueError(
                f"TimeWindows cannot invert windows with gaps: step {int(np.argmin(count))} is in "
                f"none of them. Expected a smaller stride. Got {self.stride} instead."
            )
        return signal / count[:, None]

    def _places(self, ends: IntArray) -> IntArray:
        """Time steps in each window; those before the beginning are the first step."""
        back = np.arange((self.length - 1) * self.lag_, -1, -self.lag_)
        return np.maximum(ends[:, None] - back, 0)


def decorrelation_lag(x: Any) -> int:
    """The first lag at which the autocorrelation of a signal is not positive.

    Successive elements of a delay embedding then carry different information. Where it stays
    positive, the lag of the smallest value within half of the signal.

    >>> import numpy as np
    >>> from isthmus.series import decorrelation_lag
    >>> decorrelation_lag(np.cos(2 * np.pi * np.arange(400) / 40))
    10
    """
    signal = as_series(x, owner="decorrelation_lag", name="x")[:, 0]
    signal = signal - signal.mean()
    n = len(signal)
    if n < 4:
        return 1
    size = 2 ** int(np.ceil(np.log2(2 * n)))
    spectrum = np.fft.rfft(signal, size)
    # Means over the pairs there are, so that long lags are not shrunk.
    correlation = np.fft.irfft(np.abs(spectrum) ** 2, size)[: n // 2 + 1]
    correlation = correlation / np.arange(n, n - n // 2 - 1, -1)
    tiny = 1e-12 * max(correlation[0], np.finfo(float).tiny)
    crossing = np.flatnonzero(correlation <= tiny)
    return max(1, int(crossing[0]) if len(crossing) else int(np.argmin(correlation[1:])) + 1)


def functional_distance(x: Any, y: Any, *, order: float = 2.0, period: float = 1.0) -> float:
    r"""Distance of two sampled functions that takes their shape between the samples into account.

    With :math:`v=x-y` it is :math:`(\sum_k(A_k+B_k)^p)^{1/p}`, where :math:`A_k` is the area
    between samples k-1 and k that belongs to k: :math:`\frac h2|v_k|`, or
    :math:`\frac h2v_k^2/(|v_k|+|v_{k-1}|)` where v changes its sign, and :math:`B_k` likewise with
    k+1 [LeeVerleysen2005]_. Without sign changes it is h times the :math:`l_p` distance.

    Parameters
    ----------
    x, y : array-like of shape (length,)
        Of equal length.
    order : float, default=2.0
        p.
    period : float, default=1.0
        h, the time between two samples.

    Examples
    --------
    >>> from isthmus.series import functional_distance
    >>> functional_distance([3.0, 4.0], [0.0, 0.0])
    5.0
    """
    a = as_series(x, owner="functional_distance", name="x")
    b = as_series(y, owner="functional_distance", name="y")
    if a.shape != b.shape or a.shape[1] != 1:
        raise ValueError(
            "functional_distance expected two series of one channel and equal length. "
            f"Got shapes {np.shape(x)} and {np.shape(y)}."
        )
    v = (a - b)[:, 0]
    padded = np.concatenate([[0.0], v, [0.0]])
    areas = np.zeros_like(v)
    for neighbor in (padded[:-2], padded[2:]):
        both = np.maximum(np.abs(v) + np.abs(neighbor), np.finfo(float).tiny)
        areas += np.where(v * neighbor >= 0, np.abs(v), v**2 / both)
    return float(np.linalg.norm(period / 2 * areas, order))
