"""Losses of objects: costs, exact decoding against a search of everything, and refusals."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from isthmus.losses import (
    F1,
    Absolute,
    CostMatrix,
    Decoded,
    Epsilon,
    FunctionLoss,
    Hamming,
    Huber,
    IntervalLoss,
    Jaccard,
    Kendall,
    PrecisionAtK,
    Quantile,
    Spearman,
    Squared,
    VectorLoss,
    ZeroOne,
    as_task_loss,
)
from isthmus.losses.tasks import f_measure, f_measure_loops, jaccard, rankings, size_bounds
from isthmus.losses.tasks.resolve import TASK_LOSSES
from isthmus.preimage import MinimumRiskPreimage

M = 5
EVERY_SET = np.array(list(itertools.product([0, 1], repeat=M)))
SET_LOSSES = [F1(), Hamming(), Jaccard(), Hamming(miss=3.0), Hamming(miss=[0, 1, 2, 3, 4.0])]


def weights_over(rng, n_rows, n, signed):
    """Rows of weights that sum to one; with signs, some are far below zero."""
    W = rng.random((n_rows, n)) - (0.6 * rng.random((n_rows, n)) if signed else 0)
    return W / W.sum(axis=1, keepdims=True)


def label_sets(rng, n, m=M, share=0.35):
    return (rng.random((n, m)) < share).astype(int)


@pytest.mark.parametrize("signed", [False, True], ids=["positive", "signed"])
@pytest.mark.parametrize("loss", SET_LOSSES, ids=repr)
def test_label_sets_are_decoded_exactly(loss, signed):
    rng = np.random.default_rng(0)
    Y, W = label_sets(rng, 30), weights_over(rng, 20, 30, signed)
    found = loss.decode(W, loss.prepare(Y))
    risks = W @ loss.cost(EVERY_SET, Y).T
    np.testing.assert_allclose(found.risk, risks.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(loss.risk(W, found.outputs, Y), found.risk, atol=1e-12)
    assert found.exact.all()


@pytest.mark.parametrize("signed", [False, True], ids=["positive", "signed"])
@pytest.mark.parametrize(
    ("n", "m", "share"), [(20, 1, 0.5), (20, 2, 0.5), (30, 9, 0.4), (90, 40, 0.1), (60, 150, 0.2)]
)
def test_compiled_f1_is_that_of_every_size(n, m, share, signed):
    rng = np.random.default_rng(m)
    Y = (rng.random((n, m)) < 2 * share * rng.random(m)).astype(int)
    prepared = F1().prepare(Y)
    W = weights_over(rng, 15, n, signed)
    W[0] = 1 / n  # flat
    W[1] = -1 / n
    values = np.asarray(W @ prepared.columns)
    sizes, place = np.unique(prepared.sizes, return_inverse=True)
    P = np.zeros((len(values), len(sizes), m))
    P[:, place, prepared.labels] = values[:, :-1]
    H, best = f_measure.largest_f1(P, sizes.astype(float), values[:, -1])
    found = F1().decode(W, prepared)
    np.testing.assert_array_equal(found.outputs, H)
    np.testing.assert_allclose(W.sum(axis=1) - found.risk, best, atol=1e-12)


def test_f1_tries_few_sizes_of_answers():
    rng = np.random.default_rng(0)
    Y = (rng.random((600, 400)) < 0.02).astype(int)
    prepared = F1().prepare(Y)
    for signed in (False, True):
        values = np.asarray(weights_over(rng, 10, 600, signed) @ prepared.columns)
        H, best = np.zeros((10, 400), dtype=bool), np.empty(10)
        n_tried = f_measure_loops.best_label_sets(values, prepared.labels, prepared.sizes, H, best)
        assert n_tried / 10 < 30


@pytest.mark.parametrize("m", [1, 7, 8, 9, 1000])
def test_the_first_sizes_tried_reach_from_one_to_all(m):
    nodes = size_bounds.node_sizes(m)
    assert len(nodes) == size_bounds.N_NODES
    assert nodes[0] == 1
    assert nodes[-1] == m
    assert (np.diff(nodes) >= (m > 7)).all()


@pytest.mark.parametrize("loss", [*SET_LOSSES, PrecisionAtK(2), ZeroOne()], ids=repr)
def test_sparse_weights_and_sparse_label_sets_give_the_same(loss):
    rng = np.random.default_rng(1)
    Y, W = label_sets(rng, 25), weights_over(rng, 8, 25, False)
    dense = loss.decode(W, loss.prepare(Y)).outputs
    given = sparse.csr_array(Y)
    found = loss.decode(sparse.csr_array(W), loss.prepare(loss.check(given))).outputs
    assert sparse.issparse(found)
    np.testing.assert_array_equal(found.toarray(), dense)


@pytest.mark.parametrize("loss", [*SET_LOSSES, PrecisionAtK(2), ZeroOne()], ids=repr)
def test_costs_of_pairs_are_the_diagonal(loss):
    rng = np.random.default_rng(2)
    A, B = label_sets(rng, 9), label_sets(rng, 9)
    np.testing.assert_allclose(loss.paired(A, B), np.diag(loss.cost(A, B)), atol=1e-14)


def test_empty_sets_agree_and_an_empty_answer_can_be_best():
    empty, one = np.zeros((1, 3), dtype=int), np.array([[1, 0, 0]])
    for loss in (F1(), Jaccard()):
        assert loss.cost(empty, empty)[0, 0] == 0
        assert loss.cost(empty, one)[0, 0] == 1
        Y = np.concatenate([empty, one])
        assert loss.decode(np.array([[0.9, 0.1]]), loss.prepare(Y)).outputs.sum() == 0


def test_f1_of_many_labels_stops_early_and_is_still_the_best_of_all_sizes():
    rng = np.random.default_rng(3)
    Y = label_sets(rng, 60, 40, 0.05)
    W = rng.random((5, 60)) ** 6
    W /= W.sum(axis=1, keepdims=True)
    found = F1().decode(W, F1().prepare(Y))
    # Plainly the formula: the k largest gains for every k.
    sizes = Y.sum(axis=1)
    for row, answer, risk in zip(W, found.outputs, found.risk, strict=True):
        values = [row[sizes == 0].sum()]
        for k in range(1, 41):
            gain = (row[:, None] * Y * (2 / (sizes + k))[:, None]).sum(axis=0)
            values.append(np.sort(gain)[-k:].sum())
        assert abs(1 - risk - max(values)) < 1e-12
        assert int(np.argmax(values)) == answer.sum()


def test_jaccard_search_ends_where_no_label_more_or_less_helps(monkeypatch):
    rng = np.random.default_rng(4)
    Y, W = label_sets(rng, 40), weights_over(rng, 15, 40, False)
    exact = Jaccard().decode(W, Jaccard().prepare(Y))
    monkeypatch.setattr(jaccard, "MOST_LABELS", 2)
    found = Jaccard().decode(W, Jaccard().prepare(Y))
    assert not found.exact.any()
    assert (found.risk >= exact.risk - 1e-12).all()
    for row, answer, risk in zip(W, found.outputs, found.risk, strict=True):
        moved = np.abs(answer - np.eye(M, dtype=int))
        assert (row @ Jaccard().cost(moved, Y).T >= risk - 1e-9).all()


@pytest.mark.parametrize("signed", [False, True], ids=["positive", "signed"])
@pytest.mark.parametrize("loss", [Kendall(), Spearman()], ids=repr)
def test_rankings_are_decoded_exactly(loss, signed):
    rng = np.random.default_rng(5)
    every = np.array(list(itertools.permutations(range(M))))
    Y, W = every[rng.integers(0, len(every), 30)], weights_over(rng, 10, 30, signed)
    found = loss.decode(W, loss.prepare(Y))
    np.testing.assert_allclose(found.risk, (W @ loss.cost(every, Y).T).min(axis=1), atol=1e-12)
    np.testing.assert_allclose(loss.risk(W, found.outputs, Y), found.risk, atol=1e-12)
    np.testing.assert_allclose(loss.paired(Y, Y[::-1]), np.diag(loss.cost(Y, Y[::-1])), atol=1e-14)
    assert found.exact.all()
    shifted = loss.decode(W, loss.prepare(Y + 1)).outputs  # ranks from one on
    np.testing.assert_array_equal(shifted, found.outputs + 1)


def test_what_the_search_of_rankings_calls_exact_is(monkeypatch):
    rng = np.random.default_rng(6)
    every = np.array(list(itertools.permutations(range(M))))
    Y, W = every[rng.integers(0, len(every), 9)], weights_over(rng, 40, 9, False)
    exact = Kendall().decode(W, Kendall().prepare(Y))
    monkeypatch.setattr(rankings, "MOST_ITEMS", 2)
    found = Kendall().decode(W, Kendall().prepare(Y))
    assert found.exact.any()
    assert not found.exact.all()
    np.testing.assert_allclose(found.risk[found.exact], exact.risk[found.exact], atol=1e-12)
    assert found.risk.mean() <= exact.risk.mean() + 1e-3


@pytest.mark.parametrize(
    "loss", [Absolute(), Quantile(0.8), Squared(), Huber(0.5), Epsilon(0.3)], ids=repr
)
def test_vectors_have_the_least_risk_of_a_fine_grid(loss):
    rng = np.random.default_rng(7)
    y, W = rng.normal(size=50), weights_over(rng, 6, 50, False)
    task, grid = as_task_loss(loss), np.linspace(-4, 4, 4001)
    found = task.decode(W, task.prepare(y))
    assert (found.risk <= (W @ task.cost(grid, y).T).min(axis=1) + 1e-9).all()
    np.testing.assert_allclose(task.risk(W, found.outputs, y), found.risk, atol=1e-12)


def test_quantiles_of_signed_weights_are_those_of_the_rearranged_distribution():
    y = np.array([3.0, 1.0, 2.0, 4.0])
    W = np.array([[0.3, 0.5, -0.2, 0.4]])  # heights at 1, 2, 3, 4: 0.5, 0.3, 0.6, 1.0
    for level, expected in ((0.2, 1.0), (0.4, 2.0), (0.55, 3.0), (0.7, 4.0)):
        loss = VectorLoss(Quantile(level))
        found = loss.decode(W, loss.prepare(y))
        assert found.outputs.tolist() == [expected]
        assert not found.exact[0]  # and it does not claim to be


def test_quantiles_do_not_cross_and_an_interval_is_two_of_them():
    rng = np.random.default_rng(8)
    Y, W = rng.normal(size=(40, 2)), weights_over(rng, 9, 40, True)
    low, high = (
        VectorLoss(Quantile(q)).decode(W, VectorLoss(Quantile(q)).prepare(Y)).outputs
        for q in (0.1, 0.9)
    )
    assert (low <= high).all()
    interval = IntervalLoss(0.8)
    ends = interval.decode(W, interval.prepare(Y)).outputs
    np.testing.assert_array_equal(ends, np.stack([low, high], axis=2))


def test_costs_that_are_not_symmetric_move_the_answer():
    loss = CostMatrix([[0, 10], [1, 0]], classes=["well", "ill"])
    W = np.array([[0.85, 0.15], [0.95, 0.05]])
    found = loss.decode(W, loss.prepare(["well", "ill"]))
    assert found.outputs.tolist() == ["ill", "well"]
    assert found.exact.all()
    assert loss.paired(["well"], ["ill"])[0] == 10


def test_the_first_of_equals_is_answered():
    found = ZeroOne().decode(np.array([[0.5, 0.5]]), ZeroOne().prepare(["b", "a"]))
    assert found.outputs.tolist() == ["b"]


def test_an_answer_of_negative_weight_is_not_called_exact():
    found = ZeroOne().decode(np.array([[-0.5, -0.5]]), ZeroOne().prepare(["b", "a"]))
    assert not found.exact[0]


class Lengths:
    """A stranger's loss: costs and answers."""

    def cost(self, Y, Z):
        return np.abs(np.subtract.outer([len(y) for y in Y], [len(z) for z in Z]))

    def decode(self, weights, outputs):
        return ["x" * round(float(row @ [len(y) for y in outputs])) for row in np.asarray(weights)]


