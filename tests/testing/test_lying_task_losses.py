"""The check of losses of objects can fail: each of these breaks one fact, which is named."""

from dataclasses import dataclass

import numpy as np
import pytest

from isthmus.losses import F1, Decoded, EditDistance, FunctionLoss, Hamming, ZeroOne
from isthmus.testing import check_task_loss

from .data import WORDS
from .foreign import InitialLoss

rng = np.random.default_rng(1)
SETS = (rng.random((20, 6)) < 0.35).astype(int)
LABELS = np.array(list("abcabcaabbcc"))


@dataclass
class Liar(Hamming):
    """The Hamming loss with one thing wrong."""

    lie: str = ""

    def check(self, outputs):
        if self.lie == "changes":
            outputs[0] = 1 - outputs[0]
        return super().check(outputs)[: -1 if self.lie == "loses one" else None]

    def cost(self, Y, Z):
        found = super().cost(Y, Z)
        if self.lie == "negative":
            found = found - 0.5
        if self.lie == "infinite":
            found = np.where(found == found.max(), np.inf, found)
        if self.lie == "depends":
            found = found + np.asarray(Z).mean()
        return found.T[:1] if self.lie == "shape" else found

    def paired(self, Y, Z):
        return super().paired(Y, Z) + (0.1 if self.lie == "paired" else 0.0)

    def columns(self, outputs, prepared):
        found = super().columns(outputs, prepared)
        return 2 * found if self.lie == "columns" and prepared is not None else found

    def decode(self, weights, prepared):
        found = super().decode(weights, prepared)
        if self.lie == "answers alone":
            return found.outputs
        if self.lie == "too few":
            return Decoded(found.outputs[1:], found.risk, found.exact)
        if self.lie == "risk":
            return found._replace(risk=found.risk + 0.1)
        if self.lie == "together":
            return super().decode(weights - weights.mean(axis=0) / 5, prepared)
        if self.lie in ("proof", "no proof"):
            worse = 1 - found.outputs
            risk = self.risk(weights, worse, np.asarray(prepared.columns.toarray())[:, :-1])
            return Decoded(worse, risk, np.full(len(risk), self.lie == "proof"))
        return found


@pytest.mark.parametrize(
    ("lie", "fact"),
    [
        ("loses one", "check returns as many outputs"),
        ("answers alone", "decode returns a Decoded"),
        ("too few", "there is one answer"),
        ("shape", "costs have a row for each answer"),
        ("infinite", "costs are finite"),
        ("negative", "costs are not negative"),
        ("depends", "the cost of a pair depends on that pair alone"),
        ("paired", "paired costs are the diagonal"),
        ("risk", "the risk of an answer is the weighted sum"),
        ("proof", "no other answer is better"),
        ("no proof", "with all weight on one output"),
        ("columns", "columns of the training outputs are those"),
        ("changes", "the objects it is given are not changed"),
    ],
)
def test_task_losses_that_lie(lie, fact):
    with pytest.raises(AssertionError, match=rf"Liar.* contract of a task loss. Expected: {fact}"):
        check_task_loss(Liar(lie=lie), SETS.copy())


def test_rows_that_are_decoded_together():
    with pytest.raises(AssertionError, match="breaks the contract of a task loss"):
        check_task_loss(Liar(lie="together"), SETS)


@dataclass
class Unseen(ZeroOne):
    def decode_columns(self, values, prepared):
        found = super().decode_columns(values, prepared)
        return found._replace(outputs=np.full(len(values), "z"))


@dataclass
class Crowded(EditDistance):
    def neighbours(self, answer, weights, prepared):
        objects, risks = super().neighbours(answer, weights, prepared)
        return objects, risks[:-1]


@dataclass
class Shuffled(EditDistance):
    def neighbours(self, answer, weights, prepared):
        objects, risks = super().neighbours(answer, weights, prepared)
        return objects, risks[::-1]


def test_answers_that_were_never_seen():
    with pytest.raises(AssertionError, match="a finite loss answers with outputs that were seen"):
        check_task_loss(Unseen(), LABELS)


def test_neighbours_that_lie():
    with pytest.raises(AssertionError, match="as many risks as answers"):
        check_task_loss(Crowded(), WORDS)
    with pytest.raises(AssertionError, match="risks of neighbours are the weighted sums"):
        check_task_loss(Shuffled(), WORDS)


def test_what_is_no_task_loss():
    with pytest.raises(TypeError, match="F1 is a class, and a task loss is an object"):
        check_task_loss(F1, SETS)
    with pytest.raises(ValueError, match="A task loss must be one of"):
        check_task_loss(3, SETS)
    with pytest.raises(AssertionError, match="check and resolve take the outputs"):
        check_task_loss(F1(), WORDS)
    with pytest.raises(AssertionError, match="must be finite and not negative"):
        check_task_loss(FunctionLoss(lambda y, z: float(len(y) - len(z))), WORDS)
    assert check_task_loss(InitialLoss(), WORDS).contract == "task loss"
