"""Geometry of orthonormal matrices, against pymanopt."""

import numpy as np

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.optimize import stiefel_hessian


@benchmark(
    "stiefel-hessian",
    work="Hessian of a quadratic along a tangent, n x 20 orthonormal matrices, embedded metric",
    peer="pymanopt Stiefel.euclidean_to_riemannian_hessian",
    cases=(100, 1_000, 10_000),
    quick=(50,),
    unit="rows",
    goal="the same, no slower",
)
def hessian(n):
    try:
        from pymanopt.manifolds import Stiefel
    except ImportError as missing:
        raise Unavailable("pymanopt is not installed") from missing
    manifold = Stiefel(n, 20)
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.normal(size=(n, 20)))[0]
    weights = rng.uniform(size=(n, 1))  # of f = ½ Σ w_i |v_i|²
    D = manifold.projection(V, rng.normal(size=(n, 20)))
    G, H = weights * V, weights * D
    return Contest(
        lambda: stiefel_hessian(V, G, H, D, metric="embedded"),
        lambda: manifold.euclidean_to_riemannian_hessian(V, G, H, D),
        None,
        lambda a, b: np.abs(a - b).max() / np.abs(b).max(),
    )
