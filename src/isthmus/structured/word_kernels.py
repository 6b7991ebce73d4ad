"""Kernels that are offered for inputs that are no rows of numbers."""

from typing import Any

import numpy as np

from isthmus.kernels.algebra.normalized import Normalized
from isthmus.kernels.base import Kernel
from isthmus.kernels.graphs.labelled import LabelledGraph
from isthmus.kernels.graphs.marginalized import MarginalizedGraph
from isthmus.kernels.sequences.marginalized import MarginalizedSequence
from isthmus.kernels.sequences.positions import NGrams
from isthmus.kernels.series.alignment import GlobalAlignment
from isthmus.typing import Objects


def kernels_for(X: Objects) -> tuple[Kernel, ...]:
    """Kernels to choose from, by what the first object is.

    Sequences get pieces with and without their places, from short to long ones; the additive
    kernels come before their sharper powers would, because outputs that are put together from parts
    need them.

    >>> from isthmus.structured.word_kernels import kernels_for
    >>> [type(k.base).__name__ for k in kernels_for(["nation", "ration"])]
    ['NGrams', 'NGrams', 'NGrams', 'NGrams', 'MarginalizedSequence']
    """
    first: Any = X[0] if not hasattr(X, "iloc") else X.iloc[0]
    if isinstance(first, np.ndarray) and first.dtype.kind == "f":
        return (GlobalAlignment(),)
    if isinstance(first, LabelledGraph) or all(
        hasattr(first, name) for name in ("nodes", "edges", "is_directed")
    ):
        return tuple(Normalized(MarginalizedGraph(stop)) for stop in (0.1, 0.3))
    if isinstance(first, (str, bytes, list, tuple, np.ndarray)):
        return (
            Normalized(NGrams(3)),
            Normalized(NGrams(2)),
            Normalized(NGrams(4, growth=0.0)),
            Normalized(NGrams(3, position=0.0)),
            Normalized(MarginalizedSequence(0.5, position_decay=0.5)),
        )
    raise TypeError(
        "No kernel is known for inputs such as "
        f"{first!r:.60} of type {type(first).__name__}: give one as x_features."
    )
