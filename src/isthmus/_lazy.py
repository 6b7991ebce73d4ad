"""Packages whose names are loaded when they are first touched."""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def homes(package: str) -> dict[str, str]:
    """The public names of a package with the modules that define them, from ``__init__.pyi``."""
    stub = Path(str(sys.modules[package].__file__)).with_suffix(".pyi")
    return {
        alias.name: node.module
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def attach(package: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package from its ``__init__.pyi``.

    The stub is the one list of public names: type checkers and editors read it, and so does this
    function. ``import isthmus.kernels`` thus compiles no loops and loads no file of the family.
    """
    home = homes(package)
    names = sorted(home)

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}; it has {', '.join(names)}"
            )
        value = getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, value)  # the next look-up does not come here
        return value

    return names, get, lambda: names
