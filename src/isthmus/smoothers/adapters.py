"""scikit-learn's regressors as smoothers: how much each training output counts."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from sklearn.base import MultiOutputMixin, RegressorMixin, clone
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge, RidgeCV
from sklearn.neighbors import KNeighborsRegressor, RadiusNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import shortened
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, having
from isthmus.typing import Array, provides


def as_smoother(regressor: Any) -> Any:
    """Return a regressor that provides weights, or one of scikit-learn's in that form.

    Forests and trees (a training output counts where it shares a leaf), nearest neighbours, and
    linear regression with or without a ridge; whatever provides ``"weights"`` is returned as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from isthmus.smoothers import as_smoother
    >>> X = np.arange(4.0)[:, None]
    >>> model = as_smoother(KNeighborsRegressor(2)).fit(X, X[:, 0])
    >>> model.weights([[0.1]]).toarray()
    array([[0.5, 0.5, 0. , 0. ]])
    """
    if "weights" in provides(regressor):
        return regressor
    for kinds, adapter in ADAPTERS:
        if isinstance(regressor, kinds):
            return adapter(regressor)
    raise TypeError(
        f"{shortened(regressor)} does not provide 'weights' of its training outputs. Regressors "
        "that do are KernelRidgeCV, GaussianProcess, LocalPolynomialRegression, and scikit-learn's "
        "forests, trees, nearest neighbours and linear or ridge regression."
    )


class AdaptedSmoother(MultiOutputMixin, RegressorMixin, Estimator, ABC):
    """Base of the adapters: a regressor that is fitted on the outputs, and its weights."""

    __module__ = "isthmus.smoothers"
    _constraints: ClassVar[dict[str, Constraint]] = {
        "regressor": having("fit", "predict", text="a regressor")
    }

    sums_to_one = True
    provides = frozenset({"vectors", "predict", "several_outputs", "weights"})

    def __init__(self, regressor: Any):
        self.regressor = regressor

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit a copy of the regressor; return self.

        ``sample_weight`` (n,) says how often each row counts, where the regressor takes it.
        """
        told = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        self.regressor_ = clone(self.regressor).fit(X, y, **told)
        self.n_train_ = int(np.shape(y)[0])
        counts = np.ones(self.n_train_) if sample_weight is None else np.asarray(sample_weight)
        self._keep(X, counts.astype(np.float64))
        return self

    def predict(self, X: Any) -> Array:
        """Return the regressor's predictions."""
        check_is_fitted(self)
        return np.asarray(self.regressor_.predict(X))

    def smooth(self, X: Any, G: Any) -> Array:
        """Return predictions at ``X``, had the training outputs been the columns ``G``."""
        found = self.weights(X) @ G
        return np.asarray(found.toarray() if sparse.issparse(found) else found)

    def _keep(self, X: Any, counts: Array) -> None:
        """What is needed of the training inputs, and of how often they count."""

    @abstractmethod
    def weights(self, X: Any) -> Any:
        """Return the weights (n, n_train) of the training outputs at ``X``."""


class LeafSmoother(AdaptedSmoother):
    r"""A forest: :math:`w_i(x)` is the mean over trees of :math:`c_i[\text{same leaf}]/\sum c`.

    :math:`c_i` counts how often the bootstrap drew row ``i`` for the tree.
    """

    def _keep(self, X: Any, counts: Array) -> None:
        forest = self.regressor_
        self._leaves = _leaves(forest, X)
        n, n_trees = self._leaves.shape
        if getattr(forest, "bootstrap", False):
            drawn = forest.estimators_samples_
            times = np.column_stack([np.bincount(rows, minlength=n) for rows in drawn])
            self._counts = counts[:, None] * times
        else:
            self._counts = np.repeat(counts[:, None], n_trees, axis=1)

    def weights(self, X: Any) -> Any:
        check_is_fitted(self)
        new = _leaves(self.regressor_, X)
        n_trees = new.shape[1]
        total = sparse.csr_array((len(new), len(self._leaves)))
        for t in range(n_trees):
            n_nodes = int(max(self._leaves[:, t].max(), new[:, t].max())) + 1
            mass = np.bincount(self._leaves[:, t], self._counts[:, t], minlength=n_nodes)
            full = mass[self._leaves[:, t]]
            share = self._counts[:, t] / np.where(full > 0, full, 1.0)
            rows = np.arange(len(share))
            trained = sparse.csr_array(
                (share, (self._leaves[:, t], rows)), shape=(n_nodes, len(rows))
            )
            total = total + trained[new[:, t]]
        return sparse.csr_array(total / n_trees)


