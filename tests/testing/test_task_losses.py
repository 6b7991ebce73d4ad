"""Every loss of objects keeps its contract."""

import inspect

import numpy as np
import pytest
from scipy import sparse

import isthmus.losses
from isthmus.losses import (
    F1,
    Absolute,
    AlignmentDistance,
    CostMatrix,
    EditDistance,
    Epsilon,
    FunctionLoss,
    GraphEditDistance,
    Hamming,
    Huber,
    IntervalLoss,
    Jaccard,
    Kendall,
    PrecisionAtK,
    Quantile,
    Spearman,
    Squared,
    TaskLoss,
    VectorLoss,
    ZeroOne,
)
from isthmus.losses.tasks.resolve import TASK_LOSSES
from isthmus.testing import check_task_loss

from .data import MOLECULES, OUTPUTS, SERIES, WORDS
from .foreign import InitialLoss, MiddleLoss

rng = np.random.default_rng(1)
LABELS = np.array(list("abcabcaabbcc"))
SETS = (rng.random((20, 6)) < 0.35).astype(int)
MANY = (rng.random((20, 14)) < 0.2).astype(int)
RANKS = np.array([rng.permutation(5) for _ in range(15)])
LONG_RANKS = np.array([rng.permutation(12) + 1 for _ in range(15)])
COSTS = [[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]]
NAMED_OUTPUTS = {
    "zero_one": LABELS, "hamming": SETS, "f1": SETS, "jaccard": SETS, "precision_at_k": SETS,
    "absolute": OUTPUTS, "quantile": OUTPUTS, "squared": OUTPUTS, "huber": OUTPUTS,
    "epsilon": OUTPUTS, "interval": OUTPUTS[:, 0], "kendall": RANKS, "spearman": RANKS,
    "edit": WORDS, "graph_edit": MOLECULES, "alignment": SERIES,
}  # fmt: skip


def difference(a, b):
    return float(abs(len(a) - len(b)))


EVERY = [
    (ZeroOne(), LABELS),
    (ZeroOne(), WORDS),
    (CostMatrix(COSTS), LABELS),
    (CostMatrix(COSTS, classes=["c", "a", "b"]), LABELS),
    (Hamming(), SETS),
    (Hamming(miss=2.0), sparse.csr_array(SETS)),
    (F1(), SETS),
    (F1(), sparse.csr_array(MANY)),
    (Jaccard(), SETS),
    (Jaccard(), MANY),
    (PrecisionAtK(2), SETS),
    (VectorLoss(Absolute()), OUTPUTS),
    (VectorLoss(Squared()), OUTPUTS[:, 0]),
    (VectorLoss(Quantile(0.9)), OUTPUTS),
    (VectorLoss(Huber()), OUTPUTS),
    (VectorLoss(Epsilon(0.1)), OUTPUTS[:, 0]),
    (IntervalLoss(0.8), OUTPUTS),
    (IntervalLoss(), OUTPUTS[:, 0]),
    (Kendall(), RANKS),
    (Kendall(), LONG_RANKS),
    (Spearman(), LONG_RANKS),
    (EditDistance(), WORDS),
    (EditDistance(0.7, substitution={("a", "b"): 0.2}), [list(word) for word in WORDS]),
    (EditDistance(search=False), WORDS),
    (GraphEditDistance(), MOLECULES),
    (AlignmentDistance(), SERIES),
    (FunctionLoss(difference), WORDS),
    (difference, WORDS),
    (Quantile(0.3), OUTPUTS),
    (InitialLoss(), WORDS),
    (MiddleLoss(), OUTPUTS[:, 0]),
    *((name, NAMED_OUTPUTS[name]) for name in TASK_LOSSES),
]


def called(value):
    """A name that is the same in every process; outputs need none."""
    if inspect.isfunction(value):
        return value.__name__
    if isinstance(value, (str, TaskLoss)):
        return repr(value).split(" at 0x")[0][:60]
    return type(value).__name__


@pytest.mark.parametrize(("loss", "outputs"), EVERY, ids=called)
def test_task_loss(loss, outputs):
    assert len(check_task_loss(loss, outputs).facts) >= 15


def test_no_task_loss_is_left_out():
    public = [getattr(isthmus.losses, name) for name in isthmus.losses.__all__]
    losses = {c for c in public if inspect.isclass(c) and issubclass(c, TaskLoss)}
    assert {c for c in losses if not inspect.isabstract(c)} <= {type(loss) for loss, _ in EVERY}
    assert set(NAMED_OUTPUTS) == set(TASK_LOSSES)
