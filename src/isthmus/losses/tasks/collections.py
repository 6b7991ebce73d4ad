"""Collections of outputs: rows of tables, or lists of anything."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from isthmus.typing import IntArray, Objects


def n_outputs(outputs: Objects) -> int:
    """How many outputs there are."""
    return int(outputs.shape[0] if hasattr(outputs, "shape") else len(outputs))


def take_outputs(outputs: Objects, indices: Any) -> Objects:
    """The outputs at ``indices``; of a list, as a one-dimensional array of objects."""
    if isinstance(outputs, np.ndarray) or sparse.issparse(outputs) or hasattr(outputs, "iloc"):
        return _safe_indexing(outputs, indices)
    chosen = range(len(outputs))[indices] if isinstance(indices, slice) else indices
    found = np.empty(len(chosen), dtype=object)
    for place, i in enumerate(chosen):
        found[place] = outputs[i]
    return found


def distinct(outputs: Objects) -> tuple[Objects, IntArray]:
    """The distinct outputs in order of appearance, and the number of each row's.

    >>> distinct(["b", "a", "b"])
    (array(['b', 'a'], dtype=object), array([0, 1, 0]))
    """
    keys: dict[Any, int] = {}
    firsts: list[int] = []
    number = np.empty(n_outputs(outputs), dtype=np.intp)
    for i, key in enumerate(output_keys(outputs)):
        if key not in keys:
            keys[key] = len(firsts)
            firsts.append(i)
        number[i] = keys[key]
    return take_outputs(outputs, firsts), number


def output_keys(outputs: Objects) -> list[Any]:
    """What can be hashed and is equal for two outputs where they are."""
    if isinstance(outputs, np.ndarray) and outputs.ndim == 1 and outputs.dtype.kind != "O":
        return list(outputs.tolist())
    if sparse.issparse(outputs):
        table = sparse.csr_array(outputs)
        table.sort_indices()
        ends = zip(table.indptr[:-1], table.indptr[1:], strict=True)
        return [(table.indices[a:b].tobytes(), table.data[a:b].tobytes()) for a, b in ends]
    return [_key(outputs[i]) for i in range(n_outputs(outputs))]


def _key(thing: Any) -> Any:
    """What two outputs share where they are equal; a thing that cannot be hashed is its own."""
    if isinstance(thing, np.ndarray) and thing.dtype.kind != "O":
        return thing.dtype.str, thing.shape, thing.tobytes()
    if isinstance(thing, (list, tuple, np.ndarray)):
        return "sequence", tuple(_key(part) for part in thing)
    try:
        hash(thing)
    except TypeError:
        return "unhashable", id(thing)
    return thing


def join_outputs(parts: list[Objects]) -> Objects:
    """The outputs of several blocks, one after the other."""
    if len(parts) == 1:
        return parts[0]
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    joined = [thing for part in parts for thing in part]
    return take_outputs(joined, range(len(joined)))
