"""Compiled forward and backward passes of hidden Markov models."""

import numpy as np

from isthmus._compiled import njit
from isthmus.typing import Array


@njit(nogil=True)
def best_path(log_start, log_transition, logs):
    """The most probable states, by Viterbi's recursion, and the logarithm of their probability."""
    n, k = logs.shape
    score = log_start + logs[0]
    came_from = np.zeros((n, k), np.int64)
    for t in range(1, n):
        new = np.empty(k)
        for j in range(k):
            best = 0
            for i in range(1, k):
                if score[i] + log_transition[i, j] > score[best] + log_transition[best, j]:
                    best = i
            came_from[t, j] = best
            new[j] = score[best] + log_transition[best, j] + logs[t, j]
        score = new
    path = np.empty(n, np.int64)
    path[n - 1] = np.argmax(score)
    for t in range(n - 1, 0, -1):
        path[t - 1] = came_from[t, path[t]]
    return path, score[path[n - 1]]


def posteriors(start: Array, transition: Array, likelihoods: Array) -> tuple[Array, Array, float]:
    """Posterior of every state at every time, summed posterior of every move, log likelihood.

    ``likelihoods[t]`` may be scaled freely; each step is normalised, so none underflows.
    """
    gamma, forward, ahead, total = passes(start, transition, likelihoods)
    return gamma, transition * (forward[:-1].T @ ahead[1:]), total


@njit(nogil=True, fastmath={"reassoc", "contract"})
def passes(start, transition, likelihoods):
    """Posterior of every state at every time, the factors of those of moves, log likelihood."""
    n, k = likelihoods.shape
    forward, ahead, gamma = np.zeros((n, k)), np.empty((n, k)), np.empty((n, k))
    backward, total = np.ones(k), 0.0
    for t in range(n):
        mass = 0.0
        for i in range(k if t else 0):
            weight = forward[t - 1, i]
            for j in range(k):
                forward[t, j] += weight * transition[i, j]
        for j in range(k):
            forward[t, j] = likelihoods[t, j] * (forward[t, j] if t else start[j])
            mass += forward[t, j]
        for j in range(k):
            forward[t, j] /= mass
            ahead[t, j] = likelihoods[t, j] / mass
        total += np.log(mass)
    for t in range(n - 1, -1, -1):
        mass = 0.0
        for j in range(k):
            gamma[t, j] = forward[t, j] * backward[j]
            ahead[t, j] *= backward[j]
            mass += gamma[t, j]
        for i in range(k):
            behind = 0.0
            for j in range(k):
                behind += transition[i, j] * ahead[t, j]
            backward[i] = behind
            gamma[t, i] /= mass
    return gamma, forward, ahead, total
