"""From data to a fitted process: levels of the search, then the factors at its end."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from isthmus.blocks.sampling import sample_rows
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import check_sample, symmetric
from isthmus.kernels.objects import take
from isthmus.linalg.threads import threads_for
from isthmus.regression.gaussian_process.formulas import (
    CRITERIA,
    Noise,
    best_variances,
    factor_part,
    likelihood_value,
    refuse_indefinite,
)
from isthmus.regression.gaussian_process.inducing import (
    Inducers,
    InducingSums,
    ProcessRows,
    RowsInMemory,
    add_sums,
    block_sums,
    candidate_rows,
    inducing_factor,
    inducing_fit,
    inducing_score,
    inducing_value,
    spread_pivots,
)
from isthmus.regression.gaussian_process.posterior import Posterior
from isthmus.regression.gaussian_process.search import (
    GROWTH,
    ROWS_FACTOR,
    Criterion,
    Evaluation,
    ProcessParameters,
    SearchCoordinates,
    SearchResult,
    refine,
    search,
)
from isthmus.typing import Array, IntArray, Objects

# Fewer rows than this tell too little about the parameters.
FEWEST_ROWS = 250
# TrainingRows of the exact search before one through inducing objects.
MOST_COARSE_ROWS = 1000
# Rows of the search through inducing objects that comes before the one on all rows.
MIDDLE_ROWS = 2000
# Rows from which kernel values of vectors are computed again, block by block, for the gradient: a
# second matrix would weigh more than they do.
ROWS_IN_BLOCKS, BLOCK_ROWS = 2000, 128


class ProcessFit(NamedTuple):
    """A process with its parameters and what it has seen."""

    kernel: Kernel
    alpha: float
    variances: Array
    members: list[Posterior]
    targets: list[Array]  # of the members, centred
    sums: InducingSums | None
    value: float
    n_evaluations: int
    converged: bool
    noises: Sequence[Noise] = (1.0,)  # of the members, as multiples of the common one


class TrainingRows(NamedTuple):
    """Some rows: their objects, outputs, and the Gram matrix where it is always the same."""

    objects: Objects
    reference: Objects
    Y: Array
    gram: Array | None
    noise: Noise = 1.0  # variance of the noise of each row, as a multiple of the common one

    def in_blocks(self, kernel: Kernel) -> bool:
        """Whether no Gram matrix is kept beside the one that is factored."""
        return self.gram is None and bool(kernel.vectors) and len(self.Y) >= ROWS_IN_BLOCKS

    def covariance(self, kernel: Kernel) -> Array:
        """Gram matrix that the caller may overwrite."""
        if not self.in_blocks(kernel):
            return np.array(self.given(kernel))
        A = np.empty((len(self.Y), len(self.Y)))
        for rows, K in kernel.blocks(self.objects, self.reference, block_size=BLOCK_ROWS):
            A[rows] = K
        return A

    def slope(self, kernel: Kernel, W: Array, K: Array | None) -> Array:
        """Derivatives by the parameters of the kernel; ``W`` is symmetric, by the Gram matrix."""
        X = self.objects
        if K is not None:
            return kernel.parameter_gradient(X, X, W, K)
        W = W if W.flags.c_contiguous else W.T
        total = np.zeros(len(kernel.log_parameters()))
        for rows, values in kernel.blocks(X, X, block_size=BLOCK_ROWS):
            total += kernel.parameter_gradient(take(X, rows), X, W[rows], values)
        return total

    def given(self, kernel: Kernel) -> Array:
        """Gram matrix, to read: a kernel of Gram matrices, or a function, may hand out its own."""
        if self.gram is not None:
            return self.gram
        return np.asarray(kernel.gram(self.objects, self.reference), dtype=np.float64)


def rows_at(
    kernel: Kernel,
    X: Objects,
    Y: Array,
    at: IntArray | None,
    gram: Array | None,
    noise: Noise = 1.0,
) -> TrainingRows:
    """The rows numbered ``at``; all of them without a copy where it is None."""
    if at is None:
        return TrainingRows(X, kernel.reference(X) if kernel.pairwise else X, Y, gram, noise)
    some = take(X, at)
    reference = kernel.reference(X, at) if kernel.pairwise else some
    part = None if gram is None else gram[np.ix_(at, at)]
    return TrainingRows(
        some, reference, Y[at], part, noise[at] if isinstance(noise, np.ndarray) else noise
    )


def exact_criterion(name: str, members: Sequence[TrainingRows]) -> Criterion:
    """The criterion of rows, or of independent parts of them."""
    function = CRITERIA[name]
    targets = [rows.Y for rows in members]

    def criterion(found: ProcessParameters) -> Evaluation:
        # The covariance belongs to the section too: threads that it leaves spinning would take
        # the processor from the factorisation.
        with threads_for(len(members[0].Y) ** 3 / 3):
            return _evaluation(function, members, targets, found)

    return criterion


def _evaluation(
    function: Callable[..., Any],
    members: Sequence[TrainingRows],
    targets: Sequence[Array],
    found: ProcessParameters,
) -> Evaluation:
    """The criterion at some parameters, with its slopes."""
    learning = members[0].gram is None and len(found.kernel.log_parameters()) > 0
    kept: list[Array | None] = [None] * len(members)
    if members[0].in_blocks(found.kernel):
        grams = [rows.covariance(found.kernel) for rows in members]
    else:
        given = [rows.given(found.kernel) for rows in members]
        grams = [np.array(K) for K in given]
        kept = [*given] if learning else kept
        del given
    alphas = [found.alpha * rows.noise for rows in members]
    by_kernel = np.zeros(len(found.kernel.log_parameters()))
    score = function(grams, targets, alphas, found.variances)
    if learning:
        for rows, W, K in zip(members, score.weights, kept, strict=True):
            by_kernel += rows.slope(found.kernel, W, K)
    return Evaluation(score.value, by_kernel, score.by_noise, score.by_amplitude)


def level_sizes(n: int, largest: int) -> list[int]:
    """Numbers of rows from the coarsest level on, each a quarter of the next.

    >>> level_sizes(4000, 4000)
    [250, 1000, 4000]
    """
    sizes = [min(n, largest)]
    while sizes[0] // ROWS_FACTOR >= FEWEST_ROWS:
        sizes.insert(0, sizes[0] // ROWS_FACTOR)
    return sizes


def fit_process(
    model: Any,
    kernel: Kernel,
    X: Objects,
    Y: Array,
    *,
    approximation: Any,
    rng: np.random.Generator,
    report: Callable[[float], None],
    noise: Noise = 1.0,
) -> ProcessFit:
    """Search for the parameters of ``model`` and condition on the rows; ``Y`` is centred."""
    if not kernel.pairwise:
        check_sample(kernel, X, model)
    at = search_coordinates(model, kernel, np.mean(Y**2, axis=0))
    starts, settings = search_settings(model, rng, report)
    n, order = len(Y), rng.permutation(len(Y))

    def some(size: int, gram: Array | None = None) -> TrainingRows:
        at = None if size == n else np.sort(order[:size])
        return rows_at(kernel, X, Y, at, gram, noise)

    if approximation.low_rank:
        coarse = [some(size) for size in level_sizes(n, MOST_COARSE_ROWS)]

        def candidates(rows: IntArray) -> TrainingRows:
            return rows_at(kernel, X, Y, rows, None)

        return fit_through_inducing(
            RowsInMemory(X, Y), coarse, candidates, at, approximation, rng, starts, settings
        )

    gram = None
    if not at.n_kernel and not approximation.in_parts:
        gram = rows_at(kernel, X, Y, None, None).covariance(kernel)
        gram = symmetric(gram, model)
        refuse_indefinite(gram)
    n_members = min(approximation.n_members, n) if approximation.in_parts else 1
    members = [some(n, gram)]
    if n_members > 1:
        parts = np.array_split(order, n_members)
        members = [rows_at(kernel, X, Y, np.sort(part), None, noise) for part in parts]
    sizes = level_sizes(n, n)[:-1] if model.coarse else []
    levels = [exact_criterion(model.criterion, [some(size, gram)]) for size in sizes]
    levels.append(exact_criterion(model.criterion, members))
    # One section for the whole search: threads that are given back after every evaluation of
    # milliseconds are woken each time, and spin until the next.
    with threads_for(len(members[0].Y) ** 3 / 3):
        return _exact_fit(members, at, search(levels, at, **starts))


def search_coordinates(model: Any, kernel: Kernel, output_variances: Array) -> SearchCoordinates:
    """What of the parameters of ``model`` is searched for."""
    return SearchCoordinates(
        kernel,
        learn_kernel=bool(model.learn_kernel),
        noise=None if model.noise is None else float(model.noise),
        amplitude=None if model.amplitude is None else float(model.amplitude),
        output_variances=output_variances,
        bounds=model.bounds,
    )


def search_settings(
    model: Any, rng: np.random.Generator, report: Callable[[float], None]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings of a search from several starts, and of one that goes on from its end."""
    settings = {"max_iter": model.max_iter, "tol": float(model.tol), "report": report}
    starts = {"n_init": model.n_init, "rng": rng, "n_jobs": model.n_jobs, **settings}
    return starts, settings


