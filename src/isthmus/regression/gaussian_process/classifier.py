"""Classes of any objects with honest probabilities, from Gaussian processes."""

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import linalg
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import LARGEST, check_length, check_scale, check_seed
from isthmus._estimator import Estimator
from isthmus._memory import require_memory
from isthmus._parameters import Constraint, boolean, integer, jobs, none, real, seed, verbosity
from isthmus._progress import ProgressLine
from isthmus._warnings import warn
from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import check_sample
from isthmus.kernels.landmarks import is_single
from isthmus.kernels.objects import check_objects, n_objects, take
from isthmus.kernels.resolve import as_kernel, kernel_parameter
from isthmus.regression.capabilities import named_or
from isthmus.regression.gaussian_process.laplace import (
    LaplaceCriterion,
    average_logistic,
    find_mode,
)
from isthmus.regression.gaussian_process.search import SearchCoordinates, search
from isthmus.regression.gaussian_process.training import level_sizes, rows_at
from isthmus.typing import Array, IntArray, Objects

# Variance of a latent function, of no unit, at which a random start may begin.
LARGEST_START = 1e4


class LatentProcess(NamedTuple):
    """One latent function: its kernel, variance and mode, over the training objects."""

    kernel: Kernel
    variance: float
    objects: Objects
    dual: Array
    root: Array
    L: Array
    value: float
    n_evaluations: int
    converged: bool

    def moments(self, X: Objects) -> tuple[Array, Array]:
        """Mean and variance of the latent function at objects."""
        mean, variance = np.empty(n_objects(X)), np.empty(n_objects(X))
        for rows in block_slices(n_objects(X), len(self.dual)):
            some = take(X, rows)
            K = self.variance * self.kernel.gram(some, self.objects)
            mean[rows] = K @ self.dual
            V = linalg.solve_triangular(
                self.L, (K * self.root).T, lower=True, overwrite_b=True, check_finite=False
            )
            prior = self.variance * self.kernel.diag(some)
            variance[rows] = np.maximum(prior - np.einsum("ij,ij->j", V, V), 0.0)
        return mean, variance


class LatentCoordinates(SearchCoordinates):
    """Parameters of a latent function; random starts differ in its scale too."""

    def random_start(self, rng: np.random.Generator) -> Array:
        start = super().random_start(rng)
        if self.amplitude is None:
            start[-1] += rng.uniform(0.0, np.log(LARGEST_START))
        return start


