"""Found parts beside true ones: which belongs to which."""

import numpy as np
from scipy.optimize import linear_sum_assignment


def cosines(found, true):
    """Cosine of every true row with every found row, shape (n_true, n_found)."""
    A, B = (M / np.maximum(np.linalg.norm(M, axis=1, keepdims=True), 1e-300) for M in (true, found))
    return A @ B.T


def matched(found, true):
    """The found row for each true one and their cosines, one to one with the largest sum."""
    similarity = cosines(found, true)
    rows, columns = linear_sum_assignment(-similarity)
    return columns, similarity[rows, columns]


def agreement(groups, labels):
    """How many labels agree where groups are named in the best way."""
    names = np.unique(labels)
    counts = np.array([[np.sum((groups == g) & (labels == c)) for c in names] for g in set(groups)])
    rows, columns = linear_sum_assignment(-counts)
    return int(counts[rows, columns].sum())
