"""The edit distance of sequences as a loss, and its weighted median."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isthmus._parameters import (
    Constraint,
    check_parameters,
    condition,
    integer,
    none,
    real,
)
from isthmus.blocks.slices import block_slices
from isthmus.losses.edits.prior import triple_log_probabilities
from isthmus.losses.edits.symbols import Alphabet, row_parts
from isthmus.losses.tasks.base import Candidates, Decoded, TaskLoss, dense_rows
from isthmus.losses.tasks.collections import n_outputs
from isthmus.typing import Array, IntArray, Objects

# A table of triples of symbols beyond this many symbols would not fit.
MOST_SYMBOLS_OF_PRIOR = 300
# Outputs that the search looks at where kernels and penalties are compared.
FEW_OUTPUTS = 200


def _is_costs(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(key, tuple) and len(key) == 2 and real(0).accepts(cost)
        for key, cost in value.items()
    )


class EncodedOutputs(NamedTuple):
    """Training outputs as numbers: candidates, symbols, where each starts, costs and prior."""

    candidates: Candidates
    alphabet: Alphabet
    flat: IntArray
    starts: IntArray
    costs: Array
    table: Array
    longest: int


@dataclass
class EditDistance(TaskLoss):
    r"""Least cost of insertions, deletions and substitutions that turn one sequence into another.

    The answer minimises :math:`R(y)=\sum_iw_i\,d(y,y_i)-\pi\log p(y)`, a weighted median string. It
    starts at the best training outputs and takes the single insertion, deletion or substitution
    that lowers R most, until none does. All moves of a string are scored from two tables for each
    training output, so a step costs little more than one evaluation of R.

    Parameters
    ----------
    gap : float, default=1.0
        Cost of an insertion or a deletion.
    substitution : float or dict, default=1.0
        Cost of a wrong symbol; a dict maps pairs (answer, truth) to costs, those not in it cost 1.
    prior : float, default=0.0
        Weight :math:`\pi` of a model of triples of symbols that is learned from the outputs.
    n_candidates : int, default=40
        How many outputs with the largest weights are compared as starts.
    n_init : int, default=1
        How many of them the search starts from.
    max_outputs : int or None, default=1000
        The search looks at this many outputs with the largest absolute weights; its end is
        compared with its start over all of them.
    search : bool, default=True
        False answers with the best training output.
    max_iter : int, default=100
        Maximum number of moves.

    Notes
    -----
    The weights of kernel ridge regression may be negative, and are used as they are: the risk then
    still grows with the length of an answer as long as the weights sum to more than zero. Where
    they do not, the answer is the best of the candidates. Answers are at most twice as long as
    the longest training output.

    An answer is proved to be the best possible where the costs are a metric (the default ones
    are), there is no prior, and one output has at least the weight of all others together.

    Examples
    --------
    >>> from isthmus.losses import EditDistance
    >>> words = ["nation", "station", "ration", "rational"]
    >>> EditDistance().cost(["kitten"], ["sitting"])
    array([[3.]])
    >>> loss = EditDistance()
    >>> parts = ["abcx", "abyd", "zbcd"]
    >>> loss.decode([[1 / 3, 1 / 3, 1 / 3]], loss.prepare(parts)).outputs
    array(['abcd'], dtype=object)
    """

    __module__ = "isthmus.losses"

    n_left_out: ClassVar[int] = 300

    gap: float = 1.0
    substitution: Any = field(default=1.0, kw_only=True)
    prior: float = field(default=0.0, kw_only=True)
    n_candidates: int = field(default=40, kw_only=True)
    n_init: int = field(default=1, kw_only=True)
    max_outputs: int | None = field(default=1000, kw_only=True)
    search: bool = field(default=True, kw_only=True)
    max_iter: int = field(default=100, kw_only=True)

    _constraints: ClassVar[dict[str, Constraint]] = {
        "gap": real(0, include_low=False),
        "substitution": real(0, include_low=False)
        | condition("a dict of pairs of symbols and costs that are not negative", _is_costs),
        "prior": real(0),
        "n_candidates": integer(1),
        "n_init": integer(1),
        "max_outputs": integer(1) | none,
        "search": condition("True or False", lambda v: isinstance(v, (bool, np.bool_))),
        "max_iter": integer(1),
    }

    def for_choice(self) -> "EditDistance":
        """A search among the outputs of largest weight: which kernel is best it tells as well."""
        few = FEW_OUTPUTS if self.max_outputs is None else min(FEW_OUTPUTS, self.max_outputs)
        return replace(self, max_outputs=few)

    def check(self, outputs: Objects) -> Objects:
        check_parameters(self)
        Alphabet("EditDistance").encode(outputs)
        return outputs

    def cost(self, Y: Objects, Z: Objects) -> Array:
        from isthmus.losses.edits.loops import distances

        check_parameters(self)
        alphabet = Alphabet("EditDistance")
        y, z = alphabet.encode(Y), alphabet.encode(Z)
        found = np.empty((len(y[1]) - 1, len(z[1]) - 1))
        S, gap = self._costs(alphabet), float(self.gap)
        # Compiled code cannot be interrupted; between two blocks of rows a program can.
        for rows in row_parts(y[1], float(len(z[0]))):
            starts = y[1][rows.start : rows.stop + 1]
            distances(y[0], starts, *z, S, gap, found[rows])
        return found

    def paired(self, Y: Objects, Z: Objects) -> Array:
        from isthmus.losses.edits.loops import distance

        check_parameters(self)
        alphabet = Alphabet("EditDistance")
        (y, y_starts), (z, z_starts) = alphabet.encode(Y), alphabet.encode(Z)
        S, row = self._costs(alphabet), np.empty(1 + max(np.diff(z_starts), default=0))
        pairs = zip(np.split(y, y_starts[1:-1]), np.split(z, z_starts[1:-1]), strict=True)
        return np.array([distance(a, b, S, float(self.gap), row) for a, b in pairs])

    def prepare(self, outputs: Objects) -> EncodedOutputs:
        check_parameters(self)
        candidates = Candidates(outputs, self)
        alphabet = Alphabet("EditDistance")
        flat, starts = alphabet.encode(candidates.outputs)
        table: Array = np.zeros((1, 1, 1))
        if self.prior:
            if len(alphabet) > MOST_SYMBOLS_OF_PRIOR:
                raise ValueError(
                    f"EditDistance(prior={self.prior}) needs a table of all triples of symbols, "
                    f"at most {MOST_SYMBOLS_OF_PRIOR} symbols. Got {len(alphabet)}: use prior=0."
                )
            table = triple_log_probabilities(*alphabet.encode(outputs), len(alphabet))
        longest = 2 * int(np.diff(starts).max())
        return EncodedOutputs(
            candidates, alphabet, flat, starts, self._costs(alphabet), table, longest
        )

    def decode(self, weights: Any, prepared: EncodedOutputs) -> Decoded:
        check_parameters(self)
        n = n_outputs(weights) if hasattr(weights, "shape") else len(weights)
        weights = weights if hasattr(weights, "shape") else np.asarray(weights, dtype=float)
        found, exact = np.empty(n, dtype=object), np.zeros(n, dtype=bool)
        risk = np.empty(n)
        for rows in block_slices(n, 2 * weights.shape[1]):
            masses = prepared.candidates.masses(dense_rows(weights, rows)).astype(float)
            for i, row in enumerate(masses, start=rows.start):
                found[i], risk[i], exact[i] = self._median(row, prepared)
        return Decoded(found, risk, exact)

    def neighbours(
        self, answer: Any, weights: Array, prepared: EncodedOutputs
    ) -> tuple[list[Any], Array]:
        from isthmus.losses.edits.loops import add_surprise, score_moves

        p = prepared
        alphabet = p.alphabet.copy()
        y = alphabet.encode([answer])[0]
        if len(alphabet) > len(p.alphabet):  # symbols that no output has
            return [], np.empty(0)
        masses = p.candidates.masses(np.asarray(weights, dtype=float)[None])[0]
        ids, L, A = np.flatnonzero(masses), len(y), len(alphabet)
        width = 1 + int(np.diff(p.starts).max())
        F, B, best = np.empty((L + 2, width)), np.empty((L + 2, width)), np.empty(A)
        delete = np.empty(L + 1)
        substitute, insert = np.empty((L + 1, A + 1)), np.empty((L + 1, A + 1))
        moves = (delete, substitute, insert)
        gap, unit = float(self.gap), self._is_unit
        score_moves(y, p.flat, p.starts, ids, masses[ids], p.costs, gap, unit, F, B, best, *moves)
        if self.prior:
            add_surprise(y, p.table, float(self.prior), np.empty(L + 2, dtype=np.int64), *moves)
        found: dict[tuple[int, ...], float] = {}
        for a in range(L + 1):
            if a < L:
                found[tuple(np.delete(y, a).tolist())] = delete[a]
            for c in range(A):
                found[tuple(np.insert(y, a, c).tolist())] = insert[a, c]
                if a < L and y[a] != c:
                    found[(*y[:a].tolist(), c, *y[a + 1 :].tolist())] = substitute[a, c]
        objects = [p.alphabet.decode(np.array(z, dtype=np.int64), answer) for z in found]
        return objects, np.array(list(found.values()))

    def _median(self, masses: Array, p: EncodedOutputs) -> tuple[Any, float, bool]:
        """The answer for the weights of the distinct outputs, its risk and whether it is proved."""
        from isthmus.losses.edits.loops import median

        order = np.argsort(-np.abs(masses), kind="stable")
        few = order[: self.max_outputs]
        few = few[masses[few] != 0]
        firsts = self._starts(masses, order, few, p)
        best = int(firsts[0])
        answer = p.flat[p.starts[best] : p.starts[best + 1]]
        least = self._value(answer, masses, p)
        proved = self._is_metric and masses[best] >= np.abs(masses).sum() - abs(masses[best])
        if self.search and not proved and masses.sum() > 0:
            for start in firsts[: self.n_init]:
                y, _, _ = median(
                    p.flat[p.starts[start] : p.starts[start + 1]],
                    p.flat,
                    p.starts,
                    few,
                    masses[few],
                    p.costs,
                    float(self.gap),
                    self._is_unit,
                    p.table,
                    float(self.prior),
                    p.longest,
                    self.max_iter,
                )
                value = self._value(y, masses, p)
                if value < least:
                    answer, least = y, value
        return p.alphabet.decode(answer, p.candidates.outputs[best]), float(least), bool(proved)

    def _starts(self, masses: Array, order: IntArray, few: IntArray, p: EncodedOutputs) -> IntArray:
        """The outputs that count most, those of least risk first."""
        from isthmus.losses.edits.loops import candidate_risks, surprise

        starts = order[masses[order] > 0][: self.n_candidates]
        if not len(starts):
            return order[:1]
        risks = np.empty(len(starts))
        gap = float(self.gap)
        # Without a search, the best candidate is the answer: then all outputs count.
        ids = few if self.search else np.flatnonzero(masses)
        candidate_risks(p.flat, p.starts, starts, ids, masses[ids], p.costs, gap, risks)
        if self.prior:
            cuts = [p.flat[p.starts[i] : p.starts[i + 1]] for i in starts]
            risks += self.prior * np.array([surprise(y, len(y), p.table) for y in cuts])
        return np.asarray(starts[np.argsort(risks, kind="stable")])

    def _value(self, y: IntArray, masses: Array, p: EncodedOutputs) -> float:
        from isthmus.losses.edits.loops import risk_of, surprise

        ids = np.flatnonzero(masses)
        row = np.empty(1 + int(np.diff(p.starts).max()))
        value = risk_of(y, p.flat, p.starts, ids, masses[ids], p.costs, float(self.gap), row)
        return float(value + (self.prior * surprise(y, len(y), p.table) if self.prior else 0.0))

    @property
    def _is_unit(self) -> bool:
        return not isinstance(self.substitution, Mapping) and self.substitution == self.gap

    @property
    def _is_metric(self) -> bool:
        return not self.prior and not isinstance(self.substitution, Mapping)

    def _costs(self, alphabet: Alphabet) -> Array:
        given = isinstance(self.substitution, Mapping)
        S = np.full((len(alphabet), len(alphabet)), 1.0 if given else float(self.substitution))
        np.fill_diagonal(S, 0.0)
        if given:
            numbers: dict[Hashable, int] = alphabet.numbers
            for (answer, truth), cost in self.substitution.items():
                if answer in numbers and truth in numbers:
                    S[numbers[answer], numbers[truth]] = float(cost)
        return S
