"""Embeddings that keep distances, beside the formula, a near relative and an exact program."""

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap, trustworthiness

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.datasets import make_noisy_swiss_roll
from isthmus.manifold import (
    CurvilinearComponents,
    MaximumVarianceUnfolding,
    SammonMapping,
    neighborhood_scores,
)
from isthmus.manifold.embedding.graph import neighbor_pairs
from isthmus.manifold.embedding.sammon import sammon_stress

# Of SCS. At 1e-4 its variance of 80 rows is 1.6545, above a bound of 1.6519: that is its tolerance,
# for at 1e-5 it is 1.65186.
TOLERANCE = 1e-5


def formula(X):
    """Sammon's stress in plain NumPy, all pairs in both orders, with its gradient."""
    D = squareform(pdist(X))
    np.fill_diagonal(D, 1.0)
    c = D.sum() - len(D)

    def stress(flat):
        Z = flat.reshape(-1, 2)
        steps = Z[:, None] - Z
        d = np.sqrt(np.sum(steps**2, axis=2)) + 1e-12
        gaps = D - d
        np.fill_diagonal(gaps, 0.0)
        slope = -4 / c * np.sum((gaps / (D * d))[:, :, None] * steps, axis=1)
        return np.sum(gaps**2 / D) / c, slope.ravel()

    start = PCA(2).fit_transform(X)
    found = minimize(stress, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return found.x.reshape(-1, 2)


@benchmark(
    "embedding-sammon",
    work="Sammon's mapping of a Swiss roll on a plane, from principal components",
    peer="the formula in NumPy, by SciPy's L-BFGS",
    cases=(200, 500, 1000),
    quick=(100,),
    goal="the same stress, faster, in less memory",
)
def sammon(n):
    X, _ = make_noisy_swiss_roll(n, random_state=0)

    def quality(Z):
        return {"stress": float(sammon_stress(Z, squareform(pdist(X)))[0])}

    def ours():
        return SammonMapping(2, init="pca", max_iter=200).fit(X).embedding_

    return Contest(ours, lambda: formula(X), quality=quality)


@benchmark(
    "embedding-curvilinear",
    work="Curvilinear distance analysis of a Swiss roll on a plane, with a map for new rows",
    peer="sklearn Isomap, which has the same distances and no cut (nearby; CCA has no peer)",
    cases=(200, 500, 1000),
    quick=(100,),
    goal="more neighbours kept",
    why="a hundred sweeps and a map back, whose width is chosen by leaving rows out, take most of "
    "the time; Isomap has neither",
)
def curvilinear(n):
    X, _ = make_noisy_swiss_roll(n, noise=0.2, height=12, random_state=0)

    def quality(Z):
        scores = neighborhood_scores(X, Z)
        return {"area": scores.area, "trustworthiness": trustworthiness(X, Z, n_neighbors=10)}

    return Contest(
        lambda: CurvilinearComponents(2, random_state=0).fit(X).embedding_,
        lambda: Isomap(n_components=2, n_neighbors=8).fit_transform(X),
        quality=quality,
    )


@benchmark(
    "embedding-curvilinear-sweeps",
    work="The same of 1000 rows by fewer sweeps over all pairs: what the sweeps cost and bring",
    peer="sklearn Isomap",
    cases=(1, 10, 30, 100),
    quick=(1,),
    unit="sweeps",
    goal="more neighbours kept, by few sweeps too",
    why="the map back, whose width is chosen by leaving rows out, takes most of what remains with "
    "one sweep; Isomap has none",
)
def curvilinear_sweeps(max_iter):
    X, _ = make_noisy_swiss_roll(1000, noise=0.2, height=12, random_state=0)

    def ours():
        return CurvilinearComponents(2, max_iter=max_iter, random_state=0).fit(X).embedding_

    return Contest(
        ours,
        lambda: Isomap(n_components=2, n_neighbors=8).fit_transform(X),
        quality=lambda Z: {"area": neighborhood_scores(X, Z).area},
    )


@benchmark(
    "embedding-unfolding",
    work="Maximum variance under the distances of neighbours, of a Swiss roll",
    peer="the semidefinite program by SCS, tolerances 1e-5",
    cases=(20, 40, 80),
    quick=(15,),
    goal="the same variance, faster",
)
def unfolding(n):
    return _unfolding_contest(n, "at_most")


@benchmark(
    "embedding-unfolding-equal",
    work="Maximum variance with the distances of neighbours kept equal, of a Swiss roll",
    peer="the semidefinite program by SCS, tolerances 1e-5",
    cases=(10, 15, 20),
    quick=(10,),
    goal="the same variance, faster",
)
def unfolding_equal(n):
    return _unfolding_contest(n, "equal")


def _unfolding_contest(n, constraint):
    X, _ = make_noisy_swiss_roll(n, noise=0.2, height=12, random_state=0)
    X -= X.mean(axis=0)
    X /= np.sqrt(np.mean(np.sum(X**2, axis=1)))  # the unit of what ours reports
    pairs = neighbor_pairs(X, None)
    squares = np.sum((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2, axis=1)

    def ours():
        model = MaximumVarianceUnfolding(2, constraint=constraint, random_state=0).fit(X)
        return model.variance_, model.bound_

    def quality(found):
        return {"variance": found[0], "bound": found[1]}

    equal = constraint == "equal"
    return Contest(ours, lambda: semidefinite(n, pairs, squares, equal=equal), quality=quality)


@benchmark(
    "embedding-unfolding-stiff",
    work="Maximum variance of a Swiss roll with distances of neighbours kept equal, or angles too",
    peer="ours with distances that may shrink",
    cases=("500 rows", "150 rows, angles"),
    quick=("150 rows, angles",),
    unit="kept",
    goal="a bound that meets the variance",
    why="equal distances and angles leave no positive definite solution, so that steps are short "
    "and twice as many; the peer is ours where they may shrink",
)
def unfolding_stiff(case):
    angles = case.endswith("angles")
    X, _ = make_noisy_swiss_roll(int(case.split()[0]), noise=0.2, height=12, random_state=0)

    def fitted(constraint):
        model = MaximumVarianceUnfolding(2, constraint=constraint, angles=angles, random_state=0)
        return model.fit(X)

    def quality(model):
        names = ("variance_", "bound_", "violation_")
        return {name.rstrip("_"): getattr(model, name) for name in names}

    return Contest(lambda: fitted("equal"), lambda: fitted("at_most"), quality=quality)


@benchmark(
    "embedding-unfolding-rows",
    work="Maximum variance unfolding of many rows, exact for 500 landmarks",
    peer="the semidefinite program, of all rows",
    cases=(1000, 5000, 20_000),
    quick=(120,),
    goal="possible, with a bound that meets the variance; most of the true coordinates found",
)
def unfolding_rows(n):
    X, T = make_noisy_swiss_roll(n, noise=0.2, height=12, random_state=0)

    def ours():
        model = MaximumVarianceUnfolding(2, random_state=0).fit(X)
        return model.embedding_, model.variance_, model.bound_

    def peer():
        raise Unavailable(f"its matrix of {n} x {n} has {n * (n + 1) // 2} unknowns")

    def quality(found):
        A = np.column_stack([np.ones(n), found[0]])
        gaps = T - A @ np.linalg.lstsq(A, T, rcond=None)[0]
        share = float(np.mean(1 - gaps.var(axis=0) / T.var(axis=0)))
        return {"recovered": share, "variance": found[1], "bound": found[2]}

    return Contest(ours, peer, quality=quality)


def semidefinite(n, pairs, squares, *, equal=False):
    """Largest trace of a centred Gram matrix under bounds of distances, and the dual's value."""
    try:
        import scs
    except ImportError as missing:
        raise Unavailable(str(missing)) from missing
    columns = np.zeros((n, n), dtype=int)
    lower = np.tril_indices(n)
    order = np.lexsort((lower[0], lower[1]))  # the lower triangle, column by column
    i, j = lower[0][order], lower[1][order]
    columns[i, j] = columns[j, i] = np.arange(len(i))
    weight = np.where(i == j, 1.0, np.sqrt(0.5))  # of an entry, in the solver's units
    a, b = pairs.T
    numbers = np.repeat(np.arange(len(pairs)), 3)
    places = np.column_stack([columns[a, a], columns[b, b], columns[a, b]]).ravel()
    near = sparse.csc_array(
        (np.tile([1.0, 1.0, -np.sqrt(2)], len(pairs)), (numbers, places)),
        shape=(len(pairs), len(i)),
    )
    middle = sparse.csc_array(np.where(i == j, 1.0, 2.0 * weight)[None])
    A = sparse.vstack([middle, near, -sparse.eye_array(len(i))]).tocsc()
    data = {
        "A": sparse.csc_matrix(A),
        "b": np.concatenate([[0.0], squares / squares.mean(), np.zeros(len(i))]),  # its unit
        "c": -(i == j).astype(float),
    }
    solver = scs.SCS(
        data,
        {"z": 1 + equal * len(pairs), "l": (not equal) * len(pairs), "s": [n]},
        eps_abs=TOLERANCE,
        eps_rel=TOLERANCE,
        verbose=False,
    )
    info = solver.solve()["info"]
    unit = squares.mean() / n
    return -unit * info["pobj"], -unit * info["dobj"]
