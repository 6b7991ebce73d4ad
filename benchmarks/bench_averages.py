"""Averages of series under warping, and hidden Markov models, against tslearn and hmmlearn."""

import logging

import numpy as np

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.series import HiddenMarkovModel, barycenter, dtw

N_SEEDS = 10


def _chains(means, scales, stay, n, length, *, in_order=False):
    """Series of a chain that stays where it is with this probability."""
    rng, k = np.random.default_rng(0), len(means)
    moves = np.full((k, k), (1 - stay) / (k - 1))
    np.fill_diagonal(moves, stay)
    if in_order:
        moves = stay * np.eye(k) + (1 - stay) * np.eye(k, k=1)
        moves[-1, -1] = 1
    drawn = []
    for _ in range(n):
        states = [0 if in_order else rng.integers(k)]
        for _ in range(length - 1):
            states.append(rng.choice(k, p=moves[states[-1]]))
        noise = rng.normal(size=(length, len(means[0])))
        drawn.append(np.asarray(means)[states] + np.asarray(scales)[states] * noise)
    return drawn


def _places(k, channels, spread):
    return spread * np.random.default_rng(1).normal(size=(k, channels))


SETS = {
    "3 states apart": lambda: _chains([[0], [2], [4]], [[0.7]] * 3, 0.9, 5, 100),
    "3 of different spread": lambda: _chains([[0]] * 3, [[0.2], [1], [4]], 0.95, 5, 100),
    "4 in order": lambda: _chains(
        [[0, 0], [2, 0], [0, 0], [2, 2]], [[0.5, 0.5]] * 4, 0.93, 8, 60, in_order=True
    ),
    "5 close": lambda: _chains(_places(5, 2, 1.2), [[0.6, 0.6]] * 5, 0.9, 4, 120),
    "2 in one long series": lambda: _chains([[0], [0.8]], [[1], [0.5]], 0.97, 1, 800),
    "6 of four channels": lambda: _chains(_places(6, 4, 1.0), [[0.8] * 4] * 6, 0.9, 6, 80),
}


@benchmark(
    "markov-likelihood",
    work="Hidden Markov model with normal states, as it comes: log likelihood of its series",
    peer=f"hmmlearn GaussianHMM, n_iter=100, the best of {N_SEEDS} seeds",
    cases=tuple(SETS),
    quick=("3 states apart",),
    goal="a likelihood of no less in no more time",
)
def likelihood(case):
    series, k = SETS[case](), int(case.split()[0])
    values, lengths = np.concatenate(series), [len(x) for x in series]

    def ours():
        return float(HiddenMarkovModel(k).fit(series).log_likelihood(series).sum())

    def peer():
        try:
            from hmmlearn.hmm import GaussianHMM
        except ImportError:
            raise Unavailable("hmmlearn is not installed") from None
        logging.getLogger("hmmlearn").setLevel(logging.CRITICAL)
        fits = (
            GaussianHMM(k, n_iter=100, random_state=seed).fit(values, lengths)
            for seed in range(N_SEEDS)
        )
        return max(float(model.score(values, lengths)) for model in fits)

    return Contest(ours, peer, lambda found: {"log likelihood": found})


@benchmark(
    "barycenter-tslearn",
    work="Average of 20 warped bumps of about this length: summed distance to them",
    peer="tslearn dtw_barycenter_averaging, max_iter=30, tol=1e-6",
    cases=(50, 100, 200),
    quick=(30,),
    goal="a sum of no more, and as fast",
)
def average(length):
    rng = np.random.default_rng(0)
    series = []
    for _ in range(20):
        time = np.linspace(0, 1, int(length * rng.uniform(0.8, 1.2))) ** rng.uniform(0.6, 1.6)
        bumps = np.exp(-(((time[:, None] - [0.3, 0.7]) / 0.08) ** 2)) @ rng.uniform(0.8, 1.2, 2)
        series.append(bumps + 0.05 * rng.normal(size=len(time)))

    def peer():
        try:
            from tslearn.barycenters import dtw_barycenter_averaging
        except ImportError:
            raise Unavailable("tslearn is not installed") from None
        return dtw_barycenter_averaging(series, max_iter=30, tol=1e-6)

    return Contest(
        lambda: barycenter(series),
        peer,
        lambda centre: {"sum": float(sum(dtw(x, centre) for x in series))},
    )
