r"""The reconstruction error of unsupervised kernel regression and its gradient.

A point :math:`x_j` of latent space is reconstructed from centres :math:`\hat x_i` with outputs
:math:`\hat y_i` as :math:`f_j`, a local polynomial (see :mod:`isthmus.smoothers`). The error is the
mean of a loss of :math:`r_j=f_j-y_j`. Without landmarks the centres are the points themselves, and
the two gradients add up.
"""

from typing import NamedTuple

from isthmus.manifold.ukr.losses import Loss
from isthmus.smoothers.local_polynomial import LocalPolynomial
from isthmus.smoothers.pairs import Pairs
from isthmus.smoothers.pull_back import pull_back
from isthmus.typing import Array, IntArray


class ErrorSlopes(NamedTuple):
    """Mean loss, its gradients, the reconstructions, and how many points nothing reaches."""

    value: float
    by_point: Array
    by_centre: Array
    by_output: Array | None
    fitted: Array
    n_alone: int


def reconstruction_error(
    Xe: Array,
    Xc: Array,
    targets: Array,
    outputs: Array,
    smoother: LocalPolynomial,
    loss: Loss,
    *,
    excluded: IntArray | None = None,
    pairs: Pairs | None = None,
    by_output: bool = False,
) -> ErrorSlopes:
    r"""Mean loss of the reconstructions at ``Xe`` and its gradients.

    Parameters
    ----------
    Xe, targets : arrays of shape (N, q) and (N, d)
        Points and what should be reconstructed there.
    Xc, outputs : arrays of shape (n, q) and (n, d)
        Centres and their outputs.
    smoother, loss : what makes a reconstruction, and what it costs.
    excluded, pairs, by_output :
        As in :func:`isthmus.smoothers.pull_back.pull_back`.
    """
    N, total = len(Xe), 0.0

    def slope_of(F: Array, rows: slice) -> Array:
        nonlocal total
        values, slopes = loss(F - targets[rows], rows)
        total += values.sum()
        return slopes

    found = pull_back(
        smoother, Xe, Xc, outputs, slope_of, excluded=excluded, pairs=pairs, by_output=by_output
    )
    return ErrorSlopes(
        total / N,
        found.by_point / N,
        found.by_centre / N,
        None if found.by_output is None else found.by_output / N,
        found.values,
        found.n_alone,
    )
