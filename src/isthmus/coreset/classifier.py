"""Support vector classification on a core set."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from isthmus._checks import check_length
from isthmus._parameters import Constraint, choice, instance, none
from isthmus.blocks.fitting import plain_arrays, require_outputs
from isthmus.coreset.base import COST, CoreMachine, kernel_columns
from isthmus.coreset.in_blocks import CoreSets, accuracy, fit_core_sets, take_over
from isthmus.coreset.problems import KernelProblem
from isthmus.coreset.solver import BallVectorSolver, CoreSetSolver, as_any_solver
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.objects import n_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.typing import Array, IntArray


class CoreVectorClassifier(ClassifierMixin, CoreMachine):
    r"""A support vector machine whose training examines few points at a time.

    :math:`\min\frac12(\|w\|^2+b^2)-\rho+\frac C2\sum_i\xi_i^2` under
    :math:`y_i(w^\top\varphi(x_i)+b)\ge\rho-\xi_i`. Its dual,
    :math:`\min\alpha^\top K'\alpha` over the simplex with
    :math:`k'_{ij}=y_iy_j(k_{ij}+1)+\delta_{ij}/C`, is a minimum enclosing ball, and is solved
    on a core set [Tsang2005]_. Divided by :math:`\rho`, (w, b) is the solution of the ordinary
    machine with squared hinge loss, ``LinearSVC(C=C/2)`` where the kernel is linear. Several
    classes are separated one against the rest.

    Parameters
    ----------
    kernel : kernel, name or callable, default="gaussian"
        ``X`` is whatever it can compare.
    C : float, default=10.0
        Cost of errors, which are squared here: most are below one, so that the 1 of ``SVC``, whose
        errors are not squared, would weigh less.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for the objects of a class.
    solver : {"core", "ball"}, CoreSetSolver or BallVectorSolver, default="core"
        How the core set grows, and how accurate it is: see :class:`CoreSetSolver`. "ball" is
        :class:`BallVectorSolver`, which needs a kernel with a constant diagonal.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray
    expansion_ : Expansion
        The functions: one for two classes, else one per class.
    support_ : ndarray
        Indices of the training objects that carry weight in some function, ``objects_``.
    dual_coef_ : ndarray of shape (n_machines, n_support)
    intercept_ : ndarray of shape (n_machines,)
    objective_ : ndarray of shape (n_machines,)
        Values of the duals.
    gap_ : ndarray of shape (n_machines,)
        Bounds on how far the objectives are above their optima.
    n_core_ : ndarray of shape (n_machines,)
        Number of points that were ever in the core sets.

    See Also
    --------
    sklearn.svm.SVC : faster below some ten thousand rows.

    Notes
    -----
    For probabilities put it into ``sklearn.calibration.CalibratedClassifierCV``.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.coreset import CoreVectorClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    >>> bool(CoreVectorClassifier(random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """

    __module__ = "isthmus.coreset"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "C": COST,
        "class_weight": choice("balanced") | instance(dict) | none,
        "solver": choice("core", "ball") | instance(CoreSetSolver, BallVectorSolver),
    }
    solver_defaults = CoreSetSolver(epsilon=0.05, stop="relative", batch_size=None, max_core=2000)

    @property
    def dual_coef_(self) -> Array:
        """Coefficients of the objects, one row per function."""
        return self.expansion_.weights.T

    @property
    def intercept_(self) -> Array:
        """The constant of each function."""
        return self.expansion_.offset

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        C: float = 10.0,
        class_weight: Any = None,
        solver: Any = "core",
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.C = C
        self.class_weight = class_weight
        self.solver = solver
        self.random_state = random_state
        self.verbose = verbose

    def _check_solver(self) -> CoreSetSolver | BallVectorSolver:
        return as_any_solver(self.solver, self, self.solver_defaults)

    def fit(self, X: Any, y: Any) -> "CoreVectorClassifier":
        """Learn to predict the classes ``y`` of the objects ``X``; return self."""
        if y is None:
            raise ValueError(
                "CoreVectorClassifier requires y to be passed, but the target y is None."
            )
        cost = float(self.C)
        solver, rng = self._check_solver(), self._check_seed()
        X = self._check_objects(X, reset=True)
        classes, labels, weights = self._check_labels(y, n_objects(X))
        kernel = as_kernel(self.kernel).resolve(X)
        if isinstance(solver, BallVectorSolver):
            _check_ball(np.asarray(kernel.diag(X), dtype=float), weights)
        columns, machines = kernel_columns(kernel, X, solver, self), []
        for positive in [1] if len(classes) == 2 else range(len(classes)):
            signs = np.where(labels == positive, 1.0, -1.0)
            problem = KernelProblem(
                columns, signs, 1.0, 1.0 / (cost * weights), np.zeros(len(signs))
            )
            first = [int(rng.choice(np.flatnonzero(signs == s))) for s in (1, -1)]
            machines.append((self._solve(solver, problem, np.array(first), rng), signs))
        self._judge([found for found, _ in machines])

        support = np.unique(np.concatenate([found.indices for found, _ in machines]))
        dual = np.zeros((len(support), len(machines)))
        for column, (found, signs) in enumerate(machines):
            # In units of the margin, so that values of different machines can be compared.
            rho = max(found.objective, np.finfo(float).tiny)
            where = np.searchsorted(support, found.indices)
            dual[where, column] = found.weights * signs[found.indices] / rho
        self.classes_, self.support_ = classes, support
        self.expansion_ = Expansion(kernel, kernel.reference(X, support), dual, dual.sum(axis=0))
        self.gap_ = np.array([found.gap for found, _ in machines])
        self.objective_ = np.array([found.objective for found, _ in machines])
        self.n_core_ = np.array([found.n_core for found, _ in machines])
        return self

    def _fit_blocks(self, X: Any, y: Any = None) -> "CoreVectorClassifier":
        """The same from objects that are read block by block; all of them certify it."""
        arrays = plain_arrays(X, y)
        if arrays is not None:
            return self.fit(*arrays)
        rows, kernel = self._open_blocks(X, y)
        require_outputs(self, rows)
        rows = rows.mapped(_with_labels)
        classes, counts = rows.fold(_label_counts, _add_counts)
        self._check_labels(classes, len(classes))
        weights = self.class_weight
        if isinstance(weights, str):  # of all rows, not of those in the core set
            weights = dict(zip(classes, counts.sum() / (len(classes) * counts), strict=True))
        machine = clone(self).set_params(kernel=kernel, class_weight=weights)
        sets = CoreSets(machine, _support, _violations)
        fitted, numbers, gaps = fit_core_sets(rows, sets, _slack)
        take_over(self, fitted)
        self.support_, self.gap_ = numbers[fitted.support_], gaps
        return self

    def _check_labels(self, y: Any, n: int) -> tuple[Array, IntArray, Array]:
        """The classes, the number of each object's class, and each object's weight."""
        y = column_or_1d(y, warn=True)
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator=self)
        check_classification_targets(y)
        check_length(self, n, len(y), what="labels as objects")
        classes, labels = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                "CoreVectorClassifier needs objects of at least 2 classes. Got "
                f"{len(classes)} class, {classes.tolist()[0]!r}."
            )
        return (
            classes,
            labels,
            compute_class_weight(self.class_weight, classes=classes, y=y)[labels],
        )

    def decision_function(self, X: Any) -> Array:
        """Return values in units of the margin: (n,) for two classes, else (n, n_classes)."""
        check_is_fitted(self)
        values = self.expansion_(self._check_objects(X, reset=False))
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> Array:
        """Return the class of each object."""
        values = self.decision_function(X)
        if values.ndim == 1:
            return self.classes_[(values > 0).astype(int)]
        return self.classes_[values.argmax(axis=1)]


def _support(machine: CoreVectorClassifier) -> IntArray:
    return machine.support_


def _violations(machine: CoreVectorClassifier, X: Any, y: Any) -> Array:
    r"""How far objects are inside the margin: :math:`2\rho(1-sf(x))` for each function."""
    values = machine.decision_function(X).reshape(n_objects(X), -1)
    y = np.asarray(y)
    if len(machine.classes_) == 2:
        signs = np.where(y == machine.classes_[1], 1.0, -1.0)[:, None]
    else:
        signs = np.where(y[:, None] == machine.classes_, 1.0, -1.0)
    return 2 * machine.objective_ * (1 - signs * values)


def _slack(machine: CoreVectorClassifier) -> Array:
    return accuracy(machine) * machine.objective_


def _with_labels(X: Any, y: Any) -> tuple[Any, Any]:
    """A block with its labels as an array, whatever held them."""
    return X, column_or_1d(np.asarray(y))


def _label_counts(X: Any, y: Any) -> tuple[Any, Any]:
    return np.unique(y, return_counts=True)


def _add_counts(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    classes, where = np.unique(np.concatenate([a[0], b[0]]), return_inverse=True)
    return classes, np.bincount(where, np.concatenate([a[1], b[1]]))


def _check_ball(lengths: Array, weights: Array) -> None:
    """Refuse objects whose k(x, x) + 1/C differ: the radius would not be known beforehand."""
    if np.ptp(lengths) > 1e-8 * abs(lengths).max() or np.ptp(weights) > 0:
        raise ValueError(
            "CoreVectorClassifier(solver='ball') knows the radius beforehand only where "
            "k(x, x) + 1/C is the same for all objects. Got values from "
            f"{lengths.min():.3g} to {lengths.max():.3g}"
            f"{' and class weights' if np.ptp(weights) > 0 else ''}: use "
            "solver='core', or Normalized(kernel)."
        )
