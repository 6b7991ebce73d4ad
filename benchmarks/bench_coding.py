"""Exact L1 codes and their dictionaries, against scikit-learn, SPAMS and celer."""

import warnings

import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.decomposition import MiniBatchDictionaryLearning, sparse_encode
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.image import extract_patches_2d
from sklearn.linear_model import orthogonal_mp_gram

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.sparse import SparseDictionary, feature_sign_search, gram_pursuit
from isthmus.sparse.l1.feature_sign import optimality

N_FEATURES, N_ATOMS, ALPHA = 64, 256, 0.1


def _spams():
    try:
        import spams
    except ImportError:
        raise Unavailable("spams-bin is not installed") from None
    return spams


def _signals(n, n_active=5):
    """Sums of five of 256 random unit atoms with noise, in 64 dimensions."""
    rng = np.random.default_rng(0)
    D = rng.normal(size=(N_ATOMS, N_FEATURES))
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    active = np.argsort(rng.random((n, N_ATOMS)), axis=1) < n_active
    codes = np.where(active, rng.normal(size=(n, N_ATOMS)), 0.0)
    return codes @ D + 0.05 * rng.normal(size=(n, N_FEATURES)), D


def _objective(X, D, codes, alpha=ALPHA):
    return 0.5 * np.sum((X - codes @ D) ** 2, axis=1) + alpha * np.abs(codes).sum(axis=1)


def _code_quality(X, D, alpha=ALPHA):
    def quality(codes):
        gap, _ = optimality(X, D, codes, alpha)
        return {
            "objective": float(_objective(X, D, codes, alpha).mean()),
            "largest duality gap": float(gap.max()),
            "non-zeros": float(np.count_nonzero(codes, axis=1).mean()),
        }

    return quality


def _against_scikit_learn(n, algorithm):
    X, D = _signals(n)
    return Contest(
        lambda: feature_sign_search(X, D, alpha=ALPHA),
        lambda: sparse_encode(X, D, algorithm=algorithm, alpha=ALPHA, max_iter=1000),
        _code_quality(X, D),
        lambda a, b: np.abs(a - b).max(),
    )


@benchmark(
    "code-sklearn-cd",
    work="L1 codes over 256 atoms in 64 dimensions, about 15 non-zeros",
    peer='scikit-learn sparse_encode, "lasso_cd"',
    cases=(1000, 2000, 5000),
    quick=(100, 200, 400),
    goal="9 times faster",
)
def sklearn_coordinate_descent(n):
    return _against_scikit_learn(n, "lasso_cd")


@benchmark(
    "code-sklearn-lars",
    work="L1 codes over 256 atoms in 64 dimensions, about 15 non-zeros",
    peer='scikit-learn sparse_encode, "lasso_lars"',
    cases=(500, 1000, 2000),
    quick=(50, 100, 200),
    goal="9 times faster",
)
def sklearn_lars(n):
    return _against_scikit_learn(n, "lasso_lars")


def _against_spams(X, D, alpha):
    columns, atoms = np.asfortranarray(X.T), np.asfortranarray(D.T)

    def peer():
        found = _spams().lasso(columns, D=atoms, lambda1=alpha, mode=2, numThreads=1)
        return found.T.toarray()  # as we give them: dense, a row a signal

    return Contest(
        lambda: feature_sign_search(X, D, alpha=alpha),
        peer,
        _code_quality(X, D, alpha),
        lambda a, b: np.abs(a - b).max(),
    )


@benchmark(
    "code-spams",
    work="L1 codes over 256 atoms in 64 dimensions, about 15 non-zeros",
    peer="spams.lasso (LARS), one thread",
    cases=(1000, 5000, 20_000),
    quick=(100, 200, 400),
    goal="equal at the same duality gap",
)
def spams_lasso(n):
    return _against_spams(*_signals(n), ALPHA)


@benchmark(
    "code-spams-penalty",
    work="L1 codes of 2000 signals over 256 atoms at several penalties, from few non-zeros to many",
    peer="spams.lasso (LARS), one thread",
    cases=("alpha 0.3", "alpha 0.1", "alpha 0.03", "alpha 0.01"),
    quick=("alpha 0.3", "alpha 0.1"),
    unit="penalty",
    goal="equal at the same duality gap",
)
def spams_penalties(case):
    return _against_spams(*_signals(2000), float(case.split()[1]))


@benchmark(
    "code-celer",
    work="One L1 code over 10 000 atoms in 500 dimensions, alpha relative to the largest",
    peer="celer Lasso, tol=1e-8",
    cases=("largest / 10", "largest / 50"),
    quick=("largest / 10",),
    unit="penalty",
    goal="at least equal",
)
def celer_lasso(case):
    rng = np.random.default_rng(0)
    columns = np.asfortranarray(rng.normal(size=(500, 10_000)))
    weights = np.zeros(10_000)
    weights[rng.choice(10_000, 50, replace=False)] = rng.normal(size=50)
    x = columns @ weights + rng.normal(size=500)
    D = np.ascontiguousarray(columns.T)
    alpha = float(np.abs(D @ x).max()) / int(case.split()[-1])

    def peer():
        try:
            from celer import Lasso
        except ImportError:
            raise Unavailable("celer is not installed") from None
        return Lasso(alpha / 500, fit_intercept=False, tol=1e-8).fit(columns, x).coef_

    quality = _code_quality(x[None], D, alpha)
    return Contest(
        lambda: feature_sign_search(x, D, alpha=alpha),
        peer,
        lambda code: quality(code[None]),
        lambda a, b: np.abs(a - b).max(),
    )


