"""Measures of embeddings by the ranks of neighbours."""

import numpy as np
from sklearn.manifold import trustworthiness

from benchmarks._harness import Contest, benchmark
from isthmus.manifold import neighborhood_scores


@benchmark(
    "neighborhoods",
    work="trustworthiness, continuity and the area under R_NX of 20 columns on a plane",
    peer="sklearn.manifold.trustworthiness, the first of the three alone",
    cases=(1000, 3000, 10_000),
    quick=(500,),
    goal="10 000 rows in seconds, in blocks",
)
def measures(n):
    X = np.random.default_rng(0).normal(size=(n, 20))
    Z = X[:, :2]

    def quality(found):
        first = found if isinstance(found, float) else found.trustworthiness
        return {"trustworthiness": float(first)}

    return Contest(lambda: neighborhood_scores(X, Z), lambda: float(trustworthiness(X, Z)), quality)
