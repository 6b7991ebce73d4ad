"""Where curves begin: an order of the rows along a line or around a circle."""

from collections.abc import Iterator

import numpy as np

from isthmus.blocks.sampling import sample_rows
from isthmus.manifold.curves.smoothing import best_penalty, spline_path
from isthmus.manifold.curves.splines import n_pieces_for, spline_basis
from isthmus.manifold.ukr.starts import find_embeddings
from isthmus.typing import Array

STARTS = ("pca", "isomap", "laplacian")
N_NEIGHBORHOODS = 4
# Rows by which starts are compared.
JUDGES = 2000


def first_places(
    Y: Array, names: tuple[str, ...], rng: np.random.Generator, *, closed: bool
) -> tuple[str, Array]:
    """The start from whose places (n,) in [0, 1] the rows are told best when left out.

    Principal components, Isomap and Laplacian eigenmaps with several neighbourhoods; for a closed
    curve the angle in the plane of the first two coordinates.
    """
    judges = sample_rows(len(Y), JUDGES, rng)
    lowest, best = np.inf, None
    candidates = list(_candidates(Y, names, rng, closed=closed))
    if len(candidates) == 1:  # nothing to compare
        return candidates[0]
    for name, x in candidates:
        path = spline_path(x[judges], Y[judges], n_pieces_for(len(judges)), closed=closed)
        error = path.left_out_error(best_penalty(path, len(judges)))
        if best is None or error < lowest:
            lowest, best = error, (name, x)
    assert best is not None  # principal components always exist
    return best


def _candidates(
    Y: Array, names: tuple[str, ...], rng: np.random.Generator, *, closed: bool
) -> Iterator[tuple[str, Array]]:
    q = 2 if closed else 1
    if closed and Y.shape[1] == 1:  # there and back again
        yield "pca", _in_unit(Y[:, 0]) / 2
        return
    for name, Z in find_embeddings(Y, q, names, rng, N_NEIGHBORHOODS):
        if closed:
            yield name, np.mod(np.arctan2(Z[:, 1], Z[:, 0]) / (2 * np.pi), 1.0)
        else:
            yield name, _in_unit(Z[:, 0])


def _in_unit(z: Array) -> Array:
    span = np.ptp(z)
    return (z - z.min()) / span if span > 0 else np.full(len(z), 0.5)


def line_through(x: Array, Y: Array, n_points: int, *, closed: bool) -> Array:
    """Points of the best smoothing spline through rows at places x, at equal steps of x."""
    n_pieces = n_pieces_for(len(Y))
    path = spline_path(x, Y, n_pieces, closed=closed)
    C = path.coefficients(best_penalty(path, len(Y)))
    at = np.linspace(0.0, 1.0, n_points, endpoint=not closed)
    return np.asarray(spline_basis(at, n_pieces, closed=closed) @ C)
