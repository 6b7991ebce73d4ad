"""The check of losses of objects."""

from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from isthmus.losses.tasks.base import Decoded, LinearTaskLoss
from isthmus.losses.tasks.base import TaskLoss as BaseTaskLoss
from isthmus.losses.tasks.collections import distinct, n_outputs, output_keys, take_outputs
from isthmus.losses.tasks.resolve import as_task_loss
from isthmus.testing.inputs import check_untouched, copied, generator, looks, pickled
from isthmus.testing.report import CheckReport, Facts
from isthmus.typing import Array, Objects, TaskLoss

TOL = 1e-8
# Rows of weights: positive ones, rows with all weight on one output, and rows of both signs.
N_ROWS = 4


def check_task_loss(loss: TaskLoss | str, outputs: Objects) -> CheckReport:
    """Check that a loss of objects keeps its contract.

    Costs are finite, not negative, and those of a pair depend on that pair alone. An answer is
    found for every row of weights, whether dense or sparse, by itself or among others, and its risk
    is the weighted sum of its costs. Where an answer is said to be proved best, neither a training
    output nor the answer to another row is better; where all weight lies on one output, no training
    output is.

    Parameters
    ----------
    loss : task loss, a name, a function of two objects, or an object with ``cost``
        Whatever :func:`isthmus.losses.as_task_loss` takes.
    outputs : objects
        Between 10 and 60 outputs of the kind that the loss compares.

    Returns
    -------
    CheckReport

    Examples
    --------
    >>> from isthmus.losses import EditDistance
    >>> from isthmus.testing import check_task_loss
    >>> words = ["nation", "station", "ration", "rational", "notion", "motion"]
    >>> report = check_task_loss(EditDistance(), words)
    >>> "the risk of an answer is the weighted sum of its costs" in report.facts
    True
    """
    facts = Facts("task loss", loss)
    if isinstance(loss, type):
        facts.needs_methods(loss)
    piece = as_task_loss(loss)
    if isinstance(loss, BaseTaskLoss):
        with facts.works("clone makes a copy with the same parameters"):
            twin = clone(loss)
        facts.holds(
            "clone makes a copy with the same parameters", looks(twin) == looks(loss), f"{twin!r}"
        )
    before = copied(outputs)
    with facts.works("check and resolve take the outputs"):
        Y = piece.check(outputs)
        piece = piece.resolve(Y)
    n = n_outputs(Y)
    facts.holds("check returns as many outputs as it is given", n == n_outputs(outputs))
    W = _weights(n)
    with facts.works("prepare and decode answer rows of weights"):
        found = piece.decode(W, piece.prepare(Y))
    _check_answers(facts, piece, W, Y, found)
    _check_costs(facts, piece, found.outputs, Y)
    _check_best(facts, piece, W, Y, found)
    _check_rows(facts, piece, W, Y, found)
    if isinstance(piece, LinearTaskLoss):
        _check_columns(facts, piece, W, Y, found)
    _check_neighbours(facts, piece, W, Y, found)
    again = pickled(facts, piece)
    if again is not None:
        risk = again.decode(W, again.prepare(Y)).risk
        facts.agree("it can be pickled", risk, found.risk, tol=TOL)
    check_untouched(facts, outputs, before)
    return facts.report()


def _weights(n: int) -> Array:
    rng = generator()
    positive = rng.dirichlet(np.full(n, 0.3), size=N_ROWS)
    alone = np.eye(n)[rng.permutation(n)[:N_ROWS]]
    signed = positive + 0.3 * (rng.dirichlet(np.ones(n), size=N_ROWS) - 1 / n)
    return np.concatenate([positive, alone, signed])


def _check_answers(facts: Facts, loss: Any, W: Array, Y: Objects, found: Any) -> None:
    n = len(W)
    facts.holds(
        "decode returns a Decoded: answers, their risk, and whether each is proved best",
        isinstance(found, Decoded),
        f"Found {type(found).__name__}.",
    )
    shapes = n_outputs(found.outputs), np.shape(found.risk), np.shape(found.exact)
    facts.holds(
        "there is one answer, one risk and one proof for each row of weights",
        shapes == (n, (n,), (n,)),
        f"Found {shapes} for {n} rows.",
    )
    facts.holds("risks are finite", np.isfinite(found.risk).all())
    if loss.finite:
        known = set(output_keys(Y))
        facts.holds(
            "a finite loss answers with outputs that were seen",
            all(key in known for key in output_keys(found.outputs)),
        )


