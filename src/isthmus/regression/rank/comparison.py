"""Error against rank, for any estimators with a rank, in one tidy table."""

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from isthmus._extras import load_extra

if TYPE_CHECKING:
    from pandas import DataFrame

# The parameter that is the rank, by the order in which it is looked for.
RANK_PARAMETERS = ("rank", "n_components")


def compare_ranks(
    X: Any,
    Y: Any,
    estimators: Mapping[str, BaseEstimator] | Iterable[BaseEstimator],
    ranks: Iterable[int],
    cv: Any = 5,
) -> "DataFrame":
    """Cross-validated error of each estimator at each rank.

    Parameters
    ----------
    X, Y : training objects and outputs (n_samples, n_outputs)
    estimators : dict of name to estimator, or sequence of estimators
        Anything with a parameter ``rank`` or ``n_components``, also nested in a pipeline or in
        another slot (``Pipeline([("pca", PCA()), ("ols", LinearRegression())])``); one that has
        neither is fitted once per fold and shown at every rank, as a baseline.
    ranks : iterable of int
    cv : int or splitter, default=5

    Returns
    -------
    DataFrame
        One row for each estimator, rank and fold, with the columns ``estimator``, ``rank``,
        ``fold``, ``rmse`` (root of the mean squared error over test rows and outputs),
        ``train_rmse`` and ``fit_seconds``. Where an estimator knows all ranks from one fit
        (:meth:`ReducedRankRegression.at_rank`), that fit is made once and its time counted once,
        in the first row. Needs pandas, which the extra ``app`` installs.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cross_decomposition import PLSRegression
    >>> from isthmus.regression import ReducedRankRegression, compare_ranks
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 6))
    >>> Y = X @ rng.normal(size=(6, 2)) @ rng.normal(size=(2, 4)) + rng.normal(size=(90, 4))
    >>> models = {"RRR": ReducedRankRegression(), "PLS": PLSRegression(scale=False)}
    >>> table = compare_ranks(X, Y, models, ranks=[1, 2, 3], cv=3)
    >>> table.groupby(["estimator", "rank"]).rmse.mean().unstack().shape
    (2, 3)
    """
    pandas = load_extra("pandas", "app", "compare_ranks")
    named = _name_estimators(estimators)
    ranks = list(ranks)
    if not ranks:
        raise ValueError("compare_ranks needs at least one rank. Got none.")
    truth = np.asarray(Y)
    rows = []
    splits = list(check_cv(cv).split(np.empty(_num_samples(X))))
    for name, estimator in named.items():
        for fold, (train, test) in enumerate(splits):
            parts = [_safe_indexing(part, idx) for idx in (train, test) for part in (X, Y)]
            X_train, Y_train, X_test, _ = parts
            for rank, model, seconds in _fits(estimator, ranks, X_train, Y_train):
                rows.append(
                    {
                        "estimator": name,
                        "rank": rank,
                        "fold": fold,
                        "rmse": _rmse(truth[test], model.predict(X_test)),
                        "train_rmse": _rmse(truth[train], model.predict(X_train)),
                        "fit_seconds": seconds,
                    }
                )
    return pandas.DataFrame(rows)


def _name_estimators(estimators: Any) -> dict[str, BaseEstimator]:
    if isinstance(estimators, Mapping):
        return dict(estimators)
    listed = [estimators] if hasattr(estimators, "fit") else list(estimators)
    names = [type(e).__name__ for e in listed]
    named = {
        name if names.count(name) == 1 else f"{name}-{names[: i + 1].count(name)}": e
        for i, (name, e) in enumerate(zip(names, listed, strict=True))
    }
    return named


def _fits(estimator: Any, ranks: list[int], X: Any, Y: Any) -> Iterable[tuple[int, Any, float]]:
    """The estimator fitted at each rank, with the seconds that took."""
    parameter = _rank_parameter(estimator)
    model, knows_all_ranks = None, False
    for rank in ranks:
        seconds = 0.0
        if model is None or (parameter is not None and not knows_all_ranks):
            model = clone(estimator)
            if parameter is not None:
                model.set_params(**{parameter: rank})
            start = time.perf_counter()
            model.fit(X, Y)
            seconds = time.perf_counter() - start
            # Not where a penalty was chosen: that was for this rank alone.
            knows_all_ranks = hasattr(model, "at_rank") and model.cv_error_ is None
        yield rank, model.at_rank(rank) if knows_all_ranks else model, seconds


def _rank_parameter(estimator: Any) -> str | None:
    """Name of the parameter that is the rank; the outermost and first one found."""
    names = sorted(estimator.get_params(deep=True), key=lambda name: name.count("__"))
    for wanted in RANK_PARAMETERS:
        for name in names:
            if name.rsplit("__", 1)[-1] == wanted:
                return name
    return None


def _rmse(true: Any, predicted: Any) -> float:
    true = np.asarray(true, dtype=np.float64)
    return float(np.sqrt(np.mean((true - np.asarray(predicted).reshape(true.shape)) ** 2)))
