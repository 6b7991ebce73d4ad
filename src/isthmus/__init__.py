"""Isthmus learns maps between any two spaces.

Everything is one of the three arrows of a square (features φ, regression T,
pre-images Γ), a tool to choose an arrow, or a tool to make it cheap. The
families are loaded when they are first touched, so that ``import isthmus``
costs nothing.

>>> import isthmus
>>> isthmus.structured.DependencyEstimator()
DependencyEstimator()
# X → φ, T: default → Γ: default → Y
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_FAMILIES = (
    "blocks",
    "coreset",
    "datasets",
    "dependence",
    "explorer",
    "features",
    "files",
    "kernels",
    "linalg",
    "losses",
    "manifold",
    "optimize",
    "plotting",
    "preimage",
    "reduction",
    "regression",
    "robotics",
    "sensing",
    "series",
    "smoothers",
    "sparse",
    "structured",
    "testing",
)

# Functions that need no family's name, with the modules that define them.
_FUNCTIONS = {
    "explore": "isthmus.explorer.opening",
    "load": "isthmus.files.store",
    "save": "isthmus.files.store",
}

__all__ = ["__version__", *_FAMILIES, *_FUNCTIONS]


def __getattr__(name: str) -> Any:
    if name in _FAMILIES:
        return import_module(f"isthmus.{name}")
    if name in _FUNCTIONS:
        return getattr(import_module(_FUNCTIONS[name]), name)
    raise AttributeError(
        f"module 'isthmus' has no attribute {name!r}; it has {', '.join(_FAMILIES)}"
    )


def __dir__() -> list[str]:
    return sorted(__all__)
