"""Places to begin with: principal components, and the best of several spectral embeddings."""

import numpy as np
from scipy import linalg

from isthmus.linalg.products import inner_products, product
from isthmus.manifold.gtm.starts import into_box
from isthmus.manifold.regularized.objective import JITTER, Problem
from isthmus.manifold.ukr.starts import find_embeddings
from isthmus.typing import Array

SPECTRAL = ("isomap", "laplacian")
# Sizes of neighbourhoods that are tried, and stiffnesses of the regressions that compare them.
N_NEIGHBORHOODS = 3
STIFFNESSES = (1e-2, 1e-4, 1e-6)


def first_places(
    problem: Problem, q: int, names: tuple[str, ...], rng: np.random.Generator
) -> list[tuple[str, Array]]:
    """Names and places in the box: of each kind of start the best.

    Of embeddings that differ in their neighbourhoods the one counts from which a regression
    tells rows left out best.
    """
    found: list[tuple[str, Array]] = []
    spectral: list[tuple[float, str, Array]] = []
    for name, Z in find_embeddings(problem.rows, q, names, rng, N_NEIGHBORHOODS):
        places = into_box(Z)
        if name == "pca":
            found.append((name, places))
        else:
            spectral.append((left_out_error(problem, places), name, places))
    if spectral:
        _, name, places = min(spectral, key=lambda start: start[0])
        found.append((name, places))
    return found


def left_out_error(problem: Problem, Z: Array) -> float:
    """Least mean squared error of rows that are regressed on the places of the others."""
    B = problem.basis(Z)
    n, A, b = len(B), inner_products(B) / len(B), product(B.T, problem.rows) / len(B)
    P = problem.basis.kernel_penalty()
    errors = []
    for alpha in STIFFNESSES:
        H = A + 0.5 * alpha * P
        H.flat[:: len(H) + 1] += JITTER * np.trace(H) / len(H)
        factor = linalg.cho_factor(H, lower=True)
        leverage = np.einsum("nm,mn->n", B, linalg.cho_solve(factor, B.T)) / n
        gaps = problem.rows - product(B, linalg.cho_solve(factor, b))
        kept = np.maximum(1.0 - leverage, 1e-6)
        errors.append(float(np.mean(np.sum(gaps**2, axis=1) / kept**2)))
    return min(errors)
