"""Components of streams: whitening, principal and minor components, beside scikit-learn's."""

import numpy as np
from sklearn.decomposition import PCA, IncrementalPCA

from benchmarks._harness import Contest, benchmark
from isthmus.features import CandidPCA, MinorComponents, Whitening


def _in_blocks(model, X, size):
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size])
    return model


@benchmark(
    "components-whitening",
    work="white coordinates of 30 columns, in blocks of 1000 rows",
    peer="sklearn IncrementalPCA(whiten=True)",
    cases=(10_000, 30_000, 100_000),
    quick=(3000,),
    goal="faster, white up to rounding",
)
def whitening(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 30)) * np.geomspace(10, 0.1, 30) @ rng.normal(size=(30, 30)) + 5

    def quality(model):
        C = np.cov(model.transform(X).T, bias=isinstance(model, Whitening))
        return {"largest error of the covariance": float(np.abs(C - np.eye(len(C))).max())}

    return Contest(
        lambda: _in_blocks(Whitening(), X, 1000),
        lambda: _in_blocks(IncrementalPCA(whiten=True), X, 1000),
        quality,
    )


@benchmark(
    "components-stream",
    work="20 principal components of 2000 rows of this many columns, in blocks of 100",
    peer="sklearn IncrementalPCA",
    cases=(500, 1_500, 4_500),
    quick=(200,),
    unit="columns",
    goal="faster at most of the variance",
)
def principal(d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 40)) * np.geomspace(10, 0.5, 40) @ rng.normal(size=(40, d))
    X += 0.1 * rng.normal(size=X.shape)

    def share(model):
        Q = np.linalg.qr(model.components_.T)[0]
        centred = X - X.mean(axis=0)
        return {"share of variance": float(((centred @ Q) ** 2).sum() / (centred**2).sum())}

    return Contest(
        lambda: _in_blocks(CandidPCA(20), X, 100),
        lambda: _in_blocks(IncrementalPCA(20), X, 100),
        share,
    )


def _with_small_variances(n, d):
    """Rows of which three directions have little variance, and how much more others have."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    spread = np.concatenate([[0.1, 0.15, 0.2], np.linspace(1, 2, d - 3)])
    X = rng.normal(size=(n, d)) * spread @ Q.T

    def least(model):
        # Of the rows along the three directions, beside the least that there is.
        directions = np.linalg.qr(model.components_[-3:].T)[0]
        found = np.var(X @ directions, axis=0).sum()
        return {"variance over the least": float(found / np.sum(spread[:3] ** 2))}

    return X, least


@benchmark(
    "components-minor",
    work="the 3 directions of least variance of 40 columns, in blocks of 1000 rows",
    peer="sklearn IncrementalPCA",
    cases=(5_000, 20_000, 80_000),
    quick=(2000,),
    goal="faster at the same variance",
)
def minor(n):
    X, least = _with_small_variances(n, 40)

    def ours():
        model = _in_blocks(MinorComponents(3), X, 1000)
        return model, model.components_  # which are found when they are asked for

    return Contest(
        ours,
        lambda: (_in_blocks(IncrementalPCA(), X, 1000),),
        lambda found: least(found[0]),
    )


@benchmark(
    "components-minor-memory",
    work="the same, of rows in memory",
    peer="sklearn PCA, all components at once",
    cases=(5_000, 20_000, 80_000),
    quick=(2000,),
    goal="as fast at the same variance",
    why="both take one product of all rows, and a look at the largest and smallest numbers costs "
    "as much as the peer's means",
)
def minor_in_memory(n):
    X, least = _with_small_variances(n, 40)

    def ours():
        model = MinorComponents(3).fit(X)
        return model, model.components_

    return Contest(ours, lambda: (PCA().fit(X),), lambda found: least(found[0]))


@benchmark(
    "components-minor-online",
    work="the same from a stream, row by row, without a matrix of the columns",
    peer="sklearn PCA, all components at once (exact, rows in memory, one product of matrices)",
    cases=(5_000, 20_000, 80_000),
    quick=(2000,),
    goal="about the least variance, from a stream",
    why="each row moves the directions that the next one meets, a chain of short sums, where the "
    "peer takes one product of all rows, which costs less as long as columns are few; taken in "
    "blocks, the same steps need the products of a block's rows with each other instead",
)
def minor_online(n):
    X, least = _with_small_variances(n, 40)
    return Contest(
        lambda: _in_blocks(MinorComponents(3, solver="online", random_state=0), X, 1000),
        lambda: PCA().fit(X),
        least,
    )


@benchmark(
    "components-minor-columns",
    work="the 3 directions of least variance of 5000 rows of this many columns; above 1024, 20 "
    "passes row by row",
    peer="sklearn PCA, all components at once (exact, with a square matrix)",
    cases=(400, 1200),
    quick=(100,),
    unit="columns",
    goal="faster, and exact up to 1024 columns; at about the least variance beyond",
)
def minor_columns(d):
    X, least = _with_small_variances(5000, d)
    return Contest(lambda: MinorComponents(3, random_state=0).fit(X), lambda: PCA().fit(X), least)
