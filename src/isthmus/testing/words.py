"""What a kernel of vectors declares, verified by numbers."""

from collections.abc import Callable

import numpy as np
from sklearn.metrics import euclidean_distances

from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import n_objects
from isthmus.testing.inputs import generator
from isthmus.testing.report import Facts
from isthmus.testing.taylor import ENOUGH, remainder_order
from isthmus.typing import Array, Objects

TOL = 1e-6


def check_words(facts: Facts, kernel: Kernel, X: Array) -> None:
    """Every declared word about vectors is true; ``X`` is a table in double precision."""
    known: dict[str, Callable[[Facts, Kernel, Array], None]] = {
        "gradient": _check_gradient,
        "radial": _check_radial,
        "stationary": _check_stationary,
        "distances": _check_distances,
        "inner_product": _check_inner_product,
        "linear": _check_linear,
        "explicit": _check_explicit,
    }
    for word, check in known.items():
        if word in kernel.provides:
            with facts.works(f"what it declares by {word!r} works"):
                check(facts, kernel, X)


def check_slope(
    facts: Facts, fact: str, fun: Callable[[float], float], slope: float, size: float = 0.0
) -> None:
    """A slope is that of the function, by the remainder of Taylor's formula."""
    order = remainder_order(fun, slope, size)
    facts.holds(
        fact,
        np.isfinite(slope) and order > ENOUGH,
        f"What remains after the linear term vanishes like t^{order:.2f} and not like t^2.",
    )


def between_rows(X: Array) -> tuple[Array, Array]:
    """Two sets of points between the rows of ``X``, where nothing is special."""
    rng = generator()
    first, second = (rng.dirichlet(np.ones(len(X)) / 4, size=n) @ X for n in (6, 5))
    return first, second


def _direction(P: Array, Q: Array) -> Array:
    """A way to go from ``P`` on which no coordinate passes one of ``Q``, where kinks may be."""
    gaps = np.abs(P[:, None] - Q).min(axis=1)
    return 0.9 * gaps * generator().uniform(-1, 1, size=P.shape)


def _check_gradient(facts: Facts, kernel: Kernel, X: Array) -> None:
    P, Q = between_rows(X)
    D, W = _direction(P, Q), generator().normal(size=(len(P), len(Q)))
    K = kernel.gram(P, Q)
    G = np.asarray(kernel.weighted_gradient(P, Q, W))
    facts.holds(
        "weighted_gradient has the shape of its first argument", G.shape == P.shape, f"{G.shape}"
    )
    check_slope(
        facts,
        "its gradient is that of its values",
        lambda t: float(np.vdot(W, kernel.gram(P + t * D, Q))),
        float(np.vdot(G, D)),
        float(np.abs(W * K).sum()),
    )
    known = kernel.weighted_gradient(P, Q, W, K)
    size = float(np.abs(W * K).max() / max(P.std(), np.finfo(float).tiny))
    facts.agree("its gradient is the same where the values are known", known, G, tol=TOL, size=size)
    one = np.einsum("ij,ijd->id", W, kernel.gradient(P, Q))
    facts.agree("weighted_gradient is the weighted sum of gradient", one, G, tol=TOL, size=size)
    w = generator().normal(size=len(P))
    check_slope(
        facts,
        "diag_gradient is the gradient of diag",
        lambda t: float(w @ kernel.diag(P + t * D)),
        float(w @ np.einsum("ij,ij->i", np.asarray(kernel.diag_gradient(P)), D)),
        float(np.abs(w * kernel.diag(P)).sum()),
    )