def fit_through_inducing(
    data: ProcessRows,
    levels: Sequence[TrainingRows],
    candidates: Callable[[IntArray], TrainingRows],
    at: SearchCoordinates,
    approximation: Any,
    rng: np.random.Generator,
    starts: dict[str, Any],
    settings: dict[str, Any],
) -> ProcessFit:
    """Search on some rows, then on sums over all; ``candidates`` gives rows of some numbers."""
    n, bound, most = data.n_rows, bool(approximation.bound), approximation.n_search
    n_middle = MIDDLE_ROWS if most is None else min(most, n)
    # A level through the inducing objects is better than an exact one and costs less.
    levels = levels[:1] if n > n_middle else levels
    criteria = [exact_criterion("likelihood", [rows]) for rows in levels]
    found, coarse, growth = search(criteria, at, **starts), criteria[-1], GROWTH
    chosen = candidate_rows(n, approximation.n_inducing, rng)
    Z = inducing_objects(at.found(found.theta).kernel, candidates(chosen), approximation.n_inducing)
    if n > n_middle:
        some = candidates(sample_rows(n, n_middle, rng))
        middle = _bound_of(RowsInMemory(some.objects, some.Y), Z, bound)
        found, coarse = refine(coarse, middle, at, found, **settings), middle
        growth = GROWTH ** (np.log(n / n_middle) / np.log(ROWS_FACTOR))
    if most is None or n <= n_middle:
        fine = _bound_of(data, Z, bound)
        found = refine(coarse, fine, at, found, growth=growth, **settings)
    return _inducing_fit(data, Z, at, found, bound=bound)


