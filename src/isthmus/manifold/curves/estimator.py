"""Principal curves, whichever way they are found."""

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import check_length
from isthmus._parameters import (
    Constraint,
    boolean,
    choice,
    integer,
    none,
    numbers,
    real,
    seed,
)
from isthmus._warnings import warn
from isthmus.linalg.threads import threads_for
from isthmus.manifold.curves.exact import ExactProjection
from isthmus.manifold.curves.generative import (
    GenerativeCurve,
    generative_curve,
    joint_log_density,
    smoothest_density,
)
from isthmus.manifold.curves.polygonal import STIFFNESS, polygonal_line
from isthmus.manifold.curves.polyline import Polyline, feet
from isthmus.manifold.curves.segments import segments_line
from isthmus.manifold.curves.self_consistent import self_consistent_curve, smoothest_tube
from isthmus.manifold.curves.starts import STARTS, first_places, line_through
from isthmus.manifold.units import own_units
from isthmus.typing import Array

METHODS = ("spline", "polygonal", "segments", "generative")
# Of a line that begins with a start that has bends of its own.
FIRST_SEGMENTS = 8
SHARPNESS = 0.3


class _Fitted(NamedTuple):
    """A line in units of the data's spread, and what goes with it."""

    line: Polyline
    alpha: float
    n_iter: int
    settled: bool = True
    density: GenerativeCurve | None = None


def _has_density(model: Any) -> bool:
    if model.method != "generative":
        raise AttributeError("Only PrincipalCurve(method='generative') has a density of rows.")
    return True