def _check_radial(facts: Facts, kernel: Kernel, X: Array) -> None:
    rotation = np.linalg.qr(generator().normal(size=(X.shape[1], X.shape[1])))[0]
    turned, K = X @ rotation, kernel.gram(X, X)
    facts.agree(
        "a radial kernel is the same for turned vectors", kernel.gram(turned, turned), K, tol=TOL
    )
    _check_stationary(facts, kernel, X)
    # Along the line through a pair, d k(s² r²) / ds at s = 1 is -2 r² times the radial weight.
    P, Q = between_rows(X)
    P = P[: len(Q)]
    w, D = generator().normal(size=len(P)), 0.3 * (P - Q)
    M = np.diagonal(np.asarray(kernel.radial_weights(P, Q)))
    check_slope(
        facts,
        "radial_weights is minus the slope of the kernel in the squared distance",
        lambda t: float(w @ np.diagonal(kernel.gram(P + t * D, Q))),
        float(-2 * w @ (M * np.einsum("ij,ij->i", P - Q, D))),
        float(np.abs(w * np.diagonal(kernel.gram(P, Q))).sum()),
    )


def _check_stationary(facts: Facts, kernel: Kernel, X: Array) -> None:
    moved = X + X.std(axis=0) * generator().normal(size=X.shape[1])
    facts.agree(
        "a stationary kernel is the same for shifted vectors",
        kernel.gram(moved, moved),
        kernel.gram(X, X),
        tol=TOL,
    )


def _check_distances(facts: Facts, kernel: Kernel, X: Array) -> None:
    P, Q = between_rows(X)
    found = kernel.squared_distances_from(
        kernel.gram(P, Q), kernel.diag(P)[:, None], kernel.diag(Q)
    )
    facts.agree(
        "squared_distances_from gives the squared distances of vectors",
        found,
        euclidean_distances(P, Q, squared=True),
        tol=TOL,
    )


def _check_inner_product(facts: Facts, kernel: Kernel, X: Array) -> None:
    P, Q = between_rows(X)
    found = kernel.inverse_inner_product(kernel.gram(P, Q))
    facts.agree("inverse_inner_product gives the inner products", found, P @ Q.T, tol=TOL)


def _check_linear(facts: Facts, kernel: Kernel, X: Array) -> None:
    facts.agree("a linear kernel is the inner product", kernel.gram(X, X), X @ X.T, tol=TOL)


def _check_explicit(facts: Facts, kernel: Kernel, X: Array) -> None:
    P, Q = between_rows(X)
    left, right = kernel.explicit_features(P), kernel.explicit_features(Q)
    fact = "inner products of explicit_features are the kernel"
    facts.holds(fact, left is not None and right is not None, "Found None.")
    found = np.asarray(left) @ np.asarray(right).T
    facts.agree(fact, found, kernel.gram(P, Q), tol=TOL)


def check_learned_parameters(facts: Facts, kernel: Kernel, X: Objects) -> None:
    """Derivatives by the logarithms of parameters that can be learned."""
    theta = np.asarray(kernel.log_parameters())
    if not len(theta):
        return
    fact = "parameter_gradient is the gradient by the logarithms of its parameters"
    with facts.works(fact):
        n, rng = n_objects(X), generator()
        W = rng.normal(size=(n, n))
        W, d, w = W + W.T, rng.uniform(-1, 1, size=len(theta)), rng.normal(size=n)
        found = np.asarray(kernel.parameter_gradient(X, X, W))
        on_diagonal = np.asarray(kernel.diag_parameter_gradient(X, w))
    same = kernel.with_log_parameters(theta).gram(X, X)
    facts.agree("with_log_parameters undoes log_parameters", same, kernel.gram(X, X), tol=TOL)

    def at(t: float) -> Kernel:
        return kernel.with_log_parameters(theta + t * d)

    check_slope(
        facts,
        fact,
        lambda t: float(np.vdot(W, at(t).gram(X, X))),
        float(found @ d),
        float(np.abs(W * same).sum()),
    )
    check_slope(
        facts,
        "diag_parameter_gradient is the gradient of diag by them",
        lambda t: float(w @ at(t).diag(X)),
        float(on_diagonal @ d),
        float(np.abs(w * np.diagonal(same)).sum()),
    )
