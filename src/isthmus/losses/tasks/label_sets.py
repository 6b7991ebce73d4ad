"""Label sets as tables of zeros and ones, and the losses that need the labels alone."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from isthmus._checks import shortened
from isthmus._parameters import Constraint, check_parameters, integer, numbers, real
from isthmus.losses.tasks.base import Decoded, LinearTaskLoss
from isthmus.typing import Array, Objects


class LabelColumns(NamedTuple):
    """The labels of the training outputs, a column of ones behind, and how they came."""

    columns: Any  # csr, (n, n_labels + 1)
    template: Any  # no rows, but the type of the outputs

    @property
    def n_labels(self) -> int:
        return int(self.template.shape[1])


def check_label_sets(owner: Any, outputs: Objects) -> Any:
    """A table of zeros and ones (n, n_labels), dense or sparse, as scikit-learn writes them."""
    Y = outputs
    if not sparse.issparse(Y):
        try:
            Y = np.asarray(Y)
        except ValueError as error:
            raise ValueError(_wrong_sets(owner, outputs)) from error
    if Y.ndim != 2 or Y.dtype.kind not in "biuf":
        raise ValueError(_wrong_sets(owner, outputs))
    Y = check_array(Y, accept_sparse="csr", dtype=None, input_name="y")
    values = Y.data if sparse.issparse(Y) else Y
    if not ((values == 0) | (values == 1)).all():
        raise ValueError(_wrong_sets(owner, outputs))
    return sparse.csr_array(Y) if sparse.issparse(Y) else Y


def _wrong_sets(owner: Any, outputs: Any) -> str:
    return (
        f"{type(owner).__name__} needs label sets as a table of zeros and ones with a column for "
        "each label, such as scikit-learn's MultiLabelBinarizer makes. "
        f"Got {shortened(outputs)} instead."
    )


def as_sparse(Y: Any) -> Any:
    """The labels as a sparse array of numbers."""
    return sparse.csr_array(Y, dtype=np.float64)


def like_given(H: Any, template: Any) -> Any:
    """Answers (n, n_labels) in the form in which the training outputs came."""
    if sparse.issparse(template):
        return sparse.csr_array(H, dtype=template.dtype)
    return np.asarray(H, dtype=template.dtype)


def overlaps(Y: Any, Z: Any) -> tuple[Array, Array, Array]:
    """Labels that answers and truths share (n, m), and the sizes of both, to be broadcast."""
    Y, Z = as_sparse(Y), as_sparse(Z)
    sizes = np.asarray(Y.sum(axis=1)).ravel()[:, None], np.asarray(Z.sum(axis=1)).ravel()[None]
    return (Y @ Z.T).toarray(), *sizes


def paired_overlaps(Y: Any, Z: Any) -> tuple[Array, Array, Array]:
    """The same for pairs, each of shape (n,)."""
    Y, Z = as_sparse(Y), as_sparse(Z)
    return tuple(np.asarray(part.sum(axis=1)).ravel() for part in (Y.multiply(Z), Y, Z))  # type: ignore[return-value]


class LabelSetLoss(LinearTaskLoss):
    """Base of losses of label sets: tables of zeros and ones, dense or sparse."""

    __module__ = "isthmus.losses"

    def check(self, outputs: Objects) -> Any:
        check_parameters(self)
        return check_label_sets(self, outputs)

    def prepare(self, outputs: Objects) -> Any:
        return LabelColumns(self.columns(outputs, None), outputs[:0])

    def columns(self, outputs: Objects, prepared: Any) -> Any:
        ones = sparse.csr_array(np.ones((outputs.shape[0], 1)))
        return sparse.csr_array(sparse.hstack([as_sparse(outputs), ones]))


class OverlapLoss(LabelSetLoss):
    """Base of those that depend on the sizes of two sets and on what they share alone."""

    __module__ = "isthmus.losses"

    @abstractmethod
    def from_overlap(self, shared: Array, n_answer: Array, n_truth: Array, m: int) -> Array:
        """Cost of an answer of some size that shares some of the labels of the truth."""

    def cost(self, Y: Objects, Z: Objects) -> Array:
        return self.from_overlap(*overlaps(Y, Z), Y.shape[1])

    def paired(self, Y: Objects, Z: Objects) -> Array:
        return self.from_overlap(*paired_overlaps(Y, Z), Y.shape[1])


@dataclass
class Hamming(LabelSetLoss):
    r"""Share of the labels that are wrong; the answer has a label where its weight is above half.

    .. math:: \Delta(h,y)=\tfrac1m\sum_j[h_j\ne y_j],\qquad
              \hat h_j=\bigl[\textstyle\sum_iw_iy_{ij}>\tfrac12\sum_iw_i\bigr].

    Exact, also for negative weights.

    Parameters
    ----------
    miss : float or sequence of float, default=1.0
        Cost of a label that is missed, where one that is wrongly given costs 1; one for all or
        one for each label. The answer then has a label where ``miss`` times its weight is above
        the rest.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.losses import Hamming
    >>> Y = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]])
    >>> Hamming().decode(np.array([[0.4, 0.4, 0.2]]), Hamming().prepare(Y)).outputs
    array([[1, 1, 0]])
    """

    __module__ = "isthmus.losses"

    _constraints: ClassVar[dict[str, Constraint]] = {"miss": real(0) | numbers(1)}

    miss: Any = 1.0

    def cost(self, Y: Objects, Z: Objects) -> Array:
        Y, Z = as_sparse(Y), as_sparse(Z)
        miss = self._misses(Y.shape[1])
        shared, dear = (Y @ Z.T).toarray(), (Y @ (Z * miss).T).toarray()
        return (Y.sum(axis=1)[:, None] - shared + (Z @ miss)[None] - dear) / Y.shape[1]

    def paired(self, Y: Objects, Z: Objects) -> Array:
        Y, Z = as_sparse(Y), as_sparse(Z)
        miss, both = self._misses(Y.shape[1]), Y * Z
        return (Y.sum(axis=1) - both.sum(axis=1) + Z @ miss - both @ miss) / Y.shape[1]

    def decode_columns(self, values: Array, prepared: Any) -> Decoded:
        share, total = values[:, :-1], values[:, -1:]
        missed = self._misses(share.shape[1]) * share
        H = missed > total - share
        risk = np.where(H, total - share, missed).mean(axis=1)
        return Decoded(like_given(H, prepared.template), risk, np.ones(len(H), dtype=bool))

    def _misses(self, m: int) -> Array:
        miss = np.asarray(self.miss, dtype=np.float64)
        if (miss.ndim and miss.shape != (m,)) or (miss < 0).any():
            raise ValueError(
                f"The 'miss' of Hamming must be a number or one for each of the {m} labels, none "
                f"negative. Got {shortened(self.miss)} instead."
            )
        return np.broadcast_to(miss, (m,))


@dataclass
class PrecisionAtK(OverlapLoss):
    r"""Share of wrong labels among the ``k`` that are answered, :math:`1-|h\wedge y|/k`.

    The answer is the ``k`` labels of largest weight. Exact, also for negative weights.

    Parameters
    ----------
    k : int, default=1
        Number of labels in every answer; all of them where there are fewer.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.losses import PrecisionAtK
    >>> Y = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1]])
    >>> loss = PrecisionAtK(1)
    >>> loss.decode(np.array([[0.3, 0.3, 0.4]]), loss.prepare(Y)).outputs
    array([[0, 1, 0]])
    """

    __module__ = "isthmus.losses"
    _constraints: ClassVar[dict[str, Constraint]] = {"k": integer(1)}

    k: int = 1

    def from_overlap(self, shared: Array, n_answer: Array, n_truth: Array, m: int) -> Array:
        k = min(self.k, m)
        # An answer of another size is judged as if it were filled up with wrong labels.
        return 1 - np.minimum(shared, k) / np.maximum(k, n_answer) + 0 * n_truth

    def decode_columns(self, values: Array, prepared: Any) -> Decoded:
        share, total = values[:, :-1], values[:, -1]
        k = min(self.k, share.shape[1])
        top = np.argsort(-share, axis=1, kind="stable")[:, :k]
        H = np.zeros(share.shape, dtype=bool)
        np.put_along_axis(H, top, True, axis=1)
        risk = total - np.take_along_axis(share, top, axis=1).sum(axis=1) / k
        return Decoded(like_given(H, prepared.template), risk, np.ones(len(H), dtype=bool))