def _dictionary_quality(X):
    def quality(D):
        codes = feature_sign_search(X, D, alpha=ALPHA)
        return {"objective": float(_objective(X, D, codes).mean())}

    return quality


@benchmark(
    "dictionary-sklearn",
    work="Dictionary of 256 atoms, one pass over n signals in batches of 256, same start",
    peer='scikit-learn MiniBatchDictionaryLearning, fit_algorithm="cd", the faster one',
    cases=(1280, 2560, 5120),
    quick=(256, 512, 768),
    goal="10 times faster to a lower objective",
)
def minibatch(n):
    return _against_minibatch(n, "cd")


@benchmark(
    "dictionary-sklearn-lars",
    work="Dictionary of 256 atoms, one pass over n signals in batches of 256, same start",
    peer='scikit-learn MiniBatchDictionaryLearning, fit_algorithm="lars", the default',
    cases=(256, 512),
    quick=(256,),
    goal="10 times faster to a lower objective",
)
def minibatch_lars(n):
    return _against_minibatch(n, "lars")


@benchmark(
    "dictionary-equal",
    work="Dictionary of 256 atoms, one pass over n signals; the peer until it is as good",
    peer='scikit-learn MiniBatchDictionaryLearning, fit_algorithm="cd", 1, 2, 4, ... passes',
    cases=(1280, 2560),
    quick=(512,),
    goal="10 times faster to the same objective",
)
def minibatch_equal(n):
    X, _ = _signals(n)
    quality = _dictionary_quality(X)
    goal = quality(_one_pass(X))["objective"]
    passes = 1
    while passes < 16 and quality(_minibatch(X, "cd", passes))["objective"] > goal:
        passes *= 2
    return Contest(lambda: _one_pass(X), lambda: _minibatch(X, "cd", passes), quality)


@benchmark(
    "dictionary-patches",
    work="Dictionary of 256 atoms of 8 x 8 patches of a picture, one pass in batches of 256, same "
    "start",
    peer='scikit-learn MiniBatchDictionaryLearning, fit_algorithm="cd"',
    cases=tuple(f"{name}, {n}" for name in ("china", "flower") for n in (1280, 2560, 5120)),
    quick=("china, 512",),
    unit="picture, patches",
    goal="10 times faster to an objective of no more than 1.005 times the other",
)
def minibatch_patches(case):
    name, n = case.split(", ")
    return _contest(_patches(name, int(n)), "cd")


def _patches(name, n):
    """Random patches of a picture of scikit-learn's, without their means, of mean length one."""
    grey = load_sample_image(f"{name}.jpg").mean(axis=2)
    X = extract_patches_2d(grey, (8, 8), max_patches=n, random_state=0).reshape(n, -1)
    X -= X.mean(axis=1, keepdims=True)
    return X / np.sqrt(np.mean(np.sum(X**2, axis=1)))


def _against_minibatch(n, algorithm):
    return _contest(_signals(n)[0], algorithm)


def _contest(X, algorithm):
    return Contest(
        lambda: _one_pass(X), lambda: _minibatch(X, algorithm, 1), _dictionary_quality(X)
    )


def _minibatch(X, algorithm, passes):
    model = MiniBatchDictionaryLearning(
        N_ATOMS,
        alpha=ALPHA,
        max_iter=passes,
        batch_size=256,
        dict_init=_start(X),
        fit_algorithm=algorithm,
        tol=0.0,
        max_no_improvement=None,
        random_state=0,
    )
    with warnings.catch_warnings():
        # Its coordinate descent stops short of its tolerance for some patches.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X).components_


def _one_pass(X):
    model = SparseDictionary(
        N_ATOMS, alpha=ALPHA, max_iter=1, batch_size=256, init=_start(X), random_state=0
    )
    return model.fit(X).components_


@benchmark(
    "dictionary-spams",
    work="Dictionary of 256 atoms from 5000 signals, passes over batches of 500, same start",
    peer="spams.trainDL, one thread",
    cases=(2, 4, 8),
    quick=(1,),
    unit="passes",
    goal="at least equal: a lower objective in less time",
)
def train_dl(passes):
    X, _ = _signals(5000)
    start = _start(X)
    columns, atoms = np.asfortranarray(X.T), np.asfortranarray(start.T)

    def peer():
        found = _spams().trainDL(
            columns,
            D=atoms,
            lambda1=ALPHA,
            iter=passes * 10,
            batchsize=500,
            numThreads=1,
            verbose=False,
        )
        return np.ascontiguousarray(found.T)

    def ours():
        model = SparseDictionary(
            N_ATOMS, alpha=ALPHA, max_iter=passes, batch_size=500, init=start, random_state=0
        )
        return model.fit(X).components_

    return Contest(ours, peer, _dictionary_quality(X))


def _start(X):
    D = X[np.random.default_rng(1).permutation(len(X))[:N_ATOMS]]
    return D / np.linalg.norm(D, axis=1, keepdims=True)


@benchmark(
    "omp-gram",
    work="pursuit of 5 atoms from inner products with its path, 256 atoms",
    peer="sklearn orthogonal_mp_gram(return_path=True)",
    cases=(1_000, 3_000, 10_000),
    quick=(100, 300),
    goal="faster, the same codes",
)
def omp_gram(n):
    X, D = _signals(n)
    G, B = D @ D.T, X @ D.T
    return Contest(
        lambda: gram_pursuit(G, B, n_nonzero=5).codes,
        lambda: orthogonal_mp_gram(G, B.T, n_nonzero_coefs=5, return_path=True)[:, :, -1].T,
        difference=lambda a, b: float(np.abs(a - b).max()),
    )
