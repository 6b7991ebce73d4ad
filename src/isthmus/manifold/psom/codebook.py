"""Codebooks of self-organising maps, from whatever holds one."""

from typing import Any

import numpy as np

from isthmus._checks import check_table
from isthmus.typing import Array

# Where packages keep the weights of their units, in the order in which they are asked for.
HOLDERS = ("get_weights", "codebook", "unsuper_som_", "weights_", "weights", "images_")
# A regular grid of more nodes per axis rings: then the map is made of smaller windows.
MOST_NODES, WINDOW = 7, 3


def read_codebook(source: Any, owner: str) -> Array:
    """The weights (*grid, d) or (n_units, d) of an array, or of a trained map."""
    topology = getattr(source, "topology", getattr(source, "_gridtype", "rectangular"))
    if isinstance(topology, str) and topology.startswith("hex"):
        raise ValueError(
            f"{owner} needs a rectangular grid of units. Got a hexagonal one, of {source!r:.60}."
        )
    held = source
    if not isinstance(source, (np.ndarray, list, tuple)):
        name = next((n for n in HOLDERS if hasattr(source, n)), None)
        if name is None:
            raise TypeError(
                f"{owner} needs an array of shape (*grid, n_features), or a trained map with one "
                f"of {', '.join(HOLDERS)}. Got {source!r:.60} instead."
            )
        held = getattr(source, name)
        held = held() if callable(held) else held
    return check_table(
        held,
        "codebook",
        owner,
        expected="an array of numbers of shape (*grid, n_features)",
        allow_nd=True,
    )


def window_of(shape: tuple[int, ...]) -> int | None:
    """Nodes per axis that a map through a codebook should use at once; None for all."""
    return WINDOW if max(shape) > MOST_NODES else None