def _check_costs(facts: Facts, loss: Any, A: Objects, Y: Objects) -> None:
    with facts.works("cost compares answers with outputs"):
        costs = np.asarray(loss.cost(A, Y), dtype=float)
    shape = n_outputs(A), n_outputs(Y)
    facts.holds(
        "costs have a row for each answer and a column for each output",
        costs.shape == shape,
        f"Found shape {costs.shape} for {shape[0]} answers and {shape[1]} outputs.",
    )
    facts.holds("costs are finite", np.isfinite(costs).all())
    facts.holds("costs are not negative", costs.min() >= 0, f"Found {costs.min():.6g}.")
    rows, columns = np.array([5, 2]), np.array([3, 0, 1])
    some = loss.cost(take_outputs(A, rows), take_outputs(Y, columns))
    facts.agree(
        "the cost of a pair depends on that pair alone",
        np.asarray(some, dtype=float),
        costs[np.ix_(rows, columns)],
        tol=TOL,
    )
    m = min(shape)
    paired = loss.paired(take_outputs(A, np.arange(m)), take_outputs(Y, np.arange(m)))
    facts.agree("paired costs are the diagonal", paired, costs[range(m), range(m)], tol=TOL)


def _check_best(facts: Facts, loss: Any, W: Array, Y: Objects, found: Decoded) -> None:
    of_answers = W @ np.asarray(loss.cost(found.outputs, Y), dtype=float).T
    size = float(np.abs(of_answers).max())
    own = of_answers[range(len(W)), range(len(W))]
    fact = "the risk of an answer is the weighted sum of its costs"
    facts.agree(fact, found.risk, own, tol=TOL, size=size)
    facts.agree("risk computes the same", loss.risk(W, found.outputs, Y), own, tol=TOL, size=size)
    others = [of_answers]
    # Answers of another kind than the outputs, such as intervals, cannot be compared so.
    with suppress(TypeError, ValueError):
        others.append(W @ np.asarray(loss.cost(distinct(Y)[0], Y), dtype=float).T)
    least = np.min(np.concatenate(others, axis=1), axis=1)
    slack = TOL * max(size, np.finfo(float).tiny)
    proved = np.asarray(found.exact, dtype=bool)
    worse = own - least
    facts.holds(
        "no other answer is better than one that is proved best",
        (worse[proved] <= slack).all(),
        f"Found one whose risk is lower by {np.max(worse[proved], initial=0.0):.3g}.",
    )
    alone = slice(N_ROWS, 2 * N_ROWS)
    facts.holds(
        "with all weight on one output, no training output is a better answer",
        (worse[alone] <= slack).all(),
        f"Found one whose risk is lower by {worse[alone].max():.3g}.",
    )


def _check_rows(facts: Facts, loss: Any, W: Array, Y: Objects, found: Decoded) -> None:
    prepared, tol = loss.prepare(Y), {"tol": TOL, "size": float(np.abs(found.risk).max())}
    with facts.works("sparse weights are taken"):
        told = loss.decode(sparse.csr_array(W), prepared).risk
    facts.agree("sparse weights give the risks of dense ones", told, found.risk, **tol)
    one = loss.decode(W[1:2], prepared).risk
    facts.agree(
        "a row of weights is answered by itself as among others", one, found.risk[1:2], **tol
    )
    twice = loss.decode(2 * W, prepared).risk
    facts.agree("weights twice as large have risks twice as large", twice, 2 * found.risk, **tol)
    order = generator().permutation(n_outputs(Y))
    other = loss.decode(W[:N_ROWS][:, order], loss.prepare(take_outputs(Y, order)))
    proved = np.asarray(found.exact[:N_ROWS] & other.exact, dtype=bool)
    facts.agree(
        "the order of the training outputs does not change the risk of proved answers",
        other.risk[proved],
        found.risk[:N_ROWS][proved],
        **tol,
    )


def _check_columns(facts: Facts, loss: Any, W: Array, Y: Objects, found: Decoded) -> None:
    prepared = loss.prepare(Y)
    told = loss.columns(Y, prepared)
    G, own = (_dense(part) for part in (told, prepared.columns))
    facts.agree("columns of the training outputs are those that prepare keeps", G, own, tol=TOL)
    risk = loss.decode_columns(W @ G, prepared).risk
    fact = "decode_columns answers from the expected columns as decode does from weights"
    facts.agree(fact, risk, found.risk, tol=TOL, size=float(np.abs(found.risk).max()))


def _check_neighbours(facts: Facts, loss: Any, W: Array, Y: Objects, found: Decoded) -> None:
    answer = found.outputs[0]
    others, risks = loss.neighbours(answer, W[0], loss.prepare(Y))
    facts.holds("neighbours gives as many risks as answers", len(others) == len(risks))
    if not len(others):
        return
    some = sorted(generator().permutation(len(others))[:10].tolist())
    rows = np.repeat(W[:1], len(some), axis=0)
    facts.agree(
        "the risks of neighbours are the weighted sums of their costs",
        np.asarray(risks)[some],
        loss.risk(rows, take_outputs(others, some), Y),
        tol=TOL,
    )


def _dense(A: Any) -> Array:
    return np.asarray(A.toarray() if sparse.issparse(A) else A, dtype=float)
