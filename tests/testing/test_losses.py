"""Every loss keeps its contract."""

import inspect

import pytest

import isthmus.losses
from isthmus.losses import (
    Absolute,
    Epsilon,
    Huber,
    LogCosh,
    Logistic,
    Loss,
    PseudoHuber,
    Quantile,
    Squared,
)
from isthmus.losses.resolve import LOSSES
from isthmus.testing import check_loss

from .data import name
from .foreign import FairLoss, PoissonLoss

EVERY = [
    Squared(),
    Absolute(),
    Absolute(smoothing="tanh"),
    Absolute(shape="ball"),
    Huber(),
    Huber(0.3, shape="ball"),
    PseudoHuber(),
    PseudoHuber(2.0, shape="ball"),
    LogCosh(),
    LogCosh(0.5, shape="ball"),
    Epsilon(),
    Epsilon(0.3, shape="ball"),
    Epsilon(0.3, power=2),
    Epsilon([0.1, 0.2, 0.3, 0.4, 0.1, 0.2, 0.3], power=2, shape="ball"),
    Quantile(0.2),
    Logistic(),
    FairLoss(0.5),
    PoissonLoss(),
    *LOSSES,
]


@pytest.mark.parametrize("loss", EVERY, ids=name)
def test_loss(loss):
    assert len(check_loss(loss).facts) >= 9


def test_no_loss_is_left_out():
    public = [getattr(isthmus.losses, name) for name in isthmus.losses.__all__]
    losses = {c for c in public if inspect.isclass(c) and issubclass(c, Loss)}
    assert {c for c in losses if not inspect.isabstract(c)} <= {type(loss) for loss in EVERY}