def test_a_loss_of_others_is_decoded_by_itself():
    solver = MinimumRiskPreimage(Lengths()).fit(["a", "bbb"])
    found = solver.decode([[0.5, 0.5]])
    assert isinstance(found, Decoded)
    assert found.outputs == ["xx"]
    assert found.risk[0] == 1.0
    assert not found.exact[0]


def test_a_function_is_minimised_over_candidates_which_may_be_new():
    solver = MinimumRiskPreimage(lambda y, z: abs(y - z), candidates=[2.0, 5.0]).fit([1.0, 3.0, 9])
    found = solver.decode([[0.4, 0.4, 0.2]])
    assert found.outputs[0] == 2.0
    assert found.exact[0]


def test_clipped_weights_are_probabilities():
    Y = ["a", "b"]
    signed = MinimumRiskPreimage("zero_one").fit(Y).decode([[1.5, -0.5]])
    clipped = MinimumRiskPreimage("zero_one", weights="clipped").fit(Y).decode([[1.5, -0.5]])
    assert signed.risk[0] == -0.5
    assert clipped.risk[0] == 0.0
    flat = MinimumRiskPreimage("zero_one", weights="clipped").fit(Y).decode([[-1.0, -2.0]])
    assert flat.risk[0] == 0.5  # nothing is left: all outputs count alike