def _bound_of(data: ProcessRows, Z: Objects, bound: bool) -> Criterion:
    return lambda found: inducing_score(found, data, Z, bound=bound)


def inducing_objects(kernel: Kernel, candidates: TrainingRows, n_inducing: int) -> Objects:
    """Objects among the candidates where the function varies most, given a kernel."""
    picked = np.sort(spread_pivots(candidates.covariance(kernel), n_inducing))
    return take(candidates.reference, picked)


def _exact_fit(
    members: Sequence[TrainingRows], at: SearchCoordinates, found: SearchResult
) -> ProcessFit:
    best = at.found(found.theta)
    targets = [rows.Y for rows in members]
    parts = [
        factor_part(rows.covariance(best.kernel), best.alpha * rows.noise, rows.Y)
        for rows in members
    ]
    variances = best_variances(parts, targets) if best.variances is None else best.variances
    return ProcessFit(
        best.kernel,
        best.alpha,
        variances,
        [Posterior(rows.reference, p.dual, p.L) for rows, p in zip(members, parts, strict=True)],
        targets,
        None,
        likelihood_value(parts, targets, variances),
        found.n_evaluations,
        found.converged,
        [rows.noise for rows in members],
    )


def _inducing_fit(
    data: ProcessRows,
    Z: Objects,
    at: SearchCoordinates,
    found: SearchResult,
    *,
    bound: bool,
) -> ProcessFit:
    best = at.found(found.theta)
    L = inducing_factor(best.kernel, Z)
    sums: InducingSums = data.fold(block_sums, add_sums, Inducers(best.kernel, Z, L))
    fit = inducing_fit(sums, best.alpha)
    variances = fit.fits / data.n_rows if best.variances is None else best.variances
    dual = linalg.solve_triangular(L, fit.u, lower=True, trans=1, check_finite=False)
    return ProcessFit(
        best.kernel,
        best.alpha,
        variances,
        [Posterior(Z, dual, L, fit.L_B)],
        [],
        sums,
        inducing_value(sums, fit, best.alpha, variances, bound),
        found.n_evaluations,
        found.converged,
    )