class NeighborSmoother(AdaptedSmoother):
    """Nearest neighbours: one over their number, or by the regressor's weights of distances."""

    def weights(self, X: Any) -> Any:
        check_is_fitted(self)
        model = self.regressor_
        graph = sparse.csr_array(
            model.kneighbors_graph(X, mode="distance")
            if hasattr(model, "kneighbors_graph")
            else model.radius_neighbors_graph(X, mode="distance")
        )
        rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        if model.weights == "uniform":
            values = np.ones(len(graph.data))
        elif model.weights == "distance":
            zero = graph.data == 0
            hit = np.zeros(graph.shape[0], dtype=bool)
            hit[rows[zero]] = True
            with np.errstate(divide="ignore"):
                values = np.where(hit[rows], zero.astype(float), 1 / graph.data)
        else:
            ends = zip(graph.indptr[:-1], graph.indptr[1:], strict=True)
            values = np.concatenate([model.weights(graph.data[a:b]) for a, b in ends])
        sums = np.bincount(rows, values, minlength=graph.shape[0])
        values = values / sums[rows]
        return sparse.csr_array((values, graph.indices, graph.indptr), shape=graph.shape)


class LinearSmoother(AdaptedSmoother):
    r"""Linear regression: :math:`w(x)=\frac1n+X_c(X_c^\top X_c+\alpha I)^{-1}(x-\bar x)`.

    With sample weights the mean is the weighted one and rows are scaled by their roots.
    """

    @property
    def sums_to_one(self) -> bool:  # type: ignore[override]
        """Where a constant is fitted."""
        return bool(self.regressor.fit_intercept)

    def _keep(self, X: Any, counts: Array) -> None:
        X = np.asarray(X, dtype=np.float64)
        alpha = getattr(self.regressor_, "alpha_", getattr(self.regressor_, "alpha", 0.0))
        if np.ndim(alpha):
            raise TypeError(
                "A ridge regression with a penalty for each output has no weights in common. Give "
                "it one alpha."
            )
        self._shares, root = counts / counts.sum(), np.sqrt(counts)
        self._mean = self._shares @ X * self.sums_to_one
        Xc = root[:, None] * (X - self._mean)
        U, s, Vt = linalg.svd(Xc, full_matrices=False)
        kept = s > np.finfo(np.float64).eps * max(Xc.shape) * s.max(initial=0.0)
        self._right = Vt[kept].T * (s[kept] / (s[kept] ** 2 + alpha))
        self._left = root[:, None] * U[:, kept]

    def weights(self, X: Any) -> Array:
        check_is_fitted(self)
        new = np.asarray(X, dtype=np.float64) - self._mean
        W = new @ self._right @ self._left.T
        return W + self._shares if self.sums_to_one else W


def _leaves(forest: Any, X: Any) -> Any:
    leaves = np.asarray(forest.apply(X))
    return leaves[:, None] if leaves.ndim == 1 else leaves


ADAPTERS: tuple[tuple[tuple[type, ...], type[AdaptedSmoother]], ...] = (
    ((RandomForestRegressor, ExtraTreesRegressor, DecisionTreeRegressor), LeafSmoother),
    ((KNeighborsRegressor, RadiusNeighborsRegressor), NeighborSmoother),
    ((Ridge, RidgeCV, LinearRegression), LinearSmoother),
)
