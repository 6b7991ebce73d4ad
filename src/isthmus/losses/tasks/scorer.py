"""A loss of objects as a scorer of scikit-learn."""

from typing import Any

import numpy as np

from isthmus.losses.tasks.resolve import as_task_loss


class LossScorer:
    """``scorer(estimator, X, y)``: the mean loss of the predictions with a minus sign.

    Parameters
    ----------
    loss : name, TaskLoss or function of two objects

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from isthmus.losses import LossScorer
    >>> from isthmus.structured import DependencyEstimator
    >>> X = np.linspace(0, 1, 30)[:, None]
    >>> Y = np.column_stack([X < 0.5, X > 0.2, X > 0.7]).astype(int)
    >>> model = DependencyEstimator(loss="f1")
    >>> bool(cross_val_score(model, X, Y, scoring=LossScorer("f1"), cv=3).mean() <= 0)
    True
    """

    __module__ = "isthmus.losses"

    def __init__(self, loss: Any):
        self.loss = loss

    def __repr__(self) -> str:
        return f"LossScorer({self.loss!r})"

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of a fitted estimator; larger is better."""
        loss = as_task_loss(self.loss)
        costs = loss.paired(estimator.predict(X), loss.check(y))
        return -float(np.average(costs, weights=sample_weight))
