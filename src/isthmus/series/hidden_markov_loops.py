"""Compiled forward and backward passes of hidden Markov models."""

import numpy as np

from isthmus._compiled import njit


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


@njit(nogil=True)
def posteriors(start, transition, likelihoods):
    """Posterior of every state at every time, summed posterior of every move, log likelihood.

    ``likelihoods[t]`` may be scaled freely; each step is normalised, so none underflows.
    """
    n, k = likelihoods.shape
    forward = np.empty((n, k))
    backward = np.ones(k)
    gamma = np.empty((n, k))
    moves = np.zeros((k, k))
    scale = np.empty(n)
    total = 0.0
    for t in range(n):
        if t == 0:
            forward[0] = start * likelihoods[0]
        else:
            forward[t] = (forward[t - 1] @ transition) * likelihoods[t]
        scale[t] = forward[t].sum()
        forward[t] /= scale[t]
        total += np.log(scale[t])
    for t in range(n - 1, -1, -1):
        gamma[t] = forward[t] * backward
        gamma[t] /= gamma[t].sum()
        if t > 0:
            ahead = likelihoods[t] * backward / scale[t]
            for i in range(k):
                for j in range(k):
                    moves[i, j] += forward[t - 1, i] * transition[i, j] * ahead[j]
            backward = transition @ ahead
    return gamma, moves, total
