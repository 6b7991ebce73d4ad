"""Classification by the dictionary that represents a signal best."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import (
    check_scale,
)
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, integer, jobs, none, real, seed, verbosity
from isthmus._progress import ProgressLine
from isthmus.sparse.dictionary.classifier_formulas import class_codes, competition, descent, n_wrong
from isthmus.sparse.dictionary.ksvd.estimator import KSVD
from isthmus.sparse.dictionary.ksvd.formulas import SparseCodes
from isthmus.sparse.pursuit.checks import count_limit
from isthmus.sparse.pursuit.matching import unit_rows
from isthmus.typing import Array, IntArray

# Steps shorter than this (turn of the atom that turns most, in radians) go nowhere.
_SHORTEST = 1e-5


class DictionaryClassifier(ClassifierMixin, Estimator):
    r"""One dictionary per class; a signal belongs to the class whose dictionary represents it best.

    .. math:: c(x)=\arg\min_c\ \min_{\|a\|_0\le S}\|x-aD_c\|^2

    for signals scaled to unit length. The dictionaries are learned by K-SVD, each from its own
    class. With ``discrimination`` :math:`\lambda>0` they then compete,

    .. math:: \min\sum_i R_{y_i}(x_i)+\log\sum_c\exp\bigl(-\lambda(R_c(x_i)-R_{y_i}(x_i))\bigr),

    where :math:`R_c` is the squared residual over dictionary c [Mairal2008]_: atoms are drawn to
    signals of their class, the more so the less clearly these are recognised, and pushed
    away from signals of other classes that they represent too well.

    Parameters
    ----------
    n_atoms : int or None, default=None
        Atoms of each class, at most as many as it has signals. None takes half the signals of the
        class, but no more than there are features.
    n_nonzero : int or None, default=None
        Maximum number of non-zeros of a code; None takes a tenth of the features, at least one.
    discrimination : float, default=0.0
        The strength λ of the competition, in units of one over a squared residual. It should be
        several times one over the usual distance between the residuals of two classes, mostly 30
        or more: a weak λ calls no signal recognised, and pushes atoms away from all of them.
        The round with the fewest errors in training is kept, which is reconstruction alone where
        the competition does not help. Small dictionaries, which err in training, gain most.
    max_iter : int, default=20
        Maximum number of sweeps of K-SVD.
    max_iter_competition : int, default=30
        Maximum number of rounds of the competition; it ends earlier where the objective no longer
        falls.
    n_jobs : int or None, default=None
        Threads of the pursuits.
    random_state : int, RandomState or None
    verbose : int, default=0
        1 shows a progress line on a terminal.

    Attributes
    ----------
    dictionaries_ : list of ndarrays of shape (n_atoms, n_features)
    classes_ : ndarray
    n_iter_ : int
        Sweeps of the longest K-SVD.
    objective_ : ndarray
        The objective of the competition before each round; empty without it.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from isthmus.sparse import DictionaryClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = DictionaryClassifier(20, n_nonzero=4, max_iter=5, random_state=0)
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.9)
    True
    """

    __module__ = "isthmus.sparse"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_atoms": none | integer(1),
        "n_nonzero": none | integer(1),
        "discrimination": real(0),
        "max_iter": integer(1),
        "max_iter_competition": integer(1),
        "n_jobs": jobs,
        "random_state": seed,
        "verbose": verbosity,
    }

    def __init__(
        self,
        n_atoms: int | None = None,
        *,
        n_nonzero: int | None = None,
        discrimination: float = 0.0,
        max_iter: int = 20,
        max_iter_competition: int = 30,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_atoms = n_atoms
        self.n_nonzero = n_nonzero
        self.discrimination = discrimination
        self.max_iter = max_iter
        self.max_iter_competition = max_iter_competition
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A signal and its negative share a code and a class: clouds about points are not for this.
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Learn a dictionary of each class; return self."""
        rng = check_random_state(self.random_state)
        strength = float(self.discrimination)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_scale(self, X)
        check_classification_targets(y)
        d = X.shape[1]
        given = None if self.n_nonzero is None else min(self.n_nonzero, d)
        n_nonzero = count_limit(type(self).__name__, given, None, d, d)
        classes, labels = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                "DictionaryClassifier needs signals of at least 2 classes. Got 1 class: "
                f"{classes.tolist()[0]!r}."
            )
        X = unit_rows(X)[0]
        learned = [self._learn_class(X[labels == c], n_nonzero, rng) for c in range(len(classes))]
        dictionaries = [atoms for atoms, _ in learned]
        history: list[float] = []
        if strength > 0:
            dictionaries, history = self._compete(X, labels, dictionaries, n_nonzero, strength)
        self.classes_, self.dictionaries_ = classes, dictionaries
        self.objective_ = np.array(history)
        self.n_iter_ = max(n_sweeps for _, n_sweeps in learned)
        self._n_nonzero = n_nonzero
        return self

    def _learn_class(self, X: Array, n_nonzero: int, rng: np.random.RandomState) -> Any:
        """Atoms learned from the signals of one class, and the number of sweeps it took."""
        if len(X) == 1:
            return X.copy(), 1
        most = max(1, min(X.shape[1], len(X) // 2))
        n_atoms = most if self.n_atoms is None else min(self.n_atoms, len(X))
        model = KSVD(
            n_atoms,
            n_nonzero=min(n_nonzero, n_atoms),
            max_iter=self.max_iter,
            rule="correlation",
            n_jobs=self.n_jobs,
            random_state=rng,
        )
        model.fit(X)
        return model.components_, model.n_iter_

    def _compete(
        self,
        X: Array,
        labels: IntArray,
        dictionaries: list[Array],
        n_nonzero: int,
        strength: float,
    ) -> tuple[list[Array], list[float]]:
        """Rounds of the competition; the best dictionaries and the objective before each round.

        The best make the fewest errors in training, the earliest of those that make as many.
        """
        step, history = 1.0, []
        state = self._evaluate(X, labels, dictionaries, n_nonzero, strength)
        best, fewest = dictionaries, n_wrong(state[2], labels)
        with ProgressLine("DictionaryClassifier", verbose=self.verbose) as line:
            for n_round in range(self.max_iter_competition):
                value, weights, codes = state
                history.append(value)
                line.update(round=n_round + 1, objective=value)
                downhill = descent(dictionaries, codes, weights)
                while step > _SHORTEST:
                    trial = [
                        unit_rows(D + step * move)[0]
                        for D, move in zip(dictionaries, downhill, strict=True)
                    ]
                    state = self._evaluate(X, labels, trial, n_nonzero, strength)
                    if state[0] < value:
                        break
                    step /= 4
                else:
                    break
                dictionaries, step = trial, 2 * step
                wrong = n_wrong(state[2], labels)
                if wrong < fewest:
                    best, fewest = dictionaries, wrong
        return best, history

    def _evaluate(
        self, X: Array, labels: IntArray, dictionaries: list[Array], n_nonzero: int, strength: float
    ) -> tuple[float, Array, list[SparseCodes]]:
        codes = class_codes(X, dictionaries, n_nonzero, self.n_jobs)
        errors = np.column_stack([c.errors for c in codes])
        return *competition(errors, labels, strength), codes

    def residuals(self, X: Any) -> Array:
        """Squared residuals over the dictionary of each class, as shares of the signal's energy.

        Returns an array of shape (n_signals, n_classes).
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        codes = class_codes(unit_rows(X)[0], self.dictionaries_, self._n_nonzero, self.n_jobs)
        return np.column_stack([c.errors for c in codes])

    def decision_function(self, X: Any) -> Array:
        """Negative residuals, shape (n_signals, n_classes); of two classes their difference."""
        errors = self.residuals(X)
        return errors[:, 0] - errors[:, 1] if len(self.classes_) == 2 else -errors

    def predict(self, X: Any) -> Any:
        """Return the class of each signal."""
        nearest = self.residuals(X).argmin(axis=1)
        return self.classes_[nearest]
