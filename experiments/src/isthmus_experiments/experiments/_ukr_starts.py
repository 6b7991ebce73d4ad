"""Starts as published: Isomap embeddings, each scaled for the least left-out error."""

import numpy as np
from sklearn.manifold import Isomap

from isthmus.losses.squared import Squared
from isthmus.manifold.ukr.objective import ManifoldObjective, reconstructed
from isthmus.manifold.ukr.starts import fewest_connecting_neighbors, neighbor_table, refine_scale
from isthmus.smoothers.density_kernels import density_kernel as kernel_of
from isthmus.smoothers.local_polynomial import LocalSmoother

MOST_NEIGHBOURS = 30
N_SCALES = 20


def isomap_candidates(Y, n_components, n_neighbourhoods):
    """Isomap embeddings of some neighbourhoods, from the smallest that connects the rows.

    They keep their proportions, unlike those of the estimator, whose columns have one variance.
    """
    _, index = neighbor_table(Y, MOST_NEIGHBOURS)
    least = max(fewest_connecting_neighbors(index), n_components + 1)
    sizes = range(least, least + n_neighbourhoods)
    found = [Isomap(n_neighbors=k, n_components=n_components).fit_transform(Y) for k in sizes]
    return [Z - Z.mean(axis=0) for Z in found]


def best_start(Y, candidates, **options):
    """The candidate that has the least left-out error after its scale has been found.

    A grid over a common scale, then a few steps of descent on the scale of every column; all rows
    count, and nothing but their error.
    """
    objective, rows = left_out_objective(Y, **options), np.arange(len(Y))
    best, lowest = None, np.inf
    for Z in candidates:
        Z = Z / np.sqrt(np.mean(Z.var(axis=0)))
        scales = np.geomspace(2.0 * len(Z) ** (1 / Z.shape[1]), 0.3, N_SCALES)
        coarse = [objective.value(s * Z, rows) for s in scales]
        value, X = refine_scale(objective, scales[int(np.argmin(coarse))] * Z)
        if value < lowest:
            best, lowest = X, value
    return best


def left_out_objective(
    Y, *, density_kernel="quartic", degree=0, loss="squared", validation="loo"
) -> ManifoldObjective:
    """What training minimises, with the options of the estimator."""
    n_excluded = 1 if validation == "loo" else validation
    excluded = np.arange(len(Y))[:, None]
    if n_excluded > 1:
        excluded = np.hstack([excluded, neighbor_table(Y, n_excluded - 1)[1]])
    fitted = {"degree": degree} if degree == 0 else vars(degree)
    smoother = LocalSmoother(kernel_of(density_kernel), **fitted)
    loss = Squared() if loss == "squared" else loss
    return ManifoldObjective(Y - Y.mean(axis=0), smoother, loss, excluded)


def left_out_reconstructions(Y, model, **options):
    """What training compares with the rows: each without those that it leaves out."""
    objective, X = left_out_objective(Y, **options), model.embedding_
    found = reconstructed(X, X, objective.targets, objective.smoother, objective.excluded)
    return found + Y.mean(axis=0)
