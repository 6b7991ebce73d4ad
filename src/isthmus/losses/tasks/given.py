"""A function of two objects as a loss."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.losses.tasks.base import TaskLoss
from isthmus.losses.tasks.collections import n_outputs
from isthmus.typing import Array, Objects


@dataclass
class FunctionLoss(TaskLoss):
    r"""The loss :math:`\Delta(y,y')` that a function computes for one pair of objects.

    The answer is the best of the training outputs, or of the candidates that
    ``MinimumRiskPreimage`` is given. The loss need not be symmetric: the answer comes first, the
    truth second.

    Parameters
    ----------
    function : callable
        ``function(answer, truth)``, a number that is not negative.

    Examples
    --------
    >>> from isthmus.losses import FunctionLoss
    >>> loss = FunctionLoss(lambda y, z: abs(len(y) - len(z)))
    >>> words = ["a", "bb", "cccccc"]
    >>> loss.decode([[0.3, 0.4, 0.3]], loss.prepare(words)).outputs
    array(['bb'], dtype=object)
    """

    __module__ = "isthmus.losses"

    function: Callable[[Any, Any], float]

    def cost(self, Y: Objects, Z: Objects) -> Array:
        return np.array(
            [
                [float(self.function(Y[i], Z[j])) for j in range(n_outputs(Z))]
                for i in range(n_outputs(Y))
            ]
        )
