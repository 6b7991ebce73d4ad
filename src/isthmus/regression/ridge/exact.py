"""Kernel ridge regression on all objects: kernel and penalty chosen, then one Cholesky factor."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from isthmus._memory import fits_memory, require_memory
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import checked_gram, spread
from isthmus.kernels.landmarks import free_origin, is_single
from isthmus.kernels.objects import n_objects, take
from isthmus.kernels.vectors.width import same_rows
from isthmus.regression.kernel_weights import RidgeSystem, ridge_system
from isthmus.regression.ridge.left_out import is_short, left_out_errors, left_out_of_features
from isthmus.regression.ridge.matrix_free import matrix_free_system
from isthmus.regression.ridge.search import MOST_SHARED, explore_widths
from isthmus.regression.selection import Choice, Explore, Selection
from isthmus.typing import Array, IntArray, Objects

# Share of the left-out error that rounding may add to it, and what counts as an error, in units of
# the outputs, where none was measured.
HURTS, UNSEEN = 0.01, 1e-4


@dataclass(frozen=True)
class RidgeSearch:
    """What is offered to a ridge regression, and how it is chosen.

    Parameters
    ----------
    kernels : candidates, not resolved
    alphas : penalties, or None for those in units of the features
    selection : Selection
    explore : which kernels are looked at
    center : whether a constant is fitted
    rounding : relative error of a kernel value in predictions that ask for kernel values
    owner : whose search it is
    """

    kernels: Sequence[Kernel]
    alphas: Sequence[float] | None
    selection: Selection
    explore: Explore
    center: bool
    rounding: float
    owner: Any
    solver: str = "auto"

    @property
    def settled(self) -> bool:
        """Whether there is nothing to choose."""
        return self.alphas is not None and len(self.kernels) * len(self.alphas) == 1

    def rounding_of(self, kernel: Kernel) -> float:
        """Relative error of what a prediction adds up: explicit features ask no kernel value."""
        return 0.0 if "explicit" in kernel.provides else self.rounding

    def finite(self, choice: Choice) -> Choice:
        """The choice, if its error is a number."""
        if not np.isfinite(choice.error):
            raise ValueError(
                f"{type(self.owner).__name__} found no penalty with a finite leave-one-out error."
            )
        return choice


class ExactFit(NamedTuple):
    """The function that was found, its penalty, its error on rows left out, and its system."""

    kernel: Kernel
    dual: Array
    offset: Array
    alpha: float
    error: float | None
    system: RidgeSystem


def fit_exactly(
    search: RidgeSearch,
    X: Objects,
    Y: Array,
    counts: Array | None = None,
    *,
    inverse: bool = False,
) -> ExactFit:
    """The function over all objects, row i counting ``counts[i]`` times.

    With ``inverse`` its system can be asked for blocks of that, too.
    """
    without_matrix(search.kernels[0], len(Y), search.solver, search.owner)  # refused at once
    error = None
    if search.settled and search.alphas is not None:
        kernel, alpha = search.kernels[0].resolve(X), search.alphas[0]
    else:
        with same_rows():
            error, (kernel, alpha) = _choose(search, X, Y, counts)
    origin = free_origin(kernel, X) if search.center else None
    system = training_system(
        kernel,
        X,
        alpha,
        center=search.center,
        counts=counts,
        solver=search.solver,
        owner=search.owner,
        origin=origin,
        inverse=inverse,
    )
    C, offset = system.dual(Y)
    if origin is not None:
        # Σ c = 0, so that only the constant has seen the shift.
        offset = offset - (C.T @ (X - origin)) @ origin
    return ExactFit(kernel, C, offset, alpha, error, system)


def training_system(
    kernel: Kernel,
    X: Objects,
    alpha: float,
    *,
    center: bool,
    counts: Array | None,
    solver: str,
    owner: Any,
    origin: Array | None = None,
    inverse: bool = False,
) -> RidgeSystem:
    """The system of all rows with one penalty, ready to be solved for any outputs.

    Its Gram matrix is held, or computed anew for each product where it does not fit into memory.
    """
    if without_matrix(kernel, n_objects(X), solver, owner):
        own = X if origin is None else X - origin
        return matrix_free_system(kernel, own, alpha, center=center, counts=counts, owner=owner)
    K = own_gram(kernel, X, owner, origin)
    return ridge_system(K, alpha, center=center, counts=counts, inverse=inverse)


def without_matrix(kernel: Kernel, n: int, solver: str, owner: Any) -> bool:
    """Whether the Gram matrix of n rows is not held; a refusal where it must be and cannot."""
    needed = 8.0 * n**2
    if not kernel.pairwise and (
        solver == "matrix-free" or (solver == "auto" and not fits_memory(needed))
    ):
        return True
    require_memory(
        owner,
        needed,
        what=f"the Gram matrix of {n} rows",
        avoid='Set n_landmarks, or solver="auto", or take '
        "GaussianProcess(approximation=Inducing(256)): none needs such a matrix.",
    )
    return False


def _choose(search: RidgeSearch, X: Any, Y: Array, counts: Array | None) -> Choice:
    """Kernel and penalty of smallest error on rows left out."""

    def errors(candidate: Kernel, rows: IntArray) -> Iterator[tuple[float, Any]]:
        kernel = candidate.resolve(X)
        part = take(X, rows)
        part = part[:, rows] if kernel.pairwise else part
        origin = free_origin(kernel, X) if search.center else None
        if counts is None and search.selection.leaves_one_out:
            Z = short_features(kernel, part, Y[rows], origin)
            if Z is not None:
                found = left_out_of_features(
                    Z, Y[rows].astype(np.float64), search.alphas, fit_intercept=search.center
                )
                return ((error, (kernel, alpha)) for error, alpha in found)
        K = own_gram(kernel, part, search.owner, origin)
        found = left_out_errors(
            K,
            Y[rows].astype(np.float64),
            search.alphas,
            search.selection,
            fit_intercept=search.center,
            rounding=search.rounding_of(kernel),
            counts=None if counts is None else counts[rows],
        )
        return ((error, (kernel, alpha)) for error, alpha in found)

    explore, selection = search.explore, search.selection
    n_rows = min(len(Y), selection.max_rows or len(Y))
    if explore is explore_widths and counts is None and selection.leaves_one_out:
        # Other errors ask for spectra, during which SciPy keeps the interpreter's lock.
        explore = partial(explore_widths, side_by_side=n_rows <= MOST_SHARED)
    return search.finite(selection.choose(search.kernels, errors, len(Y), explore))


def short_features(kernel: Kernel, X: Any, Y: Array, origin: Array | None) -> Array | None:
    """Explicit features in double precision, where they are the shorter way to left-out errors."""
    if "explicit" not in kernel.provides or not isinstance(X, np.ndarray):
        return None
    X = X.astype(np.float64) if is_single(X) else X
    Z = kernel.explicit_features(X if origin is None else X - origin)
    if not isinstance(Z, np.ndarray) or Z.dtype != np.float64 or Z.ndim != 2:
        return None
    return Z if is_short(Z, Y) else None


def own_gram(kernel: Kernel, X: Any, owner: Any, origin: Array | None = None) -> Array:
    """Gram matrix in double precision that the caller may overwrite; a given one was checked."""
    X = X.astype(np.float64) if is_single(X) else X
    if origin is not None:
        X = X - origin
    if kernel.pairwise:
        return kernel.gram(X, kernel.reference(X)).copy()
    return np.asarray(checked_gram(kernel, X, X, owner), dtype=np.float64)


def fine_objects(kernel: Kernel, X: Any, Y: Array, C: Array, error: float | None) -> Objects:
    r"""The objects of a prediction, as doubles where kernel values in single precision would hurt.

    Rounding errors add :math:`\epsilon^2\|c\|^2` times the mean square of the kernel to a squared
    error: on rows without noise, whose coefficients are large, more than there is without them.
    """
    objects = kernel.reference(X)
    if not is_single(objects) or kernel.pairwise or "explicit" in kernel.provides:
        return objects
    some = take(objects, spread(n_objects(objects)))
    square = float(np.mean(np.square(kernel.gram(some, some), dtype=np.float64)))
    added = float(np.finfo(np.float32).eps) ** 2 * square * float(np.sum(C * C)) / C.shape[1]
    if error is None:
        error = UNSEEN**2 * float(np.mean(np.var(Y, axis=0)))
    return objects.astype(np.float64) if added > HURTS * error else objects
