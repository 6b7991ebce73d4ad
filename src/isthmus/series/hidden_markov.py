"""Hidden Markov models: fitted by EM, decoded, sampled, and differentiated for Fisher kernels."""

from collections.abc import Hashable, Iterator, Sequence
from copy import copy, deepcopy
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from isthmus._checks import check_float, check_int, refusal
from isthmus.linalg.threads import openmp
from isthmus.series.collection import Packed, pack
from isthmus.series.symbols import SymbolCodes
from isthmus.typing import Array, IntArray, Objects

# Probabilities do not fall below this, nor scales below this share of a channel's deviation, so
# that a likelihood never vanishes.
MIN_PROBABILITY = 1e-6
MIN_SCALE = 1e-3
# More values than this teach a first guess nothing new.
MAX_CLUSTERED = 10_000
# Rounds after which guesses are compared.
FIRST_ROUNDS = 10


class HiddenMarkovModel:
    r"""A chain of hidden states that emits symbols or normal vectors, fitted by EM.

    Parameters
    ----------
    n_states : int, default=3
    alphabet : sequence of symbols or None, default=None
        With an alphabet objects are sequences of its symbols, otherwise time series with normal
        emissions of diagonal covariance.
    max_iter : int, default=100
        Maximum number of rounds of expectation and maximisation (Baum-Welch); hmmlearn has 10.
    n_init : int, default=20
        Number of first guesses: the parts of a series in their order, then by turns clusters of
        its values and values drawn from it (with an alphabet, random ones only). Each has ten
        rounds; the best third goes on, and the largest likelihood is kept. hmmlearn has one guess,
        from clusters. What both reach: ``python -m benchmarks --only markov-likelihood``.
    tol : float, default=1e-3
        A round that gains less log likelihood than this is the last one.
    random_state : int, default=0
        Seed of the guesses.

    Attributes
    ----------
    start_, transition_ : ndarrays of shape (n_states,) and (n_states, n_states)
    emission_ : ndarray of shape (n_states, n_symbols), with an alphabet
    means_, scales_ : ndarrays of shape (n_states, channels), without one
    log_likelihoods_ : list of float
        Log likelihood of the training objects before each round; it never falls.

    Examples
    --------
    >>> from isthmus.series import HiddenMarkovModel
    >>> model = HiddenMarkovModel(2, alphabet="ab").fit(["aaaabbbb", "aaabbb", "aabb"])
    >>> model.scores(["ab", "ba"]).shape
    (2, 10)
    """

    __module__ = "isthmus.series"

    log_likelihoods_: list[float]

    def __init__(
        self,
        n_states: int = 3,
        *,
        alphabet: Sequence[Hashable] | None = None,
        max_iter: int = 100,
        n_init: int = 20,
        tol: float = 1e-3,
        random_state: int = 0,
    ):
        self.n_states = n_states
        self.alphabet = alphabet
        self.max_iter = max_iter
        self.n_init = n_init
        self.tol = tol
        self.random_state = random_state

    def __repr__(self) -> str:
        return f"HiddenMarkovModel({self.n_states}, alphabet={self.alphabet!r})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        names = ("n_states", "alphabet", "max_iter", "n_init", "tol", "random_state")
        return {name: getattr(self, name) for name in names}

    def __sklearn_clone__(self) -> "HiddenMarkovModel":
        # As a part of a kernel, which is cloned before use, a fitted model stays fitted.
        return deepcopy(self)

    def fit(self, X: Objects, y: Any = None) -> "HiddenMarkovModel":
        """Estimate all probabilities from a collection of objects; return self."""
        check_int(self.n_states, "n_states", self, low=1)
        check_int(self.max_iter, "max_iter", self, low=0)
        n_init = check_int(self.n_init, "n_init", self, low=1)
        check_float(self.tol, "tol", self)
        if self.random_state is not None:
            check_int(self.random_state, "random_state", self, low=0)
        self._check_alphabet()
        packed = self._pack(X)
        rng = np.random.default_rng(self.random_state)
        trials = [copy(self) for _ in range(n_init)]
        for number, trial in enumerate(trials):
            trial._guess(packed, rng, number)
            trial.log_likelihoods_ = []
            trial._learn(packed, self.max_iter if n_init == 1 else min(FIRST_ROUNDS, self.max_iter))
        if n_init > 1 and self.max_iter > FIRST_ROUNDS:
            trials.sort(key=lambda trial: -trial.log_likelihoods_[-1])
            trials = trials[: -(-n_init // 3)]
            for trial in trials:
                trial._learn(packed, self.max_iter - FIRST_ROUNDS)
        best = max(trials, key=lambda trial: trial.log_likelihoods_[-1:])
        vars(self).update(vars(best))
        return self

    def _learn(self, packed: Packed, n_rounds: int) -> None:
        """Rounds of expectation and maximisation from the present parameters on."""
        k, values = self.n_states, self.log_likelihoods_
        for _ in range(n_rounds):
            if len(values) > 1 and values[-1] - values[-2] < self.tol:
                break
            start, moves, gammas, total = np.zeros(k), np.zeros((k, k)), [], 0.0
            for _, gamma, moved, value in self._passes(packed):
                start += gamma[0]
                moves += moved
                gammas.append(gamma)
                total += value
            values.append(total)
            self.start_ = _distribution(start)
            self.transition_ = _distribution(moves)
            self._update_emissions(packed.values, np.concatenate(gammas))

    def decode(self, X: Objects) -> list[IntArray]:
        """The most probable states of each object (Viterbi), one array per object."""
        from isthmus.series.hidden_markov_loops import best_path

        packed = self._pack(X)
        logs = np.log(self.start_), np.log(self.transition_)
        return [
            best_path(*logs, self._log_emissions(packed.values[s : s + n]))[0]
            for s, n in zip(packed.starts, packed.lengths, strict=True)
        ]

    def sample(self, n_objects: int, length: int, *, random_state: Any = None) -> list[Any]:
        """Draw objects of a given length: arrays (length, channels), or sequences of symbols.

        Where the alphabet is a string, so are they; otherwise sequences are tuples.
        """
        check_int(n_objects, "n_objects", self, low=1)
        check_int(length, "length", self, low=1)
        rng = np.random.default_rng(random_state)
        drawn = []
        for _ in range(n_objects):
            states = [rng.choice(self.n_states, p=self.start_)]
            for _ in range(length - 1):
                states.append(rng.choice(self.n_states, p=self.transition_[states[-1]]))
            drawn.append(self._emit(np.array(states), rng))
        return drawn

    def _emit(self, states: IntArray, rng: np.random.Generator) -> Any:
        if self.alphabet is None:
            noise = rng.normal(size=(len(states), self.means_.shape[1]))
            return self.means_[states] + self.scales_[states] * noise
        symbols = list(dict.fromkeys(self.alphabet))
        chosen = [symbols[rng.choice(len(symbols), p=self.emission_[i])] for i in states]
        return "".join(map(str, chosen)) if isinstance(self.alphabet, str) else tuple(chosen)

    def scores(self, X: Objects) -> Array:
        r"""Gradients of the log likelihood of each object, shape (n, n_parameters).

        Probabilities are parametrised by softmax and scales by their logarithm. With posteriors
        :math:`\gamma_t(i)` of states and :math:`\bar\xi_{ij}` of moves the parts are
        :math:`\gamma_1(i)-\pi_i`; :math:`\bar\xi_{ij}-A_{ij}\sum_j\bar\xi_{ij}`;
        :math:`\sum_{t:x_t=v}\gamma_t(i)-B_{iv}\sum_t\gamma_t(i)`, or
        :math:`\sum_t\gamma_t(i)(x_t-\mu_i)/s_i^2` and
        :math:`\sum_t\gamma_t(i)[((x_t-\mu_i)/s_i)^2-1]`.
        """
        return np.array(
            [
                np.concatenate(
                    [
                        gamma[0] - self.start_,
                        (moves - self.transition_ * moves.sum(axis=1)[:, None]).ravel(),
                        *self._emission_scores(x, gamma),
                    ]
                )
                for x, gamma, moves, _ in self._passes(self._pack(X))
            ]
        )

    def log_likelihood(self, X: Objects) -> Array:
        """Logarithm of the probability (density) of each object, shape (n,)."""
        return np.array([total for *_, total in self._passes(self._pack(X))])

    def _check_alphabet(self) -> None:
        given, expected = self.alphabet, "None or a sequence of symbols, not empty"
        if given is None:
            return
        if not isinstance(given, Sequence) or isinstance(given, bytes):
            raise TypeError(refusal(self, "alphabet", expected, given))
        if not given:
            raise ValueError(refusal(self, "alphabet", expected, given))

    def _pack(self, X: Objects) -> Packed:
        if self.alphabet is None:
            return pack(X, owner="HiddenMarkovModel")
        return SymbolCodes("HiddenMarkovModel", self.alphabet).pack(X)

    def _passes(self, packed: Packed) -> Iterator[tuple[Array, Array, Array, float]]:
        """Elements, state posteriors, move posteriors and log likelihood of each object."""
        from isthmus.series.hidden_markov_loops import posteriors

        for s, n in zip(packed.starts, packed.lengths, strict=True):
            x = packed.values[s : s + n]
            logs = self._log_emissions(x)
            top = logs.max(axis=1)
            likelihoods = np.exp(logs - top[:, None])
            gamma, moves, total = posteriors(self.start_, self.transition_, likelihoods)
            yield x, gamma, moves, float(total + top.sum())

    def _guess(self, packed: Packed, rng: np.random.Generator, number: int = 0) -> None:
        k = self.n_states
        self.start_ = np.full(k, 1 / k)
        self.transition_ = _distribution(np.full((k, k), 0.2 / k) + 0.8 * np.eye(k))
        values = packed.values
        if self.alphabet is not None:
            n_symbols = len(dict.fromkeys(self.alphabet))
            self.emission_ = _distribution(rng.uniform(0.5, 1.5, size=(k, n_symbols)))
            return
        spread = values.std(axis=0)
        spread = np.where(spread > 0, spread, np.maximum(np.abs(values[0]), 1.0))
        self._least_scale = MIN_SCALE * spread
        self.scales_ = np.tile(spread, (k, 1))
        if number and number % 2 == 0:
            drawn = values[rng.integers(len(values), size=k)]
            self.means_ = drawn + 0.01 * spread * rng.normal(size=drawn.shape)
            return
        if number == 0:
            # States in the order in which a series goes through its parts.
            place = [np.linspace(0, 1, n, endpoint=False) for n in packed.lengths]
            part = (np.concatenate(place) * k).astype(int)
        else:
            seed = int(rng.integers(2**31 - 1))
            some = values[rng.permutation(len(values))[:MAX_CLUSTERED]] / spread
            n_clusters = min(k, len(np.unique(some, axis=0)))
            with openmp():
                clusters = KMeans(n_clusters, n_init=1, random_state=seed).fit(some)
                part = clusters.predict(values / spread)
        means = np.tile(values.mean(axis=0), (k, 1))
        for i in np.unique(part):
            means[i] = values[part == i].mean(axis=0)
            if number:
                self.scales_[i] = np.maximum(values[part == i].std(axis=0), 0.1 * spread)
        self.means_ = means + 0.01 * spread * rng.normal(size=means.shape)

    def _log_emissions(self, x: Array) -> Array:
        if self.alphabet is not None:
            return np.log(self.emission_[:, x[:, 0].astype(int)]).T
        z = (x[:, None] - self.means_) / self.scales_
        return -0.5 * (z**2).sum(axis=2) - np.log(self.scales_ * np.sqrt(2 * np.pi)).sum(axis=1)

    def _update_emissions(self, values: Array, gamma: Array) -> None:
        if self.alphabet is not None:
            hits = np.eye(self.emission_.shape[1])[values[:, 0].astype(int)]
            self.emission_ = _distribution(gamma.T @ hits)
            return
        mass = gamma.sum(axis=0)[:, None] + np.finfo(float).tiny
        self.means_ = gamma.T @ values / mass
        square = np.einsum("ti,tic->ic", gamma, (values[:, None] - self.means_) ** 2)
        self.scales_ = np.maximum(np.sqrt(square / mass), self._least_scale)

    def _emission_scores(self, x: Array, gamma: Array) -> list[Array]:
        if self.alphabet is not None:
            hits = np.eye(self.emission_.shape[1])[x[:, 0].astype(int)]
            return [(gamma.T @ hits - self.emission_ * gamma.sum(axis=0)[:, None]).ravel()]
        z = (x[:, None] - self.means_) / self.scales_
        return [
            np.einsum("ti,tic->ic", gamma, z / self.scales_).ravel(),
            np.einsum("ti,tic->ic", gamma, z**2 - 1).ravel(),
        ]


def _distribution(weights: Array) -> Array:
    """Rows that sum to one, none of them without some probability."""
    positive = np.maximum(weights, 0) + MIN_PROBABILITY * max(float(weights.max()), 1e-300)
    return np.asarray(positive / positive.sum(axis=-1, keepdims=True))
