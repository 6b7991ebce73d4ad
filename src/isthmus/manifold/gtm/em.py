r"""Expectation maximisation of the mapping, with the evidence for its three hyperparameters.

The M-step is closed: with :math:`\Phi` the basis at the nodes, :math:`G` the responsibilities of
every node and :math:`S=R^\top Y`,

.. math:: (\Phi^\top G\Phi+\tfrac\alpha\beta P)W=\Phi^\top S,\qquad
    \beta^{-1}=\frac1{Nd}\sum_{ik}R_{ik}\|y_i-f_k\|^2 ,

where :math:`P` is one for the Gaussians and zero for the functions on which no prior lies. Where
entries are missing every column has a :math:`G` of its own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.linalg.products import product
from isthmus.manifold.gtm.basis import Basis
from isthmus.manifold.gtm.mixture import Mixture, Sums, misfit
from isthmus.typing import Array

# In units of the data's variance: bounds of the noise, and of the precision of the prior.
LEAST_NOISE = 1e-10
PRECISIONS = (1e-6, 1e8)
# Precision of the prior with which EM begins. The evidence has no say before EM has settled, after
# some steps at least: while the map is still the principal plane, it finds no reason to leave it.
FIRST_ALPHA = 0.1
FIRST_STEPS = 20


class Rules(NamedTuple):
    """Hyperparameters that are given; None leaves one to the evidence, or to EM."""

    alpha: float | None
    noise: float | None
    corrected: bool = True  # whether the noise counts the parameters that were fitted

    @property
    def asks_evidence(self) -> bool:
        """Whether anything is left to the evidence."""
        return self.alpha is None or (self.noise is None and self.corrected)


@dataclass
class State:
    """Weights (m, d), the two precisions, and what is known of them."""

    weights: Array
    alpha: float
    beta: float
    log_likelihood: float = -np.inf
    evidence: float = -np.inf
    history: list[float] = field(default_factory=list)
    converged: bool = False


def learn(
    sums_of: Callable[[Mixture], Sums],
    basis: Basis,
    nodes: Array,
    start: State,
    rules: Rules,
    *,
    max_iter: int,
    tol: float,
    evidence: bool = False,
    tell: Callable[..., None] = lambda **_: None,
) -> State:
    """Repeat E- and M-steps until the penalised log-likelihood of a row grows by less than ``tol``.

    ``sums_of`` is the E-step, a sum over rows wherever these are. With ``evidence`` it has its say
    from the first step on, and not only when EM has settled.
    """
    Phi = basis(nodes)
    state, history = start, list(start.history)
    first, asks = len(history), rules.asks_evidence
    for step in range(max_iter + 1):
        sums = sums_of(Mixture(Phi @ state.weights, state.beta))
        W = state.weights[: basis.size - basis.free]
        value = (sums.log_likelihood - 0.5 * state.alpha * float(np.vdot(W, W))) / sums.n_rows
        history.append(value)
        tell(step=step, log_likelihood=sums.log_likelihood / sums.n_rows)
        settled = len(history) > first + 1 and abs(value - history[-2]) <= tol
        converged = settled and (evidence or not asks)
        if converged or step == max_iter:
            break
        evidence = evidence or (settled and step >= FIRST_STEPS)
        state = maximise(state, sums, Phi, basis.free, rules, evidence=evidence)
    value = log_evidence(state, sums, Phi, basis.free)
    return State(
        state.weights, state.alpha, state.beta, sums.log_likelihood, value, history, converged
    )


def maximise(
    state: State, sums: Sums, Phi: Array, free: int, rules: Rules, *, evidence: bool
) -> State:
    """One M-step; with ``evidence`` also the precision of the prior that is not given."""
    m = len(state.weights) - free
    W = np.empty_like(state.weights)
    fitted = shrunk = 0.0
    for columns, H in _curvatures(state, sums, Phi, free):
        W[:, columns] = state.beta * _solve(H, Phi.T @ sums.moments[:, columns])
        n_columns = W[:, columns].shape[1]
        if evidence and rules.asks_evidence:
            spread = _solve(H, np.eye(len(W))[:, :m])[:m]
            well = m - state.alpha * float(np.trace(spread))
            shrunk += n_columns * well
            fitted += n_columns * (well + free)
    lost = misfit(sums, Phi @ W)
    alpha = state.alpha
    size = float(np.vdot(W[:m], W[:m]))
    if rules.alpha is None and evidence and m:
        alpha = float(np.clip(shrunk / max(size, 1e-300), *PRECISIONS))
    if rules.noise is not None:
        beta = 1.0 / rules.noise
    else:
        # With few rows nothing is left after what was fitted.
        left = sums.n_known - (fitted if rules.corrected and evidence else 0.0)
        beta = max(left, 0.1 * sums.n_known) / max(lost, LEAST_NOISE * sums.n_known)
    return State(W, alpha, beta)


def log_evidence(state: State, sums: Sums, Phi: Array, free: int) -> float:
    r"""Laplace's approximation of :math:`\log p(Y\mid\alpha,\beta,\sigma)`, up to a constant.

    .. math:: L(W)-\tfrac\alpha2\|W\|^2+\tfrac{Md}2\log\alpha-\tfrac12\log|H|,\qquad
        H=\beta\,\Phi^\top G\Phi+\alpha P\text{ for each column}

    with the curvature of the complete data, whose responsibilities are held fixed.
    """
    m, d = len(state.weights) - free, state.weights.shape[1]
    W = state.weights[:m]
    value = sums.log_likelihood - 0.5 * state.alpha * float(np.vdot(W, W))
    value += 0.5 * m * d * np.log(state.alpha) if m else 0.0
    for columns, (factor, _) in _curvatures(state, sums, Phi, free):
        n_columns = len(range(d)[columns])
        value -= n_columns * float(np.log(np.diagonal(factor)).sum())
    return float(value)


def _curvatures(
    state: State, sums: Sums, Phi: Array, free: int
) -> Iterator[tuple[slice, tuple[Array, bool]]]:
    """Cholesky factors of H, and the columns that have it."""
    n_basis, d = state.weights.shape
    prior = np.full(n_basis, state.alpha)
    prior[n_basis - free :] = 0.0
    shared = sums.weights.shape[1] == 1
    for j in range(1 if shared else d):
        H = product((state.beta * sums.weights[:, j] * Phi.T), Phi)
        # A direction without rows and without a prior stays where it is.
        H.flat[:: n_basis + 1] += prior + 1e-12 * np.trace(H) / n_basis + 1e-300
        columns = slice(0, d) if shared else slice(j, j + 1)
        yield columns, linalg.cho_factor(H, lower=True, check_finite=False)


def _solve(factor: tuple[Array, bool], B: Array) -> Array:
    found: Array = linalg.cho_solve(factor, B, check_finite=False)
    return found
