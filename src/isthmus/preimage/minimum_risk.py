"""The answer of least expected loss."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import check_length, shortened
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, choice, condition, none, resolved_by
from isthmus.blocks.slices import block_slices
from isthmus.kernels.objects import n_objects
from isthmus.losses.tasks.base import Candidates, Decoded, LinearTaskLoss, best_candidates
from isthmus.losses.tasks.collections import join_outputs
from isthmus.losses.tasks.resolve import as_task_loss
from isthmus.typing import Array, Objects


def is_collection(value: Any) -> bool:
    """Whether a value can be a collection of objects, of which there is one at least."""
    if isinstance(value, (str, bytes, dict, set, frozenset, type)):
        return False
    if hasattr(value, "shape"):
        return len(value.shape) > 0 and 0 not in value.shape
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") and len(value) > 0


class MinimumRiskPreimage(Estimator):
    r"""The answer of least expected loss, :math:`\arg\min_y\sum_iw_i\,\Delta(y,y_i)`.

    A smoother gives the weights :math:`w_i(x)` of the training outputs. The rule is consistent
    for every loss for which the smoother's regression is [Ciliberto2020]_; each loss brings its
    own search and says where it is exact.

    Kernel ridge regression has negative weights, and it needs them: the weighted sums are its
    predictions. By default they are used as they are. ``weights="clipped"`` sets them to zero and
    scales the rest of each row to sum to one, so that they are probabilities of the training
    outputs.

    Parameters
    ----------
    loss : name, TaskLoss or function of two objects, default="zero_one"
    candidates : collection of objects or None, default=None
        What may be answered. None leaves it to the loss, which may find answers that were never
        seen, or else takes the best training output.
    weights : {"signed", "clipped"}, default="signed"
        How negative weights are treated.

    Attributes
    ----------
    loss_ : TaskLoss
    objects_ : the training outputs

    Examples
    --------
    >>> from isthmus.preimage import MinimumRiskPreimage
    >>> words = ["cat", "cart", "dog"]
    >>> length = MinimumRiskPreimage(lambda y, z: abs(len(y) - len(z))).fit(words)
    >>> length.solve([[0.2, 0.6, 0.2], [0.4, 0.2, 0.4]])
    array(['cart', 'cat'], dtype=object)
    """

    __module__ = "isthmus.preimage"

    #: What it is given in place of coordinates, see :mod:`isthmus.typing`.
    needs: frozenset[str] = frozenset({"weights"})
    #: What it offers.
    provides: frozenset[str] = frozenset({"solve"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "loss": resolved_by(as_task_loss, "a task loss, its name or a function of two objects"),
        "candidates": condition("a list or an array of objects", is_collection) | none,
        "weights": choice("signed", "clipped"),
    }

    def __init__(self, loss: Any = "zero_one", *, candidates: Any = None, weights: str = "signed"):
        self.loss = loss
        self.candidates = candidates
        self.weights = weights

    def fit(
        self, objects: Objects, feature_map: Any = None, coordinates: Array | None = None
    ) -> Self:
        """Keep the training outputs; return self. Features of them are not needed."""
        if not is_collection(objects):
            raise TypeError(
                "MinimumRiskPreimage is fitted on a list or an array of one output or more. "
                f"Got {shortened(objects)} instead."
            )
        loss = as_task_loss(self.loss)
        outputs = loss.check(objects)
        loss = loss.resolve(outputs)
        answers = None if self.candidates is None else loss.check(self.candidates)
        searched = answers is None
        self.prepared_ = loss.prepare(outputs) if searched else Candidates(outputs, loss, answers)
        self.loss_, self.objects_, self.n_outputs_ = loss, outputs, n_objects(outputs)
        return self

    @property
    def by_columns(self) -> bool:
        """Whether expected columns are enough, so that no weights need be formed."""
        plain = self.candidates is None and self.weights == "signed"
        return plain and isinstance(self.loss_, LinearTaskLoss)

    @property
    def columns(self) -> Any:
        """The columns (n_outputs, p) of the training outputs that the loss asks for."""
        prepared: Any = self.prepared_
        return prepared.columns

    def solve(self, coordinates: Any, start: Objects = None) -> Objects:
        """Return one object for each row of weights (n, n_outputs), dense or sparse.

        ``start`` is ignored: every loss brings its own starts.
        """
        return self.decode(coordinates).outputs

    def decode(self, weights: Any) -> Decoded:
        """Return the answers with their risk and whether each is proved to be the best."""
        check_is_fitted(self)
        W = self._check_weights(weights)
        found = [self._decode(W[rows]) for rows in block_slices(W.shape[0], 4 * W.shape[1])]
        return join_decoded(found)

    def decode_columns(self, values: Array) -> Decoded:
        """The answers for expected values of the loss's columns, see :attr:`by_columns`."""
        check_is_fitted(self)
        loss: Any = self.loss_
        blocks = block_slices(len(values), 16 * values.shape[1])
        return join_decoded([loss.decode_columns(values[rows], self.prepared_) for rows in blocks])

    def objective(self, coordinates: Any, objects: Objects) -> Array:
        """The risk that is minimised, for each pair of a row of weights and an object."""
        check_is_fitted(self)
        W = self._check_weights(coordinates)
        check_length(self, W.shape[0], n_objects(objects), what="objects as rows of weights")
        return self.loss_.risk(W, objects, self.objects_)

    def _decode(self, W: Any) -> Decoded:
        if self.candidates is None:
            return self.loss_.decode(W, self.prepared_)
        return best_candidates(self.loss_, W, self.prepared_)

    def _check_weights(self, weights: Any) -> Any:
        W = check_array(
            weights,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            input_name="weights",
            estimator=self,
        )
        if W.shape[1] != self.n_outputs_:
            raise ValueError(
                f"MinimumRiskPreimage was fitted on {self.n_outputs_} outputs, so it needs as many "
                f"weights per row. Got shape {W.shape} instead."
            )
        return W if self.weights == "signed" else clipped(W)


def clipped(W: Any) -> Any:
    """Weights without their negative part, each row scaled to sum to one.

    A row without positive weights counts all outputs alike.

    >>> import numpy as np
    >>> clipped(np.array([[0.75, 0.75, -0.5], [-1.0, 0.0, -1.0]]))
    array([[0.5       , 0.5       , 0.        ],
           [0.33333333, 0.33333333, 0.33333333]])
    """
    if sparse.issparse(W):
        positive = sparse.csr_array(W.maximum(0))
        sums = np.asarray(positive.sum(axis=1)).ravel()
        if (sums > 0).all():
            return sparse.csr_array(sparse.diags_array(1 / sums) @ positive)
        return clipped(W.toarray())
    positive = np.maximum(W, 0)
    sums = positive.sum(axis=1, keepdims=True)
    flat = sums[:, 0] <= 0
    positive[flat], sums[flat] = 1.0, W.shape[1]
    return positive / sums


def join_decoded(found: list[Decoded]) -> Decoded:
    """The answers of several batches, one after the other."""
    return Decoded(
        join_outputs([part.outputs for part in found]),
        np.concatenate([part.risk for part in found]),
        np.concatenate([part.exact for part in found]),
    )