class GaussianProcessClassifier(ClassifierMixin, Estimator):
    r"""Gaussian process classification on any objects, its kernel learned from the data.

    A latent function :math:`f` with the covariance :math:`s^2k(x,z)` gives the probability
    :math:`\sigma(f(x))` of a class. The posterior of :math:`f` is approximated by a Gaussian about
    its mode (Laplace), and the parameters of the kernel and :math:`s` are those of largest
    approximate likelihood [Rasmussen2006]_. The probability of a new object is the mean of
    :math:`\sigma(f)` over the posterior of :math:`f`: far from the data it returns to a half.

    With several classes, each is separated from the rest by a function with a kernel of its own,
    and the probabilities are divided by their sum.

    Parameters
    ----------
    kernel : kernel or name, default="gaussian"
        The search starts from its parameters. ``"ard"`` has one length scale per column. ``X`` is
        anything the kernel can compare.
    amplitude : float or None, default=None
        :math:`s`, the standard deviation of the latent function. None learns it.
    learn_kernel : bool, default=True
        False keeps the kernel as it is (``"median"`` widths are filled in). Kernels without
        derivatives by their parameters (of strings, graphs, functions) are never learned.
    n_init : int, default=4
        Number of starts of the search, all but the first random.
    coarse : bool, default=True
        Search on part of the rows first (a quarter, a sixteenth, …, at least 250); the search on
        all rows then takes few steps. False runs every start on all rows.
    max_iter : int, default=100
        Maximum number of iterations of a search.
    tol : float, default=1e-3
        The search ends when less than this is to be gained in log-likelihood.
    n_jobs : int or None, default=None
        Number of processes among which the classes are shared.
    random_state : int, RandomState instance or None, default=None
        Seed of starts and parts of rows.
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, in the type they came in.
    kernel_ : kernel, or list of kernels for more than two classes
        With the parameters found.
    amplitude_ : float or ndarray of shape (n_classes,)
    log_marginal_likelihood_ : float
        Of the marks of one class, the mean over the classes if there are more than two.
    objects_ : the training objects
    n_iter_ : int
        Number of evaluations of the likelihood on all rows, or from one start without ``coarse``.

    See Also
    --------
    GaussianProcess : the same for numbers.
    isthmus.structured.DependencyClassifier : no likelihood, but any loss, and many more rows.
    sklearn.gaussian_process.GaussianProcessClassifier : vectors only.

    Notes
    -----
    O(n³) time for each step of the search and some five n × n matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import GaussianProcessClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    >>> model = GaussianProcessClassifier(random_state=0).fit(X, y)
    >>> model.predict([[1.0, 1.0], [1.0, -1.0]]).tolist()
    ['same', 'other']
    >>> bool(abs(model.predict_proba([[1e3, 1e3]])[0, 0] - 0.5) < 0.1)  # far from all rows
    True

    Words are compared by a kernel of strings:

    >>> from isthmus.kernels import Normalized, Spectrum
    >>> words = ["aab", "aaa", "bbb", "abb", "aba", "bab"]
    >>> letters = GaussianProcessClassifier(Normalized(Spectrum(1))).fit(words, list("aabbab"))
    >>> letters.predict(["aaaa", "bbbb"]).tolist()
    ['a', 'b']
    """

    __module__ = "isthmus.regression"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "kernel": named_or(as_kernel, "a kernel, its name or a callable"),
        "amplitude": real(0, LARGEST, include_low=False) | none,
        "learn_kernel": boolean,
        "n_init": integer(1),
        "coarse": boolean,
        "max_iter": integer(1),
        "tol": real(0),
        "n_jobs": jobs,
        "random_state": seed,
        "verbose": verbosity,
    }

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        amplitude: float | None = None,
        learn_kernel: bool = True,
        n_init: int = 4,
        coarse: bool = True,
        max_iter: int = 100,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.amplitude = amplitude
        self.learn_kernel = learn_kernel
        self.n_init = n_init
        self.coarse = coarse
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = as_kernel(self.kernel).pairwise
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from objects ``X`` and their labels ``y``; return self."""
        kernel = kernel_parameter(self, "kernel")
        X = self._check_inputs(X, kernel, reset=True)
        classes, marks = self._marks(y, n_objects(X))
        if kernel.vectors:
            check_scale(self, X)
        n = n_objects(X)
        require_memory(
            self,
            40.0 * n**2,
            what=f"five matrices of {n} objects",
            avoid="Use DependencyClassifier, which has landmarks, or fewer rows.",
        )
        check_sample(kernel.resolve(X), X, self)
        random = check_seed(self.random_state, "random_state", self)
        tasks = [(t, int(random.randint(2**31 - 1))) for t in marks.T]
        with ProgressLine(type(self).__name__, verbose=self.verbose) as line:
            if effective_n_jobs(self.n_jobs) == 1 or len(tasks) == 1:
                found = []
                for t, s in tasks:
                    found.append(self._learn(kernel.resolve(X), X, t, s, line))
            else:
                found = Parallel(n_jobs=self.n_jobs)(
                    delayed(self._learn)(kernel.resolve(X), X, t, s) for t, s in tasks
                )
        if not all(process.converged for process in found):
            warn(
                f"The search of {type(self).__name__} for parameters ended after max_iter = "
                f"{self.max_iter} iterations. Raise max_iter, or give the kernel and the "
                "amplitude.",
                ConvergenceWarning,
            )
        self.classes_, self._processes = classes, found
        self.objects_ = found[0].objects
        amplitudes = np.sqrt([process.variance for process in found])
        single = len(found) == 1
        self.kernel_ = found[0].kernel if single else [process.kernel for process in found]
        self.amplitude_ = float(amplitudes[0]) if single else amplitudes
        self.n_iter_ = max(process.n_evaluations for process in found)
        self.log_marginal_likelihood_ = float(np.mean([process.value for process in found]))
        return self

    def _marks(self, y: Any, n: int) -> tuple[Array, Array]:
        """Classes, and one column of zeros and ones for each of them, or one for two classes."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        check_length(self, n, len(y), what="labels as objects")
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes in y. Got 1 class, "
                f"{classes.tolist()[0]!r}."
            )
        marks = np.eye(len(classes))[codes]
        return classes, marks[:, 1:] if len(classes) == 2 else marks

    def _learn(
        self, kernel: Kernel, X: Objects, marks: Array, random: int, line: Any = None
    ) -> LatentProcess:
        rng = np.random.default_rng(random)
        learning = self.learn_kernel and len(kernel.log_parameters()) > 0
        gram = None
        if not learning:
            gram = np.array(kernel.gram(X, kernel.reference(X)), dtype=np.float64)
        sizes = level_sizes(len(marks), len(marks)) if self.coarse else [len(marks)]
        order = _mixed(marks, rng)
        levels = [
            LaplaceCriterion(
                rows_at(kernel, X, marks[:, None], None if m == len(marks) else order[:m], gram)
            )
            for m in sizes
        ]
        # The scale of a latent function has no unit: one, and a deviation of one.
        at = LatentCoordinates(
            kernel,
            learn_kernel=learning,
            noise=1.0,
            amplitude=self.amplitude,
            output_variances=np.ones(1),
        )
        result = search(
            levels,
            at,
            n_init=self.n_init,
            rng=rng,
            n_jobs=None,
            max_iter=self.max_iter,
            tol=self.tol,
            report=lambda value: line.update(log_likelihood=value) if line is not None else None,
        )
        parameters = at.found(result.theta)
        assert parameters.variances is not None
        variance = float(parameters.variances[0])
        rows = rows_at(parameters.kernel, X, marks[:, None], None, gram)
        mode = find_mode(variance * rows.covariance(parameters.kernel), marks)
        reference = parameters.kernel.reference(X)
        return LatentProcess(
            parameters.kernel, variance, reference, mode.dual, mode.root, mode.L, mode.value,
            max(result.n_evaluations, 1), result.converged,
        )  # fmt: skip

    def _check_inputs(self, X: Any, kernel: Kernel, *, reset: bool) -> Any:
        X = check_objects(self, X, kernel, reset=reset)
        # Covariances of smooth functions are too ill-conditioned for single precision.
        return X.astype(np.float64) if is_single(X) else X

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, in the order of ``classes_``, (n, n_classes)."""
        check_is_fitted(self)
        X = self._check_inputs(X, self._processes[0].kernel, reset=False)
        P = np.column_stack([average_logistic(*process.moments(X)) for process in self._processes])
        if len(self.classes_) == 2:
            return np.hstack([1 - P, P])
        return P / P.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each object."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def latent(self, X: Any) -> tuple[Array, Array]:
        """Return means and standard deviations of the latent functions.

        Shape (n,) each for two classes, otherwise (n, n_classes).
        """
        check_is_fitted(self)
        X = self._check_inputs(X, self._processes[0].kernel, reset=False)
        moments = [process.moments(X) for process in self._processes]
        means, variances = (np.column_stack(columns) for columns in zip(*moments, strict=True))
        if len(self.classes_) == 2:
            return means[:, 0], np.sqrt(variances[:, 0])
        return means, np.sqrt(variances)


def _mixed(marks: Array, rng: np.random.Generator) -> IntArray:
    """An order in which every beginning has both classes in about their shares."""
    order = np.empty(len(marks))
    for value in (0, 1):
        rows = np.flatnonzero(marks == value)
        order[rng.permutation(rows)] = (np.arange(len(rows)) + rng.uniform()) / max(len(rows), 1)
    return np.argsort(order, kind="stable")