@pytest.mark.parametrize("name", sorted(TASK_LOSSES))
def test_every_name_has_a_loss(name):
    assert callable(as_task_loss(name).cost)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: as_task_loss("hammin"), "Did you mean 'hamming'"),
        (lambda: F1().check([[0, 2]]), "table of zeros and ones"),
        (lambda: F1().check(["a", "b"]), "table of zeros and ones"),
        (lambda: F1().check([[0, 1], [1]]), "table of zeros and ones"),
        (lambda: Kendall().check([[0, 0, 1]]), "without ties"),
        (lambda: CostMatrix([[0, -1], [1, 0]]).check(["a", "b"]), "not negative. Got -1"),
        (lambda: CostMatrix([[0, 1], [1, 0]]).check(["a", "b", "c"]), "the 3 classes"),
        (lambda: CostMatrix([[0, 1], [1, 0]], classes=["a", "b"]).prepare(["c"]), "no class 'c'"),
        (lambda: PrecisionAtK(0).check([[0, 1]]), "must be an int"),
        (lambda: Hamming(miss=[1.0]).cost(EVERY_SET, EVERY_SET), "each of the 5 labels"),
        (lambda: IntervalLoss(1.5).check([1.0]), "coverage"),
        (
            lambda: MinimumRiskPreimage(lambda y, z: -1.0).fit(["a"]).solve([[1.0]]),
            "finite and not negative. Got -1",
        ),
        (lambda: MinimumRiskPreimage("f1").fit(EVERY_SET).solve([[1.0]]), "fitted on 32 outputs"),
    ],
)
def test_bad_input_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_a_function_loss_prints_its_function_s_costs():
    assert FunctionLoss(lambda y, z: 2.0).cost([1], [1, 2]).tolist() == [[2.0, 2.0]]
