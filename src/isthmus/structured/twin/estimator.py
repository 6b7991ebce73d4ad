"""Twin Gaussian processes: outputs as similar to each other as their inputs are."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from isthmus._estimator import Estimator
from isthmus._parameters import (
    Constraint,
    choice,
    condition,
    instance,
    integer,
    none,
    real,
    seed,
    verbosity,
)
from isthmus._warnings import warn
from isthmus.blocks.slices import block_slices
from isthmus.kernels.objects import check_collection, n_objects, take
from isthmus.linalg.threads import threads_for
from isthmus.regression.selection import CRITERIA as CRITERIA_OF_CHOICE
from isthmus.structured.twin.bridge import TwinQuery
from isthmus.structured.twin.choice import as_twin_selection, choose_settings
from isthmus.structured.twin.landscape import box_around
from isthmus.structured.twin.learner import A_KERNEL, TwinKernelLearner, as_double, check_pairs
from isthmus.structured.twin.search import TwinSearch, best_outputs
from isthmus.structured.twin.sides import (
    as_twin_search,
    kernel_or_gaussian,
    make_bridge,
    make_sides,
)
from isthmus.typing import Array, BoolArray

CRITERIA = ("kl", "hsic", "inverse_kl")
QUERY_BYTES = 96 * 2**20


class TwinPrediction(NamedTuple):
    """Predictions of a twin process, with what is known about each."""

    outputs: Any
    criterion: Array
    input_variance: Array
    converged: BoolArray
    on_border: BoolArray
    uncertainty: Array


TwinPrediction.__module__ = "isthmus.structured"


def _are_objects(value: Any) -> bool:
    return value is None or (
        not isinstance(value, type)
        and hasattr(value, "__len__")
        and not isinstance(value, (str, bytes, dict, set))
        and len(value) > 0
    )


class TwinGaussianProcess(MultiOutputMixin, RegressorMixin, Estimator):
    r"""Predict the output that is as similar to the training outputs as its input is to theirs.

    Two Gaussian processes, one over inputs with the Gram matrix :math:`K`, one over outputs with
    :math:`G`. The prediction for :math:`x` is the :math:`y` for which the matrices, bordered by
    the new pair, agree best [BoSminchisescu2010]_:

    .. math:: \min_y\ \mathrm{KL}\big(\mathcal N(0,G_{Y\cup y})\,\|\,\mathcal N(0,K_{X\cup x})\big)
       \ \Longleftrightarrow\ \min_y\ g_{yy}-2u^\top g_y-\eta\log(g_{yy}-g_y^\top G^{-1}g_y),

    :math:`u=K^{-1}k_x`, :math:`\eta=k_{xx}-k_x^\top u`. All new points are optimised together,
    by quasi-Newton steps that start from kernel ridge regression :math:`u^\top Y`.

    Parameters
    ----------
    x_kernel, y_kernel : kernel, name or None, default=None
        None is a Gaussian whose width is chosen as ``tune`` says. Another output kernel must
        have a gradient, or the outputs are searched among ``candidates``.
    criterion : {"kl", "hsic", "inverse_kl"}, default="kl"
        ``"inverse_kl"`` is the divergence in the opposite direction; ``"hsic"`` maximises the
        dependence of the bordered matrices, and is there for comparison: with wide kernels its
        maximum lies outside the data.
    n_neighbors : int or None, default=None
        Number of training pairs to use for each new input, those with the most similar inputs; None
        takes all.
    alpha_x, alpha_y : float or None, default=None
        Noise on the diagonals of the Gram matrices, as a share of the mean diagonal. None is
        chosen as ``tune`` says. Without effect under ``"hsic"``.
    learner : TwinKernelLearner or None, default=None
        Learn polynomials of both kernels first (HOTGP, HOHSIC). Its own kernels are replaced
        by those given here.
    n_landmarks : int or None, default=None
        Number of training pairs by which both processes are represented (Nyström): time and memory
        then grow linearly with the number of pairs. Not for ``"hsic"``, which needs none.
    tune : {"cv", "ml", None}, default="cv"
        How parameters left None are chosen: by the absolute error of left-out predictions; those
        of the inputs by the marginal likelihood of the outputs (vectors under Gaussian kernels),
        which is faster and less reliable; or not at all: the widths are then 1 and 0.5 median
        distances, the noises 0.01 and 1. The published method is given all of them; no fixed ones
        suit two data sets.
    cv : None, int, splitter or Selection, default=None
        Folds for ``tune="cv"``; None is three that are shuffled. For sequences give 3 or
        ``KFold(3)``, whose folds are in one piece: neighbours in time give the answer away.
        Parameters are chosen on at most 500 pairs, unless a
        :class:`~isthmus.regression.Selection` says otherwise.
    candidates : collection of outputs or None, default=None
        Search the prediction among these. Outputs that are not vectors are searched among the
        training outputs where it is None.
    search : TwinSearch or None, default=None
        Starts and accuracy of the search for the best output.
    random_state : int, RandomState instance or None, default=0
        Draws landmarks and the pairs for the choice of parameters.
    verbose : int, default=0
        1 shows a progress line on a terminal.

    Attributes
    ----------
    x_kernel_, y_kernel_ : kernels
        The kernels, with their widths resolved and their transforms learned.
    alpha_x_, alpha_y_ : float
    learner_ : TwinKernelLearner or None
        The fitted learner.
    cv_error_ : float or None
        Mean absolute error of left-out predictions with the chosen parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.structured import TwinGaussianProcess
    >>> t = np.linspace(0, 1, 60)
    >>> X, Y = np.c_[t, t**2], np.c_[np.cos(6 * t), np.sin(6 * t)]
    >>> model = TwinGaussianProcess().fit(X[::2], Y[::2])
    >>> bool(np.abs(model.predict(X[1::2]) - Y[1::2]).mean() < 0.01)
    True

    Outputs that are not vectors are searched among those seen.

    >>> words = ["low" if x < 0.5 else "high" for x in t]
    >>> labels = TwinGaussianProcess(y_kernel="delta").fit(X, words)
    >>> labels.predict([[0.1, 0.01], [0.9, 0.81]])
    array(['low', 'high'], dtype=object)
    """

    __module__ = "isthmus.structured"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "x_kernel": A_KERNEL | none,
        "y_kernel": A_KERNEL | none,
        "criterion": choice(*CRITERIA),
        "n_neighbors": integer(1) | none,
        "alpha_x": real(0, include_low=False) | none,
        "alpha_y": real(0, include_low=False) | none,
        "learner": instance(TwinKernelLearner) | none,
        "n_landmarks": integer(1) | none,
        "tune": choice("cv", "ml") | none,
        "cv": CRITERIA_OF_CHOICE | none,
        "candidates": condition("objects, or None", _are_objects),
        "search": instance(TwinSearch) | none,
        "random_state": seed,
        "verbose": verbosity,
    }

    def __init__(
        self,
        *,
        x_kernel: Any = None,
        y_kernel: Any = None,
        criterion: str = "kl",
        n_neighbors: int | None = None,
        alpha_x: float | None = None,
        alpha_y: float | None = None,
        learner: Any = None,
        n_landmarks: int | None = None,
        tune: str | None = "cv",
        cv: Any = None,
        candidates: Any = None,
        search: Any = None,
        random_state: Any = 0,
        verbose: int = 0,
    ):
        self.x_kernel = x_kernel
        self.y_kernel = y_kernel
        self.criterion = criterion
        self.n_neighbors = n_neighbors
        self.alpha_x = alpha_x
        self.alpha_y = alpha_y
        self.learner = learner
        self.n_landmarks = n_landmarks
        self.tune = tune
        self.cv = cv
        self.candidates = candidates
        self.search = search
        self.random_state = random_state
        self.verbose = verbose

    @property
    def provides(self) -> frozenset[str]:
        """What the process can do, see :mod:`isthmus.typing`."""
        kinds = kernel_or_gaussian(self.x_kernel).provides & {"vectors", "objects"}
        return frozenset({"predict", "several_outputs"}) | kinds

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "x_kernel_")

    def fit(self, X: Any, y: Any) -> "TwinGaussianProcess":
        """Learn from pairs of objects; return self."""
        self._check_parameters()
        x_kernel, y_kernel = kernel_or_gaussian(self.x_kernel), kernel_or_gaussian(self.y_kernel)
        X, Y = check_pairs(self, X, y, x_kernel, y_kernel)
        if y_kernel.vectors and self.candidates is None:
            # Raises where the kernel has no gradient.
            y_kernel.resolve(Y).weighted_gradient(Y[:1], Y[:1], np.ones((1, 1)))
        candidates = self.candidates
        if candidates is not None:
            candidates = as_double(check_collection(self, candidates, y_kernel, reset=None))
        settings, error = choose_settings(self, X, Y, candidates)
        sides, learner = make_sides(self, X, Y, settings)
        with threads_for(n_objects(X) ** 3 / 3):
            self._bridge_ = make_bridge(self, sides, X, Y)
        self._box = box_around(Y, as_twin_search(self).margin) if y_kernel.vectors else None
        self._candidates = Y if candidates is None else candidates
        self._flat = y_kernel.vectors and np.asarray(y).ndim == 1
        self.x_kernel_, self.y_kernel_ = sides.x_kernel, sides.y_kernel
        self.alpha_x_, self.alpha_y_ = settings["alpha_x"], settings["alpha_y"]
        self.learner_, self.cv_error_ = learner, error
        return self

    def predict(self, X: Any) -> Any:
        """Return the predicted outputs: an array of vectors, or a 1-D array of objects."""
        return self._predict_blocks(X, details=False).outputs

    def predict_details(self, X: Any) -> TwinPrediction:
        r"""Return predictions with what is known about each.

        Returns
        -------
        TwinPrediction
            ``outputs``; ``uncertainty``, **by which predictions are ranked**: the squared
            distance from the truth, in the space of the output kernel, that the input process
            expects, ``input_variance`` plus
            :math:`\|\psi(y)-\sum_iu_i\psi(y_i)\|^2` (NaN under ``"hsic"``, which has no such
            process); ``input_variance``, the part of the input's kernel value that the training
            inputs do not explain, large for unusual inputs; ``criterion``, what was minimised:
            under ``"kl"`` the divergence in nats that the pair adds, never negative, under
            ``"inverse_kl"`` the same in the opposite direction, under ``"hsic"`` minus the
            dependence it adds. It compares outputs of one input. Divergences are relative to
            the variance of the input, so that it is small far from the data, where everything
            is possible: it does not rank inputs. ``converged``; ``on_border``, whether the
            prediction lies on the border of the box it is kept in.
        """
        return self._predict_blocks(X, details=True)

    def _predict_blocks(self, X: Any, *, details: bool) -> TwinPrediction:
        check_is_fitted(self)
        X = as_double(check_collection(self, X, self.x_kernel_, reset=False))
        n, n_reference = n_objects(X), n_objects(self._bridge_.outputs)
        search = as_twin_search(self)
        box = self._box if self.candidates is None else None
        parts, values, variances, distances = [], [], [], []
        size = max(1, QUERY_BYTES // (64 * n_reference))
        for rows in block_slices(n, n_reference, block_size=size):
            with threads_for(2.0 * (rows.stop - rows.start) * n_reference**2):
                query = self._bridge_.query(take(X, rows))
                found = best_outputs(
                    self._bridge_, query, box, self._candidates, search, verbose=self.verbose
                )
            parts.append(found)
            if details:
                values.append(query.to_nats(found.values))
                variances.append(query.input_variance)
                distances.append(self._distances(query, found.outputs))
        outputs = np.concatenate([found.outputs for found in parts])
        converged = np.concatenate([found.converged for found in parts])
        border: Any = np.zeros(n, dtype=bool)
        if box is not None:
            slack = 1e-9 * (box.high - box.low)
            outside = (outputs <= box.low + slack) | (outputs >= box.high - slack)
            border = (outside & (box.low < box.high)).any(axis=1)
        if not converged.all():
            warn(
                f"TwinGaussianProcess: {int((~converged).sum())} of {n} predictions have not "
                "converged. Raise alpha_y or the max_iter of search=TwinSearch(...), or scale the "
                "outputs.",
                ConvergenceWarning,
            )
        if self._flat and outputs.ndim == 2:
            outputs = outputs[:, 0]
        if not details:
            values = variances = distances = [np.full(n, np.nan)]
        variance = np.concatenate(variances)
        return TwinPrediction(
            outputs,
            np.concatenate(values),
            variance,
            converged,
            border,
            variance + np.concatenate(distances),
        )

    def _distances(self, query: TwinQuery, outputs: Any) -> Array:
        """Squared distances of answers from the mean of the input process."""
        if query.mismatch is None:
            return np.full(len(outputs), np.nan)
        kernel = self.y_kernel_
        return query.mismatch(kernel.gram(outputs, self._bridge_.outputs), kernel.diag(outputs))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions; for outputs that are not vectors, the share that is right."""
        check_is_fitted(self)
        if self._box is not None:
            return float(super().score(X, y, sample_weight))
        right = [bool(a == b) for a, b in zip(self.predict(X), y, strict=True)]
        return float(np.average(right, weights=sample_weight))

    def _check_parameters(self) -> None:
        as_twin_selection(self)
        if self.n_landmarks is not None and (self.criterion == "hsic" or self.n_neighbors):
            what = 'criterion="hsic"' if self.criterion == "hsic" else "n_neighbors"
            raise ValueError(
                f"The 'n_landmarks' parameter of TwinGaussianProcess must be None with {what}. "
                f"Got {self.n_landmarks!r} instead."
            )
