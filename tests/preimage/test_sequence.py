"""Pre-images that are sequences."""

import pickle
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from isthmus.features import KernelPCA
from isthmus.kernels import FunctionKernel, MarginalizedSequence, Normalized
from isthmus.preimage import CandidatePreimage, SequencePreimage
from isthmus.preimage.discrete.sequence_search import SequenceCodes, SequenceProducts, batch_of
from isthmus.structured import DependencyEstimator

SHORT = ["".join(w) for n in (1, 2, 3, 4, 5) for w in product("abc", repeat=n)]
UP_TO_FOUR = [w for w in SHORT if len(w) < 5]


@pytest.fixture(scope="module")
def words():
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(list("abcd"), rng.integers(6, 13))) for _ in range(60)]


@pytest.fixture(scope="module")
def features(words):
    return KernelPCA(8, kernel=MarginalizedSequence(0.1)).fit(words)


@pytest.fixture(scope="module")
def between(features, words):
    C = features.transform(words)
    return 0.5 * (C[:6] + C[6:12])


def test_images_of_short_sequences_come_back():
    # All sequences of up to four symbols span the images of all of them.
    pca = KernelPCA(kernel=MarginalizedSequence(0.3)).fit(UP_TO_FOUR)
    wanted = ["abca", "ccba", "bac"]
    solver = SequencePreimage().fit(UP_TO_FOUR[::3], pca)
    assert list(solver.solve(pca.transform(wanted))) == wanted


def test_counts_and_length_of_an_image_are_exact():
    # Without order: composition by the formula, one order left to choose.
    pca = KernelPCA(kernel=MarginalizedSequence(0.3)).fit(UP_TO_FOUR)
    solver = SequencePreimage(refine=False, length=4, n_samples=2, patience=1).fit(UP_TO_FOUR, pca)
    word = "cabc"
    a = pca.expand(pca.transform([word]))[0]
    assert_allclose(a @ solver._shares, [0.25, 0.25, 0.5], atol=1e-8)
    assert sorted(solver.solve(pca.transform([word]))[0]) == sorted(word)


@pytest.mark.parametrize("criterion", ["coord", "full"])
def test_points_between_images_get_the_best_sequence_there_is(criterion):
    some = SHORT[::4]
    pca = KernelPCA(5, kernel=MarginalizedSequence(0.3)).fit(some)
    C = pca.transform(some)
    queries = 0.5 * (C[60:70] + C[80:90])
    solver = SequencePreimage(criterion=criterion).fit(some, pca)
    found = solver.objective(queries, solver.solve(queries))
    every = cdist(queries, pca.transform(SHORT), "sqeuclidean")
    if criterion == "full":
        every += pca.residual_norms(SHORT)
    # A local search may end in a local minimum, so not all of them.
    assert (found <= every.min(axis=1) * (1 + 1e-9)).sum() >= 8
    nearest = CandidatePreimage(criterion=criterion).fit(some, pca).solve(queries)
    assert (found <= solver.objective(queries, nearest) * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    "solver",
    [
        SequencePreimage(),
        SequencePreimage(refine=False),
        SequencePreimage(refine=False, n_samples=2, patience=1, init="uniform"),
        SequencePreimage(criterion="full"),
        SequencePreimage(length="regression", window=1),
        SequencePreimage(length="search", refine=False),
        SequencePreimage("abcdefgh"),
        SequencePreimage(length=7),
    ],
    ids=repr,
)
def test_never_worse_than_the_nearest_training_sequence(solver, words, features, between):
    solver = clone(solver).fit(words, features)
    found = solver.objective(between, solver.solve(between))
    nearest = CandidatePreimage(criterion=solver.criterion).fit(words, features).solve(between)
    assert (found <= solver.objective(between, nearest) * (1 + 1e-9)).all()


def test_the_local_search_helps(words, features, between):
    short = SequencePreimage(refine=False).fit(words, features)
    long = SequencePreimage().fit(words, features)
    before = short.objective(between, short.solve(between))
    after = long.objective(between, long.solve(between))
    assert (after <= before + 1e-15).all()
    assert after.sum() < 0.7 * before.sum()


def test_answers_do_not_depend_on_the_other_points(words, features, between):
    solver = SequencePreimage().fit(words, features)
    together = solver.solve(between)
    alone = [solver.solve(point[None])[0] for point in between]
    assert list(together) == alone
    again = pickle.loads(pickle.dumps(clone(solver).fit(words, features))).solve(between)
    assert list(again) == alone


@pytest.mark.parametrize(
    "kernel", [MarginalizedSequence(0.1), Normalized(MarginalizedSequence(0.1))]
)
def test_the_tree_of_substrings_gives_the_kernel_rows(kernel, words, rng):
    columns = rng.normal(size=(len(words), 3))
    codes = SequenceCodes("abcd", words[0])
    fast = SequenceProducts(kernel, words, columns, codes)
    new = ["abba", "d", "ccccddddabcdabcd", words[4]]
    products, norms = fast(batch_of(codes.encode(new)))
    assert fast.trie is not None
    assert_allclose(products, kernel(new, words) @ columns, rtol=1e-9)
    assert_allclose(norms, kernel.diag(new), rtol=1e-9)


