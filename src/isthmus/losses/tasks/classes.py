"""Losses of labels: right or wrong, and costs for each kind of mistake."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from isthmus._parameters import Constraint, check_parameters, numbers
from isthmus.losses.tasks.base import Decoded, LinearTaskLoss, check_costs
from isthmus.losses.tasks.collections import distinct, n_outputs, output_keys, take_outputs
from isthmus.typing import Array, Objects


class Indicators(NamedTuple):
    """A column for each distinct output, which is one where a row has it."""

    columns: Any  # csr, (n, n_distinct)
    outputs: Objects  # the distinct ones
    place: Mapping[Any, int]


def check_comparable(owner: Any, outputs: Objects) -> Objects:
    """The outputs, if each of them can be told from the others and is equal to itself."""
    numbers: Any = outputs.data if sparse.issparse(outputs) else np.asarray(outputs) \
        if hasattr(outputs, "dtype") else None  # fmt: skip
    if np.ma.is_masked(outputs):
        raise ValueError(f"{type(owner).__name__} takes no masked outputs: fill them first.")
    if numbers is not None and numbers.dtype.kind in "fc" and not np.isfinite(numbers).all():
        raise ValueError(f"{type(owner).__name__} expected finite outputs. Got NaN or infinity.")
    if numbers is not None and numbers.dtype.kind != "O":
        return outputs
    for position in range(n_outputs(outputs)):
        thing = outputs.iloc[position] if hasattr(outputs, "iloc") else outputs[position]
        alone = isinstance(thing, (dict, set)) or (isinstance(thing, float) and thing != thing)
        if thing is None or alone:
            raise ValueError(
                f"{type(owner).__name__} compares outputs by ==. Got {thing!r:.60} of type "
                f"{type(thing).__name__} at position {position}."
            )
    return outputs


@dataclass
class ZeroOne(LinearTaskLoss):
    r"""Cost 1 for a wrong answer, 0 for the right one: the answer is the output of largest weight.

    For labels, for whole label sets (subset accuracy) and for anything that can be compared by
    ``==``. An answer that was never seen has no weight, so the best of those seen is the best of
    all as long as one of them has a positive weight.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.losses import ZeroOne
    >>> loss = ZeroOne()
    >>> found = loss.decode(np.array([[0.3, 0.3, 0.4]]), loss.prepare(["a", "a", "b"]))
    >>> found.outputs, found.exact
    (array(['a'], dtype=object), array([ True]))
    """

    __module__ = "isthmus.losses"
    finite: ClassVar[bool] = True

    def check(self, outputs: Objects) -> Objects:
        return check_comparable(self, outputs)

    def cost(self, Y: Objects, Z: Objects) -> Array:
        a, b = output_keys(Y), output_keys(Z)
        return np.array([[float(y != z) for z in b] for y in a])

    def paired(self, Y: Objects, Z: Objects) -> Array:
        return np.array(
            [float(y != z) for y, z in zip(output_keys(Y), output_keys(Z), strict=True)]
        )

    def prepare(self, outputs: Objects) -> Indicators:
        found, number = distinct(outputs)
        place = {key: i for i, key in enumerate(output_keys(found))}
        shape = (len(number), n_outputs(found))
        columns = sparse.csr_array((np.ones(len(number)), (np.arange(len(number)), number)), shape)
        return Indicators(columns, found, place)

    def columns(self, outputs: Objects, prepared: Any) -> Any:
        numbers = [prepared.place.get(key, -1) for key in output_keys(outputs)]
        rows = np.flatnonzero(np.array(numbers) >= 0)
        shape = (n_outputs(outputs), n_outputs(prepared.outputs))
        return sparse.csr_array((np.ones(len(rows)), (rows, np.array(numbers)[rows])), shape)

    def decode_columns(self, values: Array, prepared: Any) -> Decoded:
        best = np.argmax(values, axis=1)
        top = values[np.arange(len(best)), best]
        return Decoded(take_outputs(prepared.outputs, best), values.sum(axis=1) - top, top >= 0)


@dataclass
class CostMatrix(LinearTaskLoss):
    r"""Costs :math:`C_{ab}` of answering class ``a`` where ``b`` is right.

    The answer is :math:`\arg\min_a\sum_bC_{ab}\sum_iw_i[y_i=b]`, exactly. The matrix need not be
    symmetric.

    Parameters
    ----------
    costs : array of shape (n_classes, n_classes)
        Finite and not negative; row: the answer, column: the truth.
    classes : sequence of labels or None, default=None
        The classes in the order of the matrix. None sorts those that were seen.

    Examples
    --------
    >>> from isthmus.losses import CostMatrix
    >>> loss = CostMatrix([[0, 10], [1, 0]], classes=["healthy", "ill"])
    >>> loss.decode([[0.8, 0.2]], loss.prepare(["healthy", "ill"])).outputs
    array(['ill'], dtype=object)
    """

    __module__ = "isthmus.losses"
    finite: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, Constraint]] = {"costs": numbers(2)}

    costs: Any
    classes: Any = None

    def check(self, outputs: Objects) -> Objects:
        check_parameters(self)
        self._table(self._classes(outputs))
        return outputs

    def resolve(self, outputs: Objects) -> "CostMatrix":
        """The matrix with the names of its rows and columns."""
        return CostMatrix(self.costs, list(self._classes(outputs)))

    def cost(self, Y: Objects, Z: Objects) -> Array:
        classes = self._classes([*output_keys(Y), *output_keys(Z)])
        C = self._table(classes)
        return C[np.ix_(self._numbers(Y, classes), self._numbers(Z, classes))]

    def paired(self, Y: Objects, Z: Objects) -> Array:
        classes = self._classes([*output_keys(Y), *output_keys(Z)])
        return self._table(classes)[self._numbers(Y, classes), self._numbers(Z, classes)]

    def prepare(self, outputs: Objects) -> Indicators:
        classes = self._classes(outputs)
        place = {key: i for i, key in enumerate(output_keys(classes))}
        prepared = Indicators(None, classes, place)
        return prepared._replace(columns=self.columns(outputs, prepared))

    def columns(self, outputs: Objects, prepared: Any) -> Any:
        numbers = self._numbers(outputs, prepared.outputs)
        shape = (len(numbers), n_outputs(prepared.outputs))
        return sparse.csr_array((np.ones(len(numbers)), (np.arange(len(numbers)), numbers)), shape)

    def decode_columns(self, values: Array, prepared: Any) -> Decoded:
        risks = values @ self._table(prepared.outputs).T
        best = np.argmin(risks, axis=1)
        risk = risks[np.arange(len(best)), best]
        answers = take_outputs(prepared.outputs, best)
        return Decoded(answers, risk, np.ones(len(best), dtype=bool))

    def _classes(self, outputs: Objects) -> Any:
        if self.classes is None:
            return np.unique(np.asarray(outputs))
        return take_outputs(list(self.classes), range(len(self.classes)))

    def _table(self, classes: Any) -> Array:
        C = check_costs(self, self.costs)
        if C.shape != (len(classes),) * 2:
            raise ValueError(
                f"The 'costs' of CostMatrix must have a row and a column for each of the "
                f"{len(classes)} classes. Got shape {C.shape} instead."
            )
        return C

    def _numbers(self, outputs: Objects, classes: Any) -> Any:
        place = {key: i for i, key in enumerate(output_keys(classes))}
        unknown = [key for key in output_keys(outputs) if key not in place]
        if unknown:
            raise ValueError(
                f"CostMatrix knows no class {unknown[0]!r}. Its classes are "
                f"{', '.join(map(repr, place))}."
            )
        return np.array([place[key] for key in output_keys(outputs)], dtype=np.intp)
