"""How a Gaussian process finds its parameters: many cheap starts, then few expensive steps."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import linalg

from isthmus.kernels.base import Kernel
from isthmus.optimize.boxes import minimize_in_box
from isthmus.regression.gaussian_process.bounds import ParameterBounds
from isthmus.typing import Array

# What is searched, as factors of the start for the kernel, and of the signal for the noise.
KERNEL_FACTOR = 1e6
NOISE_RANGE = (1e-8, 1e5)
START_NOISE = 1e-2
# Random starts: width up to this factor off, noise within this range.
RESTART_FACTOR = 20.0
RESTART_NOISE = (1e-4, 1.0)
# A level has four times the rows of the one before; measured, its curvature is about twice.
ROWS_FACTOR, GROWTH = 4, 2.0


class ProcessParameters(NamedTuple):
    """Parameters of a process: kernel, noise and amplitudes in units of the outputs."""

    kernel: Kernel
    alpha: float  # noise variance over signal variance
    variances: Array | None  # signal variances; None for the best in closed form


class Evaluation(NamedTuple):
    """A criterion at some parameters, to be made large."""

    value: float
    by_kernel: Array
    by_noise: float
    by_amplitude: float


Criterion = Callable[[ProcessParameters], Evaluation]


class SearchCoordinates:
    r"""The parameters that are free, as one vector of logarithms with bounds.

    Where noise and amplitude are both free, the vector has their ratio :math:`\alpha`, and the
    amplitudes are those of largest likelihood; otherwise it has the variances that are free.
    """

    def __init__(
        self,
        kernel: Kernel,
        *,
        learn_kernel: bool,
        noise: float | None,
        amplitude: float | None,
        output_variances: Array,
        bounds: ParameterBounds | None = None,
    ):
        self.kernel, self.noise, self.amplitude = kernel, noise, amplitude
        self.n_outputs = len(output_variances)
        theta = kernel.log_parameters() if learn_kernel else np.empty(0)
        self.n_kernel = len(theta)
        limits = ParameterBounds() if bounds is None else bounds
        bounded = limits.noise is not None or limits.amplitude is not None
        self.closed_form = amplitude is None and not noise and not bounded
        spread = max(float(np.mean(output_variances)), np.finfo(np.float64).tiny)
        self.start = list(theta)
        self.bounds = limits.of_kernel(self.n_kernel) or [
            (t - np.log(KERNEL_FACTOR), t + np.log(KERNEL_FACTOR)) for t in theta
        ]
        if self.closed_form:
            if noise is None:
                self._add(START_NOISE, NOISE_RANGE)
            return
        if amplitude is None:
            self._add(spread, (1e-6 * spread, 1e6 * spread), limits.of_variance(limits.amplitude))
        if noise is None:
            signal = spread if amplitude is None else amplitude**2
            ends = tuple(r * signal for r in NOISE_RANGE)
            self._add(START_NOISE * signal, ends, limits.of_variance(limits.noise))

    def _add(
        self, start: float, ends: Sequence[float], given: tuple[float, float] | None = None
    ) -> None:
        self.start.append(float(np.log(start)))
        self.bounds.append(given or (float(np.log(ends[0])), float(np.log(ends[1]))))

    def found(self, theta: Array) -> ProcessParameters:
        """The parameters at a vector."""
        k = self.n_kernel
        kernel = self.kernel.with_log_parameters(theta[:k]) if k else self.kernel
        rest = list(np.exp(theta[k:]))
        if self.closed_form:
            return ProcessParameters(kernel, float(rest[0]) if rest else 0.0, None)
        signal = self.amplitude**2 if self.amplitude is not None else rest.pop(0)
        noise = self.noise**2 if self.noise is not None else rest.pop(0)
        return ProcessParameters(
            kernel, float(noise / signal), np.full(self.n_outputs, float(signal))
        )

    def gradient(self, e: Evaluation) -> Array:
        """The derivative of a criterion by the vector."""
        rest = []
        if self.closed_form:
            rest = [e.by_noise] if self.noise is None else []
        else:
            if self.amplitude is None:
                rest.append(e.by_amplitude - e.by_noise)
            if self.noise is None:
                rest.append(e.by_noise)
        return np.concatenate([e.by_kernel[: self.n_kernel], rest])

    def random_start(self, rng: np.random.Generator) -> Array:
        """Another place to begin: other widths, another noise."""
        start = np.array(self.start)
        k = self.n_kernel
        start[:k] += rng.uniform(-1, 1, size=k) * np.log(RESTART_FACTOR)
        if self.noise is None:
            low, high = np.log(RESTART_NOISE)
            start[-1] += rng.uniform(low, high) - np.log(START_NOISE)
        return start


class SearchResult(NamedTuple):
    """Where a search ended."""

    theta: Array
    value: float
    n_evaluations: int
    converged: bool


def _negative(
    criterion: Criterion, at: SearchCoordinates
) -> Callable[[Array], tuple[float, Array]]:
    worst = 1e25  # finite, or the line search would stop instead of stepping back

    def function(theta: Array) -> tuple[float, Array]:
        try:
            e = criterion(at.found(theta))
        except linalg.LinAlgError:
            return worst, np.zeros(len(theta))
        if not np.isfinite(e.value):
            return worst, np.zeros(len(theta))
        return -e.value, -at.gradient(e)

    return function


def search(
    levels: Sequence[Criterion],
    at: SearchCoordinates,
    *,
    n_init: int,
    rng: np.random.Generator,
    n_jobs: int | None,
    max_iter: int,
    tol: float,
    report: Callable[[float], None],
) -> SearchResult:
    """The vector of largest criterion, from the coarsest level to the last.

    The first level, on few rows, is searched by L-BFGS-B from several starts; at each finer one a
    Newton-like descent goes on from there, with the curvature of the level before.
    """
    if not at.start:
        return SearchResult(np.empty(0), np.nan, 0, True)
    starts = [np.array(at.start)] + [at.random_start(rng) for _ in range(n_init - 1)]
    if n_init > 1 and effective_n_jobs(n_jobs) > 1:
        ends = Parallel(n_jobs=n_jobs)(
            delayed(_descent)(levels[0], at, s, max_iter) for s in starts
        )
    else:
        ends = []
        for start in starts:
            ends.append(_descent(levels[0], at, start, max_iter))
            report(max(end.value for end in ends))
    best = max(ends, key=lambda end: end.value)
    for coarse, fine in pairwise(levels):
        best = refine(coarse, fine, at, best, max_iter=max_iter, tol=tol, report=report)
    return best


def refine(
    coarse: Criterion,
    fine: Criterion,
    at: SearchCoordinates,
    found: SearchResult,
    *,
    max_iter: int,
    tol: float,
    report: Callable[[float], None],
    growth: float = GROWTH,
) -> SearchResult:
    """Go on at a finer level from where the coarse one ended, with ``growth`` of its curvature."""
    if not at.start:
        return found
    H = growth * _curvature(_negative(coarse, at), found.theta, at.bounds)
    return _newton(_negative(fine, at), found.theta, H, at.bounds, max_iter, tol, report)


def _descent(
    criterion: Criterion, at: SearchCoordinates, start: Array, max_iter: int
) -> SearchResult:
    end = minimize_in_box(_negative(criterion, at), start, at.bounds, max_iter=max_iter)
    return SearchResult(end.x, -float(end.fun), int(end.nfev), bool(end.status != 1))


def _curvature(
    function: Callable[[Array], tuple[float, Array]], theta: Array, bounds: Sequence[Any]
) -> Array:
    """Hessian at ``theta`` by differences of gradients, made positive definite."""
    p, step = len(theta), 1e-3
    g = function(theta)[1]
    H = np.empty((p, p))
    for i in range(p):
        moved = theta.copy()
        moved[i] += -step if theta[i] + step > bounds[i][1] else step
        H[i] = (function(moved)[1] - g) / (moved[i] - theta[i])
    eigenvalues, U = linalg.eigh((H + H.T) / 2)
    # A direction that hardly matters moves by no more than a few units.
    return (U * np.maximum(np.abs(eigenvalues), 0.1)) @ U.T


def _newton(
    function: Callable[[Array], tuple[float, Array]],
    theta: Array,
    H: Array,
    bounds: Sequence[Any],
    max_iter: int,
    tol: float,
    report: Callable[[float], None],
) -> SearchResult:
    """Quasi-Newton descent within bounds from a good Hessian.

    It stops where, by its own estimate, no more than ``tol`` is to be gained.
    """
    low, high = np.array(bounds).T
    f, g = function(theta)
    n_evaluations = 1
    while n_evaluations < max_iter:
        free = ~(((theta <= low) & (g > 0)) | ((theta >= high) & (g < 0)))
        d = np.zeros_like(theta)
        d[free] = -linalg.solve(H[np.ix_(free, free)], g[free], assume_a="pos")
        if -0.5 * (g @ d) < tol:
            return SearchResult(theta, -f, n_evaluations, True)
        d *= min(1.0, 2.0 / float(np.abs(d).max()))  # in logarithms: a factor of seven
        step_length = 1.0
        while True:
            new = np.clip(theta + step_length * d, low, high)
            f_new, g_new = function(new)
            n_evaluations += 1
            if f_new <= f + 1e-4 * (g @ (new - theta)):
                break
            if n_evaluations >= max_iter or step_length < 1e-3:
                return SearchResult(theta, -f, n_evaluations, step_length < 1e-3)
            step_length *= 0.3
        s, y = new - theta, g_new - g
        if s @ y > 1e-12 * float(np.linalg.norm(s) * np.linalg.norm(y)):
            Hs = H @ s
            H = H - np.outer(Hs, Hs) / (s @ Hs) + np.outer(y, y) / (s @ y)
        theta, f, g = new, f_new, g_new
        report(-f)
    return SearchResult(theta, -f, n_evaluations, False)