class PrincipalCurve(ExactProjection):
    r"""One line through the middle of the data, by arc length.

    A principal curve is what a principal axis becomes when it may bend: every point of it is the
    mean of the rows for which it is the nearest. Latent coordinates are arc lengths from its
    beginning, so distances along the curve can be read off them, and projections are exact:
    on each segment the nearest point has a closed form.

    Parameters
    ----------
    method : {"spline", "polygonal", "segments", "generative"}, default="spline"
        How it is found.

        - ``"spline"`` alternates projection and a smoothing spline of the rows on their places,
          :math:`\min_f\frac1n\sum_i\|y_i-f(x_i)\|^2+\alpha\int_0^1\|f''\|^2` [HastieStuetzle1989]_.
        - ``"polygonal"`` moves the corners of a line with few segments to the least squared
          distance of the rows, with a penalty on sharp angles, and adds corners [Kegl2000]_.
        - ``"segments"`` fits separate pieces of local principal axes, and joins them to a line
          that is short and has no sharp turns [Verbeek2002]_. It needs no start.
        - ``"generative"`` is a mixture of Gaussians along a smooth curve [Tibshirani1992]_; it has
          a density, :meth:`score_samples`, and no pull towards the inside of bends.
    closed : bool, default=False
        Whether the curve returns to its beginning. The domain is then a circle.
    n_segments : int, optional
        Number of segments of ``"polygonal"`` and ``"segments"``. None chooses.
    alpha : float, optional
        Stiffness. The penalty above for ``"spline"`` and ``"generative"``, in units of the data's
        variance, where None chooses; the weight of angles for ``"polygonal"`` (None takes the
        published 0.13) and of turns against lengths for ``"segments"`` (None takes 0.3).
    init : {"auto", "pca", "isomap", "laplacian"} or array-like of shape (n_samples,), \
            default="auto"
        The places from which all but ``"segments"`` begin. ``"auto"`` tries the three, those of
        neighbour graphs with several neighbourhoods, and takes the one from which a smoothing
        spline predicts left-out rows best; ``"pca"`` is the published start.
    max_iter : int, default=50
        Maximum number of iterations for each number of segments or stiffness.
    tol : float, default=1e-3
        The end is reached where the mean squared distance changes by less than this share, or the
        log likelihood per row by less than this.
    random_state : int, RandomState instance or None, default=None
        For starts of large data.

    Attributes
    ----------
    vertices_ : ndarray of shape (n_corners, n_features)
        Corners of the curve; of a closed one the first is repeated at the end.
    arc_lengths_ : ndarray of shape (n_corners,)
        Their arc lengths; the last is the length of the curve.
    embedding_ : ndarray of shape (n_samples, 1)
        Arc lengths of the training rows.
    alpha_ : float
        Stiffness used.
    n_segments_ : int
        Number of segments of the line, joints between local axes among them; smooth curves are
        drawn with 256.
    start_ : str
        Name of the start.
    n_iter_ : int
        Iterations of the curve that was taken.
    centres_, probabilities_, noise_variance_ : ndarray
        Of the mixture, for ``"generative"``.

    Notes
    -----
    Stiffness and number of segments are those for which the *tube* around the curve is thinnest:
    :math:`\log\ell+\frac{d-1}2\log\sigma^2` with the length :math:`\ell` and the mean squared
    distance :math:`\sigma^2` of rows left out, which leverages give in closed form. It is
    the likelihood of rows spread evenly along the curve with Gaussian noise across it. The distance
    of rows left out alone would always choose a curve that wriggles through the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.datasets import make_half_circle
    >>> from isthmus.manifold import PrincipalCurve
    >>> Y, angle = make_half_circle(100, noise=0.5, random_state=0)
    >>> curve = PrincipalCurve().fit(Y)
    >>> bool(abs(curve.arc_lengths_[-1] - 10 * np.pi) < 1.5)
    True
    >>> bool(abs(np.corrcoef(curve.transform(Y)[:, 0], angle)[0, 1]) > 0.99)
    True
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "method": choice(*METHODS),
        "closed": boolean,
        "n_segments": integer(1) | none,
        "alpha": real(0) | none,
        "init": choice("auto", *STARTS) | numbers(1, 2),
        "max_iter": integer(1),
        "tol": real(0),
        "random_state": seed,
    }

    def __init__(
        self,
        method: str = "spline",
        *,
        closed: bool = False,
        n_segments: int | None = None,
        alpha: float | None = None,
        init: Any = "auto",
        max_iter: int = 50,
        tol: float = 1e-3,
        random_state: Any = None,
    ):
        self.method = method
        self.closed = closed
        self.n_segments = n_segments
        self.alpha = alpha
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the curve through the rows of ``X``; return self."""
        X, centre, spread, Y = own_units(self, X)
        if self.closed and self.method == "polygonal" and (self.n_segments or 3) < 3:
            raise ValueError(
                "A closed PrincipalCurve has at least 3 segments. Got n_segments="
                f"{self.n_segments} instead."
            )
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        # Spectra of a few pieces and products with all rows take turns.
        with threads_for(len(Y) * 50.0**2):  # that many pieces, or fewer
            start, x = self._start(Y, rng)
            found = self._curve(Y, x, start, rng)
        if found.line.lengths[-1] <= 0.0:
            raise ValueError(
                "PrincipalCurve has shrunk to a point: its stiffness leaves no length. Expected a "
                f"smaller alpha than {self.alpha!r}, or None."
            )
        if not found.settled:
            warn(
                f"PrincipalCurve has not settled in {self.max_iter} iterations: raise max_iter or "
                "tol.",
                ConvergenceWarning,
            )
        self.vertices_ = centre + spread * found.line.corners
        self.arc_lengths_ = spread * found.line.lengths
        self.embedding_ = (spread * feet(found.line, Y).x)[:, None].astype(X.dtype, copy=False)
        self.alpha_, self.n_iter_ = float(found.alpha), int(found.n_iter)
        self.n_segments_ = len(self.vertices_) - 1
        self.start_ = start
        if found.density is not None:
            model = found.density.density
            self.centres_ = centre + spread * model.centres()
            self.probabilities_ = model.probabilities
            self.noise_variance_ = spread**2 * model.variances
        return self

    def _start(self, Y: Array, rng: np.random.Generator) -> tuple[str, Array]:
        """Name and places in [0, 1] from which the curve begins."""
        if self.method == "segments":
            return "none", np.zeros(len(Y))
        if not isinstance(self.init, str):
            given = np.asarray(self.init, dtype=np.float64)
            places = given.reshape(len(given), -1)[:, 0]
            check_length(self, len(Y), len(places), what="places in init as rows")
            span = float(np.ptp(places))
            return "given", (places - places.min()) / span if span > 0 else 0.5 + 0 * places
        names = STARTS if self.init == "auto" else (self.init,)
        return first_places(Y, names, rng, closed=bool(self.closed))

    def _curve(self, Y: Array, x: Array, start: str, rng: np.random.Generator) -> _Fitted:
        """The curve of the method in units of the spread."""
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol}
        closed = bool(self.closed)
        if self.method == "spline":
            if self.alpha is None:
                curve = smoothest_tube(Y, x, closed=closed, **limits)
            else:
                curve = self_consistent_curve(Y, x, closed=closed, alpha=self.alpha, **limits)
            return _Fitted(curve.line, curve.alpha, curve.n_iter, curve.settled)
        if self.method == "generative":
            if self.alpha is None:
                model = smoothest_density(Y, x, closed=closed, **limits)
            else:
                model = generative_curve(
                    Y, x, closed=closed, alpha=self.alpha, freedom=10.0, **limits
                )
            return _Fitted(model.line, model.alpha, model.n_iter, model.settled, model)
        if self.method == "segments":
            sharpness = SHARPNESS if self.alpha is None else self.alpha
            line, _ = segments_line(
                Y,
                rng,
                n_segments=self.n_segments,
                sharpness=sharpness,
                closed=closed,
                max_iter=self.max_iter,
            )
            return _Fitted(line, sharpness, 1)
        alpha = STIFFNESS if self.alpha is None else self.alpha
        first = 1 if start == "pca" and not closed else FIRST_SEGMENTS
        first = max(first if self.n_segments is None else min(first, self.n_segments), 1)
        corners = line_through(x, Y, max(3, first) if closed else first + 1, closed=closed)
        line, _ = polygonal_line(
            Y, corners, n_segments=self.n_segments, alpha=alpha, closed=closed, **limits
        )
        return _Fitted(line, alpha, 1)

    @available_if(_has_density)
    def score_samples(self, X: Any) -> Array:
        r"""Return the log density :math:`\log\sum_j\pi_jN(y;f(a_j),\Sigma)` of each row, (n,)."""
        check_is_fitted(self)
        X, dtype = self._rows(X)
        joint = joint_log_density(self.centres_, self.probabilities_, self.noise_variance_, X)
        return np.asarray(logsumexp(joint, axis=1)).astype(dtype, copy=False)
