"""Pursuits and K-SVD, against scikit-learn, SPAMS and dictlearn."""

from functools import cache

import numpy as np
from sklearn.decomposition import MiniBatchDictionaryLearning
from sklearn.linear_model import orthogonal_mp_gram

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.sparse import KSVD, orthogonal_matching_pursuit

N_FEATURES, N_ATOMS, N_NONZERO = 64, 256, 10
# K-SVD ends in another minimum from every start: both sides are run from three.
STARTS = (0, 1, 2)


@cache
def _spams():
    try:
        import spams
    except ImportError:
        raise Unavailable("spams is not installed") from None
    return spams


@cache
def _dictlearn():
    try:
        import dictlearn
    except ImportError:
        raise Unavailable("dictlearn is not installed") from None
    return dictlearn


def _planted(n, n_atoms=N_ATOMS, n_nonzero=N_NONZERO, noise=0.1):
    """Signals of few atoms of a random dictionary, with a tenth of noise."""
    rng = np.random.default_rng(0)
    D = rng.normal(size=(n_atoms, N_FEATURES))
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    C = np.zeros((n, n_atoms))
    places = np.argsort(rng.random((n, n_atoms)), axis=1)[:, :n_nonzero]
    np.put_along_axis(C, places, rng.normal(size=(n, n_nonzero)), axis=1)
    X = C @ D
    return X + noise * X.std() * rng.normal(size=X.shape), D


def _left(X, codes, D):
    return {"residual": float(np.linalg.norm(X - codes @ D) / np.linalg.norm(X))}


@benchmark(
    "omp-sklearn",
    work="Orthogonal pursuit, 256 atoms in 64 dimensions, 10 non-zeros",
    peer="scikit-learn orthogonal_mp_gram",
    cases=(1000, 3000, 10_000),
    quick=(100, 200, 400),
    unit="signals",
    goal="10 times faster",
)
def omp_sklearn(n):
    X, D = _planted(n)
    return Contest(
        lambda: orthogonal_matching_pursuit(X, D, n_nonzero=N_NONZERO),
        lambda: orthogonal_mp_gram(D @ D.T, D @ X.T, n_nonzero_coefs=N_NONZERO).T,
        lambda codes: _left(X, codes, D),
        lambda a, b: np.abs(a - b).max(),
    )


def _against_spams(n, **limit):
    X, D = _planted(n)
    Xf, Df = np.asfortranarray(X.T), np.asfortranarray(D.T)
    ours = {"n_nonzero": limit["L"]} if "eps" not in limit else {"tol": np.sqrt(limit["eps"])}
    # Its omp picks the atom after which the re-fitted residual is smallest.
    return Contest(
        lambda: orthogonal_matching_pursuit(X, D, rule="residual", sparse_output=True, **ours),
        lambda: _spams().omp(Xf, D=Df, numThreads=1, **limit).T,
        lambda codes: _left(X, codes, D),
        lambda a, b: np.abs((a - b).toarray()).max(),
    )


@benchmark(
    "omp-spams",
    work="Order-recursive pursuit, 256 atoms in 64 dimensions, 10 non-zeros, sparse codes",
    peer="spams.omp, one thread",
    cases=(1000, 10_000, 50_000),
    quick=(100, 200, 400),
    unit="signals",
    goal="at least equal",
)
def omp_spams(n):
    return _against_spams(n, L=N_NONZERO)


@benchmark(
    "omp-spams-error",
    work="Order-recursive pursuit to a squared error of 0.5, 256 atoms in 64 dimensions",
    peer="spams.omp, one thread",
    cases=(1000, 10_000, 50_000),
    quick=(100, 200, 400),
    unit="signals",
    goal="at least equal",
)
def omp_spams_error(n):
    return _against_spams(n, L=N_FEATURES, eps=0.5)


def _judged(X):
    """Dictionaries are judged by the same pursuit, and by their mean over the starts."""

    def quality(dictionaries):
        codes = (orthogonal_matching_pursuit(X, D, n_nonzero=4) for D in dictionaries)
        left = [_left(X, C, D)["residual"] for C, D in zip(codes, dictionaries, strict=True)]
        return {"residual": float(np.mean(left))}

    return quality


def _against_dictlearn(n, update, peer):
    X, _ = _planted(n, n_atoms=128, n_nonzero=4)

    def theirs():
        learning = _dictlearn().DictionaryLearning
        options = {"fit_algorithm": peer, "n_nonzero_coefs": 4, "max_iter": 10}
        return [learning(128, random_state=s, **options).fit(X).components_ for s in STARTS]

    def mine(X=X):
        options = {"n_nonzero": 4, "max_iter": 10, "update": update}
        return [KSVD(128, random_state=s, **options).fit(X).components_ for s in STARTS]

    mine(X[:200])  # compiles: seconds that would count as the time of a slow side
    return Contest(mine, theirs, _judged(X))


@benchmark(
    "ksvd-exact",
    work="K-SVD with exact atoms, 10 sweeps, 128 atoms in 64 dimensions, 4 non-zeros, three starts",
    peer='dictlearn DictionaryLearning(fit_algorithm="ksvd")',
    cases=(1000, 2000, 4000),
    quick=(300, 600),
    unit="signals",
    goal="lower residual in less time",
)
def ksvd_exact(n):
    return _against_dictlearn(n, "exact", "ksvd")


@benchmark(
    "ksvd-approximate",
    work="K-SVD with power steps, 10 sweeps, 128 atoms in 64 dimensions, 4 non-zeros, three starts",
    peer='dictlearn DictionaryLearning(fit_algorithm="aksvd")',
    cases=(1000, 2000, 4000),
    quick=(300, 600),
    unit="signals",
    goal="lower residual in less time",
)
def ksvd_approximate(n):
    return _against_dictlearn(n, "power", "aksvd")


@benchmark(
    "ksvd-stream",
    work="One pass over a stream in blocks of 500, 128 atoms in 64 dimensions, 4 non-zeros",
    peer="scikit-learn MiniBatchDictionaryLearning, partial_fit, an L1 penalty",
    cases=(5000, 10_000, 20_000),
    quick=(1000, 2000),
    unit="signals",
    goal="lower residual in less time; constant memory",
)
def ksvd_stream(n):
    X, _ = _planted(n, n_atoms=128, n_nonzero=4)
    blocks = np.array_split(X, n // 500)

    def learned(model):
        for block in blocks:
            model.partial_fit(block)
        return [model.components_]

    def peer():
        return learned(
            MiniBatchDictionaryLearning(
                128, alpha=0.3, batch_size=500, fit_algorithm="cd", random_state=0
            )
        )

    return Contest(
        lambda: learned(KSVD(128, n_nonzero=4, random_state=0)),
        peer,
        _judged(X),
    )
