"""Imports run one way, and ``import isthmus`` loads nothing heavy."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import isthmus

ROOT = Path(isthmus.__file__).parent

# From the bottom to the top; a family may use those below it, one layer's each other but not in a
# circle.
LAYERS = [
    {"blocks", "linalg", "optimize", "losses", "smoothers"},
    {"kernels", "dependence", "series"},
    {"features", "sparse", "sensing", "regression", "preimage", "reduction", "coreset"},
    {"structured", "manifold"},
    {"robotics"},
    {"files"},
    {"explorer", "cli"},
]
LEVEL = {family: i for i, layer in enumerate(LAYERS) for family in layer}
# Not part of the chain: data for everybody above the estimators, figures for people.
ASIDE = {"datasets", "plotting", "testing"}
MAY_IMPORT_PLOTTING = {"explorer", "cli", "plotting"}
MAY_IMPORT_DATASETS = {"explorer", "cli", "datasets"}


def families():
    return sorted(p.name for p in ROOT.iterdir() if p.is_dir() and (p / "__init__.py").exists())


def imported_families(family):
    """Families of isthmus that the modules of ``family`` import, with the place."""
    for path in sorted((ROOT / family).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
                if node.module == "isthmus":
                    names = [f"isthmus.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                parts = name.split(".")
                if parts[0] == "isthmus" and len(parts) > 1 and not parts[1].startswith("_"):
                    yield parts[1], f"{path.relative_to(ROOT)}:{node.lineno}"


@pytest.mark.parametrize("family", families())
def test_imports_run_one_way(family):
    for other, place in imported_families(family):
        if other in ("typing", family):
            continue
        if other == "plotting":
            assert family in MAY_IMPORT_PLOTTING, f"{place} imports plotting"
        elif other == "datasets":
            assert family in MAY_IMPORT_DATASETS, f"{place} imports datasets"
        elif family not in ASIDE:
            assert LEVEL[other] <= LEVEL[family], f"{place}: {family} may not import {other}"


def test_every_family_has_a_level():
    assert set(families()) <= set(LEVEL) | ASIDE


def test_families_do_not_import_in_a_circle():
    graph = {f: {o for o, _ in imported_families(f)} - {f, "typing"} for f in families()}
    done = set()

    def visit(family, trail):
        assert family not in trail, " -> ".join([*trail, family])
        if family not in done:
            for other in sorted(graph.get(family, ())):
                visit(other, [*trail, family])
            done.add(family)

    for family in graph:
        visit(family, [])


def test_importing_the_library_loads_no_family():
    code = (
        "import sys, isthmus; "
        "print([m for m in sys.modules if m.startswith('isthmus.') or m in ('numpy', 'numba')])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_an_unknown_family_is_named():
    with pytest.raises(AttributeError, match="no attribute 'kernel'; it has"):
        isthmus.kernel  # noqa: B018


def test_families_are_listed():
    assert set(isthmus.__all__) <= set(dir(isthmus))
    for family in isthmus._FAMILIES:
        assert getattr(isthmus, family).__name__ == f"isthmus.{family}"
