"""Gaussian process regression on any objects, with its uncertainty."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isthmus._checks import LARGEST, check_piece, check_scale, check_seed
from isthmus._estimator import altered
from isthmus._parameters import (
    Constraint,
    boolean,
    choice,
    instance,
    integer,
    jobs,
    none,
    real,
    seed,
    verbosity,
)
from isthmus._progress import ProgressLine
from isthmus._warnings import warn
from isthmus.blocks.fitting import open_fit, plain_arrays, refuse_blocks, require_outputs
from isthmus.kernels.base import Kernel
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.objects import n_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.regression.capabilities import kinds_of_objects, named_or
from isthmus.regression.gaussian_process.approximation import (
    NAMES,
    Approximation,
    announce_cost,
    as_approximation,
)
from isthmus.regression.gaussian_process.bounds import ParameterBounds
from isthmus.regression.gaussian_process.formulas import Noise
from isthmus.regression.gaussian_process.in_blocks import fit_in_blocks
from isthmus.regression.gaussian_process.posterior import (
    Posterior,
)
from isthmus.regression.gaussian_process.prediction import FittedProcess
from isthmus.regression.gaussian_process.training import ProcessFit, fit_process
from isthmus.regression.gaussian_process.updates import ProcessUpdates
from isthmus.regression.outputs import check_outputs
from isthmus.typing import Array


class GaussianProcess(ProcessUpdates, FittedProcess):
    r"""Gaussian process regression on any objects, its parameters learned from the data.

    Outputs are values of a random function with noise, :math:`y=b+f(x)+\varepsilon`, where
    :math:`f` has the covariance :math:`s^2k(x,z)` and :math:`\varepsilon` the variance
    :math:`\sigma^2`. Given rows, with :math:`A=K+\alpha I` and :math:`\alpha=\sigma^2/s^2`, the
    function at new objects has

    .. math:: \mu=b+K_*A^{-1}(y-b),\qquad C=s^2\,(K_{**}-K_*A^{-1}K_*^\top).

    The parameters of the kernel, :math:`s` and :math:`\sigma` are those of largest marginal
    likelihood :math:`\log N(y;b,s^2A)`, found by their gradients. ``X`` is anything the kernel can
    compare; several outputs share the kernel, the ratio :math:`\alpha` and one Cholesky factor, and
    have amplitudes of their own.

    Parameters
    ----------
    kernel : kernel or name, default="gaussian"
        The search starts from its parameters. ``"ard"`` has one length scale per column.
    noise : float or None, default=None
        Standard deviation of the noise in units of the outputs; 0 interpolates. None learns it.
        scikit-learn's process interpolates by default, from one start and about zero: it follows
        noise, and depends on the origin of the outputs.
    amplitude : float or None, default=None
        Standard deviation of the function. None learns it, one per output unless a noise is given.
    learn_kernel : bool, default=True
        False keeps the kernel as it is (``"median"`` widths are filled in). Kernels without
        derivatives by their parameters (of strings, graphs, functions) are never learned.
    criterion : {"likelihood", "loo"}, default="likelihood"
        What is maximised: the marginal likelihood, or the density of each output when it is left
        out, which suffers less from a wrong kernel. Not available with inducing objects.
    approximation : None, {"inducing", "dtc", "committee"}, Inducing or Committee, default=None
        For many rows, see Notes: :class:`Inducing` and :class:`Committee`, or their names. None
        (or ``"exact"``) has none.
    bounds : ParameterBounds or None, default=None
        Bounds of what is learned; None searches within wide ones around the start.
    center : bool, default=True
        Take the mean of the outputs as :math:`b`; with False it is 0.
    n_init : int, default=5
        Number of starts of the search, all but the first random: the likelihood has several
        maxima.
    coarse : bool, default=True
        Search on part of the rows first (a quarter, a sixteenth, …, at least 250); the search
        on all rows then takes few iterations. False runs every start on all rows.
    max_iter : int, default=200
        Maximum number of iterations of a search.
    tol : float, default=1e-3
        The search ends when less than this is to be gained in log-likelihood.
    n_jobs : int or None, default=None
        Number of processes among which the starts are shared.
    random_state : int, RandomState instance or None, default=None
        Seed of starts, parts of rows and members.
    verbose : int, default=0

    Attributes
    ----------
    kernel_ : kernel
        The kernel with the parameters found.
    noise_, amplitude_ : float, or ndarray of shape (n_outputs,)
        Standard deviations of noise and function.
    log_marginal_likelihood_ : float
        Of all outputs; a lower bound for ``"inducing"``, the sum over members for ``"committee"``.
    expansion_ : Expansion
        The mean as a function; a committee has none.
    objects_ : training or inducing objects (of the first member in a committee)
    dual_coef_ : ndarray of shape (n_objects,) or (n_objects, n_outputs)
        The mean at ``X`` is ``kernel_(X, objects_) @ dual_coef_ + intercept_``.
    intercept_ : float or ndarray of shape (n_outputs,)
    converged_ : bool
    n_iter_ : int
        Number of evaluations of the criterion on all rows, or from one start without ``coarse``.

    See Also
    --------
    BayesianLinearRegression : the same with a linear kernel and few columns.
    KernelRidgeCV : the mean alone, its penalty chosen by leave-one-out.

    Notes
    -----
    **Large data.** The exact process costs O(n³) time and three n × n matrices. ``"inducing"``
    costs O(nm²) for m inducing objects, chosen among the rows where the function varies most; the
    parameters are those of largest variational bound [Titsias2009]_, which is the likelihood where
    m = n. ``"dtc"`` has the same predictions with parameters of largest likelihood of its low-rank
    model, as published earlier, which is no bound. ``"committee"`` fits parts
    of the rows with common parameters and combines them for each object [Tresp2000]_.

    **Rounding errors.** Where the covariance is singular to working precision, up to 1e-4 of its
    mean diagonal is added; then an error says so. A kernel matrix that is clearly indefinite is
    refused.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import GaussianProcess
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, size=(60, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=60)
    >>> model = GaussianProcess(random_state=0).fit(X, y)
    >>> bool(0.07 < model.noise_ < 0.13)
    True
    >>> mean, std = model.predict([[3.0], [30.0]], return_std=True)
    >>> bool(std[0] < 0.2 < std[1])
    True

    Words are compared by a kernel of strings:

    >>> from isthmus.kernels import Normalized, Spectrum
    >>> words = ["aab", "aba", "bbb", "abb", "aaa", "bab"]
    >>> lengths = GaussianProcess(Normalized(Spectrum(2)), noise=0.1).fit(words, range(6))
    >>> lengths.predict(["aabb"]).shape
    (1,)
    """

    __module__ = "isthmus.regression"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "kernel": named_or(as_kernel, "a kernel, its name or a callable"),
        "noise": real(0, LARGEST) | none,
        "amplitude": real(0, LARGEST, include_low=False) | none,
        "learn_kernel": boolean,
        "criterion": choice("likelihood", "loo"),
        "approximation": none | choice(*NAMES) | instance(Approximation),
        "bounds": none | instance(ParameterBounds),
        "center": boolean,
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
        noise: float | None = None,
        amplitude: float | None = None,
        learn_kernel: bool = True,
        criterion: str = "likelihood",
        approximation: Any = None,
        bounds: ParameterBounds | None = None,
        center: bool = True,
        n_init: int = 5,
        coarse: bool = True,
        max_iter: int = 200,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.noise = noise
        self.amplitude = amplitude
        self.learn_kernel = learn_kernel
        self.criterion = criterion
        self.approximation = approximation
        self.bounds = bounds
        self.center = center
        self.n_init = n_init
        self.coarse = coarse
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = check_piece(self.kernel, "kernel", self, as_kernel).pairwise
        return tags

    @property
    def provides(self) -> frozenset[str]:
        """What the machine can do, see :mod:`isthmus.typing`."""
        words = kinds_of_objects(self.kernel) | {"predict", "several_outputs"}
        exact = self.approximation is None or self.approximation == "exact"
        return words | {"weights"} if exact else words

    def with_expansion(self, expansion: Expansion) -> "GaussianProcess":
        """A copy whose mean is another function, such as a shorter one; it has no deviations."""
        mean = Posterior(expansion.objects, expansion.weights, np.empty((0, 0)))
        return altered(
            self,
            expansion_=expansion,
            kernel_=expansion.kernel,
            _mean=expansion.offset,
            _members=[mean],
            _targets=None,
            _sums=None,
        )

    # Learning ---------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, row_noise: Any = None) -> Self:
        """Learn the parameters from objects ``X`` and outputs ``y``; return self.

        ``row_noise``, of shape (n_samples,), says how noisy each output is: a factor of the
        common standard deviation. With ``noise=1.0`` the factors are the standard deviations
        themselves. Needs a process without inducing objects.
        """
        approximation = self._check_parameters()
        kernel = check_piece(self.kernel, "kernel", self, as_kernel)
        random = check_seed(self.random_state, "random_state", self)
        X, Y, flat = self._check_data(X, y, kernel, reset=True)
        noise = self._check_row_noise(row_noise, len(Y), approximation)
        announce_cost(self, len(Y), approximation)
        mean = Y.mean(axis=0) if self.center else np.zeros(Y.shape[1])
        if self.center and self.amplitude is None and len(Y) > 1 and not np.ptp(Y, axis=0).all():
            warn(
                f"{type(self).__name__} got outputs that are all the same: no amplitude can be "
                "learned from them, and the standard deviations are meaningless zeros. Give "
                "amplitude and noise.",
                UserWarning,
            )
        with ProgressLine(type(self).__name__, verbose=self.verbose) as line:
            fit = fit_process(
                self,
                kernel.resolve(X),
                X,
                Y - mean,
                approximation=approximation,
                rng=np.random.default_rng(random.randint(2**31 - 1)),
                report=lambda value: line.update(log_likelihood=value),
                noise=noise,
            )
        return self._finish(fit, mean, approximation, flat=flat)

    def _fit_blocks(self, X: Any, y: Any = None, row_noise: Any = None) -> Self:
        """The same from rows that are read block by block, through inducing objects."""
        arrays = plain_arrays(X, y)
        if arrays is not None:
            return self.fit(*arrays, row_noise)
        approximation = self._check_parameters()
        kernel = check_piece(self.kernel, "kernel", self, as_kernel)
        if not approximation.low_rank or kernel.pairwise:
            refuse_blocks(
                self,
                f"with approximation={self.approximation!r} it needs all rows at once",
                instead="With approximation=Inducing(256), and a kernel of objects, it",
            )
        if row_noise is not None:
            self._check_row_noise(row_noise, 0, approximation)
        random = check_seed(self.random_state, "random_state", self)
        rows = open_fit(self, X, y, objects=not kernel.vectors)
        require_outputs(self, rows)
        with ProgressLine(type(self).__name__, verbose=self.verbose) as line:
            fit, mean = fit_in_blocks(
                self,
                kernel,
                rows,
                approximation=approximation,
                rng=np.random.default_rng(random.randint(2**31 - 1)),
                report=lambda value: line.update(log_likelihood=value),
            )
        return self._finish(fit, mean, approximation, flat=rows.checks[1].ndim == 1)

    def _finish(
        self, fit: ProcessFit, mean: Array, approximation: Approximation, *, flat: bool
    ) -> Self:
        if not fit.converged:
            warn(
                f"The search of {type(self).__name__} for parameters ended after max_iter = "
                f"{self.max_iter} iterations. Raise max_iter, or give the kernel, "
                "noise or amplitude.",
                ConvergenceWarning,
            )
        self._flat = flat
        self.approximation_ = approximation
        self.kernel_, self.converged_ = fit.kernel, fit.converged
        self.n_iter_ = fit.n_evaluations
        self._set_posterior(fit, mean)
        return self

    def _check_parameters(self) -> Approximation:
        approximation = as_approximation(self.approximation, self)
        low_rank = approximation.low_rank
        if low_rank and self.criterion == "loo":
            raise ValueError(
                "The 'criterion' parameter of GaussianProcess must be 'likelihood' for "
                f"approximation={self.approximation!r}. Got 'loo' instead."
            )
        if low_rank and self.noise == 0:
            raise ValueError(
                "The 'noise' parameter of GaussianProcess must be above 0 for "
                f"approximation={self.approximation!r}: few inducing objects cannot interpolate."
            )
        for name in ("noise", "amplitude"):
            if getattr(self.bounds, name, None) is not None and getattr(self, name) is not None:
                raise ValueError(
                    f"The 'bounds' parameter of GaussianProcess has bounds of {name}, which is "
                    f"given: {getattr(self, name)!r}. Give one of them."
                )
        return approximation

    def _check_row_noise(self, row_noise: Any, n: int, approximation: Approximation) -> Noise:
        if row_noise is None:
            return 1.0
        if approximation.low_rank:
            raise ValueError(
                "GaussianProcess takes row_noise without approximation or with a committee. Got "
                f"approximation={self.approximation!r}."
            )
        scales = np.asarray(row_noise, dtype=np.float64)
        if scales.shape != (n,) or not np.all((scales > 0) & (scales < LARGEST)):
            raise ValueError(
                f"row_noise of GaussianProcess must hold {n} positive numbers, one for each row. "
                f"Got {row_noise!r:.80}."
            )
        return np.square(scales)

    def _check_data(
        self, X: Any, y: Any, kernel: Kernel, *, reset: bool
    ) -> tuple[Any, Array, bool]:
        X = self._check_inputs(X, kernel, reset=reset)
        Y = np.asarray(check_outputs(self, y, n_objects(X)), dtype=np.float64)
        if kernel.vectors:
            check_scale(self, X)
        check_scale(self, Y, what="y")
        return X, Y.reshape(len(Y), -1), Y.ndim == 1

    def _set_posterior(self, fit: ProcessFit, mean: Array) -> None:
        self._members, self._sums = fit.members, fit.sums
        self._targets = None if fit.sums is not None else [Y + mean for Y in fit.targets]
        self._alpha, self._mean, self._variances = fit.alpha, mean, fit.variances
        self._noises = list(fit.noises)
        self.log_marginal_likelihood_ = fit.value
        self._publish()

    def _publish(self) -> None:
        """Fitted attributes from what the posterior is made of."""
        amplitude = np.sqrt(self._variances)
        noise = amplitude * np.sqrt(self._alpha)
        self.amplitude_, self.noise_ = (
            float(value[0]) if self._flat else value for value in (amplitude, noise)
        )
        self.__dict__.pop("expansion_", None)
        if len(self._members) == 1:
            objects, dual = self._members[0][:2]
            self.expansion_ = Expansion(self.kernel_, objects, dual, self._mean)
