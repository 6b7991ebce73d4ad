"""How an estimator meets rows in blocks: it has a fold, or says who has one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from isthmus._checks import name_of
from isthmus.blocks.containers import in_blocks, is_dask
from isthmus.blocks.rows import NAMES, Rows, open_rows

# Who can, by the family of the one who cannot.
INSTEAD = {
    "regression": "ReducedRankRegression, BayesianLinearRegression or KernelRidgeCV(n_landmarks=…)",
    "structured": "DependencyEstimator with landmarks on both sides",
    "features": "KernelPCA(n_landmarks=…) or SlowFeatureAnalysis",
    "manifold": "SmoothPSOM, given the latent points of the rows,",
    "sparse": "SparseDictionary, KSVD or NonnegativeFactorization",
    "coreset": "CoreVectorClassifier, CoreVectorRegressor or MinimumEnclosingBall",
    "preimage": "DependencyEstimator with landmarks, which draws the rows of its pre-image,",
    "robotics": "DependencyEstimator with landmarks on both sides",
    "series": "SlowFeatureAnalysis, or isthmus.blocks.fold with an overlap,",
}
ARGUMENTS = ("X", "y", "Y", "latent")


class NeedsAllRowsError(TypeError):
    """Rows in blocks were given to what cannot learn from them."""


def comes_in_blocks(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether rows or outputs that a ``fit`` was given are to be read block by block."""
    given = [*args[:2], *(kwargs[name] for name in ARGUMENTS if name in kwargs)]
    return any(map(in_blocks, given)) or any(map(is_dask, (*args[2:], *kwargs.values())))


def fit_blocks(
    estimator: Any, method: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Call ``fit`` with rows in blocks: the estimator's ``_fit_blocks``, or a refusal.

    A ``np.memmap`` is also an array: estimators without a fold, and those whose passes over blocks
    end elsewhere (``_memmap_as_array``), take it as one.
    """
    name = method.__name__
    fold: Any = getattr(estimator, "_fit_blocks", None)
    on_disk = all(isinstance(A, np.memmap) for A in (*args, *kwargs.values()) if in_blocks(A))
    if on_disk and getattr(estimator, "_memmap_as_array", False):
        return method(estimator, *args, **kwargs)
    try:
        if fold is None:
            refuse_blocks(estimator, "it needs all rows at once")
        if name == "fit":
            return fold(*args, **kwargs)
        if name != "fit_transform":
            refuse_blocks(estimator, f"{name} takes rows in memory", instead="fit")
        return estimator.fit(*args, **kwargs).transform(args[0] if args else kwargs["X"])
    except NeedsAllRowsError:
        if on_disk:
            return method(estimator, *args, **kwargs)
        raise


def refuse_blocks(owner: Any, why: str, *, instead: str | None = None) -> None:
    """Raise a ``TypeError`` that says why rows in blocks cannot be used here, and what can.

    Parameters
    ----------
    owner : object
        The estimator.
    why : str
        A clause without a full stop.
    instead : str or None
        What takes rows in blocks; None names those of the estimator's family.
    """
    family = type(owner).__module__.split(".")[1] if "." in type(owner).__module__ else ""
    instead = INSTEAD.get(family) if instead is None else instead
    can = f" {instead} can." if instead else ""
    raise NeedsAllRowsError(
        f"{name_of(owner)} cannot be fitted to rows in blocks (Dask, zarr, h5py, iterators): "
        f"{why}.{can} Or load the rows, if they fit into memory."
    )


def open_fit(
    owner: Any,
    *containers: Any,
    names: Sequence[str] = NAMES,
    objects: bool = False,
    **options: Any,
) -> Rows:
    """The rows that an estimator is fitted to; the numbers and names of columns are set on it.

    ``None`` at the end of ``containers``, such as weights that were not given, is left out.
    ``objects`` says that the first one may hold lists of objects; all else are numbers. The
    other options are those of :func:`open_rows`.
    """
    given = list(containers)
    while given and given[-1] is None:
        given.pop()
    numbers = names[1:] if objects else names
    rows = open_rows(owner, *given, names=names, numbers=numbers, **options)
    shape = getattr(rows.example, "shape", ())
    if len(shape) == 1:
        raise ValueError(
            f"{name_of(owner)} needs blocks of rows, of two dimensions, in X. Got blocks of one "
            "dimension; reshape them by block.reshape(1, -1) if each is one row, by "
            "block.reshape(-1, 1) if each is one column."
        )
    example = rows.example
    if hasattr(example, "shape") and rows.checks[0].width is not None:
        # Only the shape and the names count; values are looked at block by block.
        ones = example * 0 + 1 if hasattr(example, "iloc") else np.ones(example.shape)
        validate_data(owner, ones, dtype=None, reset=True)
    return rows


def require_outputs(owner: Any, rows: Rows) -> None:
    """Refuse rows that come neither with outputs nor as pairs of rows and outputs."""
    if len(rows.checks) < 2:
        raise ValueError(f"{name_of(owner)} requires y to be passed, but the target y is None.")


def plain_arrays(X: Any, y: Any) -> tuple[Any, Any] | None:
    """Memory maps as arrays, whose pages come and go; None if one is read in another way."""
    if not all(isinstance(part, np.memmap) for part in (X, y) if in_blocks(part)):
        return None
    X, y = (np.asarray(part) if in_blocks(part) else part for part in (X, y))
    return X, y
