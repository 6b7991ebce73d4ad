"""Core sets of rows that are read block by block."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.coreset import (
    CoreSetSolver,
    CoreVectorClassifier,
    CoreVectorOutlierDetector,
    CoreVectorRanker,
    CoreVectorRegressor,
    MinimumEnclosingBall,
)
from isthmus.kernels import Gaussian, Spectrum

da = pytest.importorskip("dask.array")


def chunked(A, size=150):
    return da.from_array(A, chunks=(size, *A.shape[1:]))


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_the_ball_of_the_blocks_holds_all_rows(rng, kernel):
    X = rng.normal(size=(900, 4)) + 5
    whole = MinimumEnclosingBall(kernel=kernel, random_state=0).fit(X)
    ball = MinimumEnclosingBall(kernel=kernel, random_state=0).fit(chunked(X))
    assert ball.contains(X).all()
    assert ball.radius_ == pytest.approx(whole.radius_, rel=2e-3)
    # The certificate is that of all rows, and true.
    worst = ball.distances(X).max()
    assert worst**2 - ball.radius_**2 <= ball.gap_ + 1e-9
    assert_allclose(X[ball.core_indices_], ball.objects_)
    assert ball.n_features_in_ == 4


def test_one_far_row_in_the_last_block_is_found(rng):
    X = rng.normal(size=(400, 2))
    X[-1] = 50
    ball = MinimumEnclosingBall(random_state=0).fit(chunked(X, 100))
    assert 399 in ball.core_indices_
    assert ball.contains(X).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_the_classifier_is_certified_over_all_rows(rng, n_classes, class_weight):
    X = rng.normal(size=(700, 2))
    names = np.array(["low", "middle", "high"])[:n_classes]
    y = names[np.digitize(X[:, 0] + 0.3 * X[:, 1] ** 2, [0, 0.8][: n_classes - 1])]
    options = {"kernel": Gaussian(0.5), "random_state": 0, "class_weight": class_weight}
    whole = CoreVectorClassifier(**options).fit(X, y)
    model = CoreVectorClassifier(**options).fit(chunked(X), chunked(y))
    assert model.classes_.tolist() == whole.classes_.tolist()
    assert_allclose(model.objective_, whole.objective_, rtol=0.06)
    assert model.score(X, y) > whole.score(X, y) - 0.02
    assert np.all(model.gap_ <= 0.0501 * model.objective_)
    assert_allclose(X[model.support_], model.objects_)
    # Nobody is further inside the margin than the gap says.
    values = model.decision_function(X).reshape(700, -1)
    signs = np.where(y[:, None] == model.classes_[-values.shape[1] :], 1, -1)
    inside = 2 * model.objective_ * (1 - signs * values)
    outside = np.setdiff1d(np.arange(700), model.support_)
    assert np.all(inside[outside].max(axis=0) <= 0.0501 * model.objective_ + 1e-12)
    lazy = model.predict(chunked(X[:300]))
    assert (lazy.compute() == model.predict(X[:300])).all()


def test_blocks_of_one_class_are_no_obstacle(rng):
    X = np.sort(rng.normal(size=(600, 1)), axis=0)
    y = (X[:, 0] > 0).astype(int)
    model = CoreVectorClassifier(random_state=0).fit(chunked(X), chunked(y))
    assert model.score(X, y) > 0.97


def test_the_detector_marks_as_many_as_were_asked_for(rng):
    X = rng.normal(size=(600, 2))
    whole = CoreVectorOutlierDetector(random_state=0).fit(X)
    model = CoreVectorOutlierDetector(random_state=0).fit(chunked(X))
    assert model.objective_ == pytest.approx(whole.objective_, rel=0.02)
    assert np.mean(model.predict(X) == -1) == pytest.approx(0.1, abs=0.005)


@pytest.mark.parametrize("options", [{"tube": 0.3}, {"tube": None}, {"fit_intercept": False}])
def test_the_regressor_is_certified_over_all_rows(rng, options):
    X = rng.uniform(-3, 3, size=(900, 2))
    y = 10 * np.sin(X[:, 0]) * X[:, 1] + rng.normal(size=900)
    y += 50 if options.get("fit_intercept", True) else 0
    options = {"tube": 0.2, "random_state": 0} | options
    whole = CoreVectorRegressor(**options).fit(X, y)
    model = CoreVectorRegressor(**options).fit(chunked(X), chunked(y))
    assert model.weight_ == whole.weight_
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-3)
    assert model.tube_ == pytest.approx(whole.tube_, rel=1e-2)
    far = np.abs(model.predict(X) - whole.predict(X)).max()
    assert far < 0.02 * y.std()
    assert_allclose(X[model.support_], model.objects_)
    # Nobody outside the core set is further outside the tube than the gap says.
    outside = np.setdiff1d(np.arange(900), model.support_)
    missed = np.abs(y - model.predict(X))[outside] - model.tube_
    assert 2 / model.weight_ * missed.max() / y.std() <= model.gap_ + 1e-9
    assert_allclose(model.predict(chunked(X[:300])).compute(), model.predict(X[:300]))


def test_regression_of_words_and_what_it_refuses(rng):
    import dask.bag

    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    with pytest.raises(ValueError, match=r"one target for each row.* Got 2 columns"):
        CoreVectorRegressor().fit(chunked(X, 20), chunked(X, 20))
    with pytest.raises(ValueError, match="y contains NaN in chunk 1, row 5"):
        CoreVectorRegressor().fit(
            chunked(X, 20), chunked(np.where(np.arange(60) == 25, np.nan, y), 20)
        )
    words = ["a" * (1 + i % 5) + "b" * (i % 3) for i in range(60)]
    lengths = np.array([len(w) for w in words], dtype=float)
    options = {"kernel": Spectrum(2), "C": 100.0, "random_state": 0}
    bag = dask.bag.from_sequence(words, npartitions=3)
    with dask.config.set(scheduler="threads"):
        model = CoreVectorRegressor(**options).fit(bag, lengths)
    whole = CoreVectorRegressor(**options).fit(words, lengths)
    assert_allclose(model.predict(words), whole.predict(words), atol=0.05)


def test_who_cannot_says_so(rng):
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    with pytest.raises(TypeError, match="CoreVectorRegressor or MinimumEnclosingBall can"):
        CoreVectorRanker().fit(chunked(X, 20), chunked(y, 20))
    with pytest.raises(TypeError, match="solver='core'"):
        CoreVectorClassifier(solver="ball").fit(chunked(X, 20), chunked(y > 0, 20))
    with pytest.raises(TypeError, match="Gram matrix"):
        MinimumEnclosingBall(kernel="precomputed").fit(chunked(X @ X.T, 20))
    with pytest.raises(ValueError, match="at least 2 classes"):
        CoreVectorClassifier().fit(chunked(X, 20), chunked(np.zeros(60), 20))
    former = MinimumEnclosingBall(random_state=0).fit(X)
    radius = former.radius_
    with pytest.raises(ValueError, match="chunk 2"):
        former.fit(chunked(np.where(np.arange(60)[:, None] == 50, np.nan, X), 20))
    assert former.radius_ == radius
    solver = CoreSetSolver(epsilon=0.1)
    rough = MinimumEnclosingBall(solver=solver, random_state=0).fit(chunked(X, 20))
    assert rough.contains(X).all()