def test_a_tree_that_does_not_fit_is_done_without(words, features, between, monkeypatch):
    whole = SequencePreimage(refine=False).fit(words, features)
    monkeypatch.setattr("isthmus.preimage.discrete.sequence_search.TRIE_BYTES", 1000)
    solver = SequencePreimage(refine=False).fit(words, features)
    assert whole._products.trie is not None
    assert solver._products.trie is None
    batch = batch_of(solver._known)
    for with_tree, without in zip(whole._products(batch), solver._products(batch), strict=True):
        assert_allclose(without, with_tree, rtol=1e-12, atol=1e-15)
    # The search draws: where two words are equally good, rounding decides how it goes on.
    found = solver.solve(between)
    distances = np.linalg.norm(features.transform(found) - between, axis=1)
    known = np.linalg.norm(features.transform(words)[:, None] - between, axis=2).min(axis=0)
    assert np.all(distances <= known + 1e-12)


def test_any_kernel_of_sequences_will_do():
    shared = FunctionKernel(lambda a, b: len(set(a) & set(b)) + 1.0, pairwise_calls=True)
    some = ["ab", "bc", "ca", "abc"]
    pca = KernelPCA(2, kernel=shared).fit(some)
    found = SequencePreimage(n_samples=4, patience=1).fit(some, pca).solve(pca.transform(["ba"]))
    assert sorted(found[0]) == ["a", "b"]


def test_stop_by_length_works():
    pca = KernelPCA(4, kernel=MarginalizedSequence("length")).fit(SHORT[-60:])
    solver = SequencePreimage(n_samples=10, patience=2).fit(SHORT[-60:], pca)
    assert list(solver.solve(pca.transform(SHORT[-2:]))) == SHORT[-2:]


def test_landmarks_and_unusual_types_of_sequence(words):
    numbers = [np.array([ord(c) for c in word]) for word in words]
    pca = KernelPCA(6, kernel=MarginalizedSequence(0.1), n_landmarks=30, random_state=0)
    found = SequencePreimage().fit(numbers, pca.fit(numbers)).solve(pca.transform(numbers[:2]))
    assert isinstance(found[0], np.ndarray)
    assert found[0].dtype == numbers[0].dtype
    for kind in (list, tuple):
        objects = [kind(word) for word in words]
        pca = KernelPCA(6, kernel=MarginalizedSequence(0.1)).fit(objects)
        found = SequencePreimage(refine=False).fit(objects, pca).solve(pca.transform(objects[:1]))
        assert found[0] == objects[0]


def test_the_transition_prior_avoids_pairs_never_seen():
    rng = np.random.default_rng(0)
    # After a comes b, after b anything but b.
    some = []
    for _ in range(40):
        word = "c"
        while len(word) < 9:
            word += "b" if word[-1] == "a" else rng.choice(list("ac"))
        some.append(word)
    pca = KernelPCA(3, kernel=MarginalizedSequence(0.2)).fit(some)
    C = pca.transform(some)
    queries = 0.5 * (C[:8] + C[8:16])

    def n_odd(transition):
        found = SequencePreimage(transition=transition).fit(some, pca).solve(queries)
        return sum(pair in word for word in found for pair in ("aa", "ac", "bb"))

    assert n_odd(1.0) == 0
    assert n_odd(0.0) > 0


def test_what_is_wrong_is_named(words, features):
    with pytest.raises(ValueError, match="sequence 0 has the symbol 'd' at position"):
        SequencePreimage("abc").fit([w for w in words if "d" in w], features)
    with pytest.raises(ValueError, match="sequence 1 is empty"):
        SequencePreimage().fit(["ab", ""], features, np.zeros((2, 8)))
    with pytest.raises(TypeError, match=r"PCA.*does not provide 'expansion'"):
        SequencePreimage().fit(words, PCA(2).fit(np.eye(3)))
    for bad in (
        {"length": "long"},
        {"length": 0},
        {"window": -1},
        {"elite": 0.0},
        {"smoothing": 2.0},
        {"patience": 0},
        {"n_init": 0},
        {"n_samples": 1},
        {"init": "end"},
        {"criterion": "best"},
        {"transition": -1.0},
    ):
        solver = SequencePreimage(**bad)
        with pytest.raises(ValueError, match=f"'{next(iter(bad))}' parameter of SequencePreimage"):
            solver.fit(words, features)
        with pytest.raises(NotFittedError):
            solver.solve(np.zeros((1, 8)))


def test_sequences_to_sequences():
    # Every a of the input becomes b, every b becomes a.
    rng = np.random.default_rng(1)
    inputs = ["".join(rng.choice(list("abc"), 6)) for _ in range(150)]
    outputs = [word.translate(str.maketrans("ab", "ba")) for word in inputs]
    kernel = MarginalizedSequence(0.3)
    model = DependencyEstimator(
        x_features=kernel, y_features=kernel, preimage=SequencePreimage()
    ).fit(inputs[:120], outputs[:120])
    found = model.predict(inputs[120:])
    known = set(outputs[:120])
    right = [f == o for f, o in zip(found, outputs[120:], strict=True)]
    assert np.mean(right) > 0.8
    assert sum(r and f not in known for r, f in zip(right, found, strict=True)) > 5
