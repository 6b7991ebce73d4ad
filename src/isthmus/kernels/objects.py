"""Collections of objects: the one place that tells arrays from lists."""

from collections.abc import Collection
from numbers import Number
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _num_samples, validate_data

from isthmus.typing import Objects


def n_objects(X: Objects) -> int:
    """Number of objects in ``X``."""
    if type(X) is np.ndarray and X.ndim:
        return len(X)  # scikit-learn asks first whether it is a data frame of any kind
    return int(_num_samples(X))


def take(X: Objects, indices: Any) -> Objects:
    """The objects of ``X`` at ``indices`` (integers, a mask or a slice).

    >>> take(["a", "b", "c"], [2, 0])
    ['c', 'a']
    """
    if isinstance(indices, slice) and isinstance(X, (list, np.ndarray)):
        return X[indices]
    if hasattr(X, "take_columns"):
        return X.take_columns(indices)
    if type(X) is np.ndarray and type(indices) is np.ndarray:
        return X[indices]  # scikit-learn asks first whether it is a data frame of any kind
    return _safe_indexing(X, indices)


def check_list(X: Objects, owner: str) -> Objects:
    """A non-empty collection of objects: arrays stay as they are, all else becomes a list."""
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise TypeError(
            f"{owner} expected a collection of objects (a list or an array). "
            f"Got {X!r:.60} of type {type(X).__name__} instead."
        )
    if len(X) == 0:
        raise ValueError(f"{owner} expected at least one object. Got an empty collection instead.")
    if isinstance(X, np.ndarray):
        return X
    return list(X.to_numpy()) if hasattr(X, "to_numpy") else list(X)


def check_objects(
    estimator: Any, X: Objects, kernel: Any, *, reset: bool, sparse: bool = False
) -> Objects:
    """Check what an estimator is given, as its kernel requires.

    Arrays go through scikit-learn's ``validate_data``, which records the number and names of
    features; anything else is checked by the kernel. With ``sparse``, sparse rows are taken in CSR
    form if the kernel can compare them, and otherwise refused.
    """
    if kernel.vectors:
        refuse_text(X, type(estimator).__name__, kernel)
    if kernel.vectors or (kernel.pairwise and not hasattr(X, "take_columns")):
        if sparse and issparse(X) and "sparse" not in kernel.provides:
            raise TypeError(
                f"{type(estimator).__name__} compares sparse rows by a kernel that can: Gaussian, "
                f"Linear, Polynomial. Got {kernel!r}: give it dense rows, X.toarray()."
            )
        X = validate_data(
            estimator,
            X,
            accept_sparse="csr" if sparse else False,
            dtype=[np.float64, np.float32],
            reset=reset,
            ensure_min_samples=1,
        )
        if kernel.pairwise and reset and X.shape[0] == X.shape[1]:
            from isthmus.kernels.definiteness import check_gram

            return check_gram(X, estimator, overwrite=False)
        return X
    # Rows of one word would be sequences of one symbol, which is the word.
    return kernel.check(_words(X) if "sequences" in kernel.provides else X)


def check_collection(
    estimator: Any,
    X: Objects,
    kernel: Any = None,
    *,
    kinds: Collection[str] = (),
    reset: bool | None,
) -> Objects:
    """Check inputs or outputs of an estimator whose parts may be of any class.

    With a kernel, they are checked as the kernel requires; without one, tables of numbers as
    scikit-learn does and anything else as a list. ``kinds`` are the words by which the parts
    declare what an object is (see :mod:`isthmus.typing`); if they declare nothing, the data decide.
    ``reset=None`` is for outputs: they leave the estimator's ``n_features_in_`` alone, and one
    number per object becomes a column.
    """
    if kernel is not None:
        kinds = kernel.provides
    told = "vectors" in kinds or not set(kinds) & {"vectors", "objects", "pairwise"}
    vectors = looks_like_table(X, flat=reset is None) if not kinds else told
    if kinds and vectors and _holds_text(X):
        role, slot = ("inputs", "x_features") if reset is not None else ("outputs", "y_features")
        what = "its parts compare" if kernel is None else f"its kernel {kernel!r} compares"
        raise ValueError(
            f"{type(estimator).__name__} got text as {role}, but {what} vectors. Name a kernel for "
            f'text in {slot}: "delta" for labels, Spectrum(3) for words, or one of your own.'
        )
    if kernel is not None and not vectors:
        if reset is None:
            return kernel.check(_words(X) if "sequences" in kernel.provides else X)
        return check_objects(estimator, X, kernel, reset=reset)
    if not vectors and "pairwise" not in kinds:
        return check_list(X, type(estimator).__name__)
    if reset is not None:
        return validate_data(estimator, X, dtype=[np.float64, np.float32], reset=reset)
    Y = check_array(
        X, dtype=[np.float64, np.float32], ensure_2d=False, input_name="y", estimator=estimator
    )
    return Y[:, None] if Y.ndim == 1 else Y


def refuse_text(X: Objects, owner: str, kernel: Any) -> None:
    """Refuse text that is given to a kernel of vectors, and say what to do."""
    if _holds_text(X):
        raise ValueError(
            f"{owner} got text, but its kernel {kernel!r} compares vectors. Name a kernel for "
            'text: "delta" for labels, Spectrum(3) or Subsequence(3) for words, or one of your own.'
        )


def _holds_text(X: Objects) -> bool:
    """Whether ``X`` is a list, a row or a pandas column of texts."""
    listed = isinstance(X, (list, tuple)) or getattr(X, "ndim", 0) == 1
    if not listed or len(X) == 0:
        return False
    return isinstance(X.iloc[0] if hasattr(X, "iloc") else X[0], (str, bytes))


def _words(X: Objects) -> Objects:
    """The texts of a table whose one column holds them; anything else as it is.

    >>> _words(np.array([["ab"], ["c"]])).tolist()
    ['ab', 'c']
    """
    if getattr(X, "ndim", 1) == 2 and X.shape[1] == 1:
        column = X.iloc[:, 0] if hasattr(X, "iloc") else X[:, 0]
        return column if _holds_text(column) else X
    return X


def concatenate(X: Objects, Z: Objects) -> Objects:
    """The objects of ``X``, then those of ``Z``.

    >>> concatenate(["a"], ["b", "c"])
    ['a', 'b', 'c']
    """
    if isinstance(X, np.ndarray) and isinstance(Z, np.ndarray):
        return np.concatenate([X, Z])
    return [*X, *Z]


def looks_like_table(X: Objects, *, flat: bool = False) -> bool:
    """Whether ``X`` is a table of numbers (with ``flat``, also one number per object)."""
    if issparse(X):
        return True
    if hasattr(X, "iloc"):
        return flat or X.ndim == 2
    if isinstance(X, np.ndarray):
        return X.dtype.kind in "fiub" and (X.ndim == 2 or (flat and X.ndim == 1))
    if not isinstance(X, (list, tuple)) or not len(X):
        return True  # let scikit-learn say what is wrong with it
    first = X[0]
    if isinstance(first, (Number, np.number)):
        return flat
    rows = isinstance(first, (list, tuple, np.ndarray)) and len({len(row) for row in X}) == 1
    return rows and all(isinstance(v, (Number, np.number)) for v in first)


def object_array(items: Any) -> np.ndarray:
    """One-dimensional array whose entries are the objects, whatever their length.

    It can be indexed by arrays and concatenated, unlike a list of series of different lengths.

    >>> object_array([[1, 2], [3]]).shape
    (2,)
    """
    if isinstance(items, np.ndarray) and items.ndim == 1:
        return items
    return np.fromiter(items, dtype=object, count=len(items))
