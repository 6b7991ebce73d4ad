"""Embeddings that keep distances, beside the formula: no peer has them."""

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA

from benchmarks._harness import Contest, benchmark
from isthmus.datasets import make_noisy_swiss_roll
from isthmus.manifold import SammonMapping
from isthmus.manifold.embedding.sammon import sammon_stress


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
