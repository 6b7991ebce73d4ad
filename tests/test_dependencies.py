"""Learning a map needs five packages; everything else is an extra, loaded where it is used."""

import ast
import subprocess
import sys
from importlib.metadata import metadata, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import isthmus
from isthmus._extras import load_extra

ROOT = Path(isthmus.__file__).parent
FIVE = {"joblib", "numba", "numpy", "scipy", "scikit-learn"}
ALLOWED = (FIVE - {"scikit-learn"}) | {"sklearn", "isthmus"} | set(sys.stdlib_module_names)


def requirements():
    return [Requirement(line) for line in requires("isthmus")]


def loaded_on_import(tree):
    """Imports that run with the module: not those in functions or for type checkers."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split(".")[0]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)


def test_five_packages_are_required():
    assert {r.name for r in requirements() if not r.marker} == FIVE


def test_the_extra_all_has_every_extra():
    extras = metadata("isthmus").get_all("Provides-Extra")
    needed = {
        extra: {r.name for r in requirements() if r.marker and r.marker.evaluate({"extra": extra})}
        for extra in extras
    }
    assert {"all", "app", "bench", "dask", "dev", "docs", "plot"} <= set(extras)
    assert needed["all"] == set().union(*needed.values())


def test_no_module_loads_an_extra_on_import():
    for path in sorted(ROOT.rglob("*.py")):
        if path.relative_to(ROOT).parts[0] == "cli" and path.name != "__init__.py":
            continue
        # What draws the explorer's page is loaded by isthmus.explore, which asks for the extra.
        if path.relative_to(ROOT).parts[:2] in {("explorer", "page"), ("explorer", "export")}:
            continue
        names = set(loaded_on_import(ast.parse(path.read_text(encoding="utf-8"))))
        assert names <= ALLOWED, f"{path.relative_to(ROOT)} imports {names - ALLOWED}"


def test_a_missing_package_is_named_with_its_extra():
    with pytest.raises(ImportError, match=r'f needs nothing_here\. .*pip install "isthmus\[app\]"'):
        load_extra("nothing_here", "app", "f")


def test_a_broken_package_speaks_for_itself(tmp_path, monkeypatch):
    (tmp_path / "cracked.py").write_text("import nothing_here\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="No module named 'nothing_here'"):
        load_extra("cracked", "app", "f")


def test_tables_say_that_they_need_pandas():
    # A name that is None among the loaded modules cannot be imported.
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "from isthmus.dependence import dependence_matrix\n"
        "from isthmus.regression import compare_ranks\n"
        "for call in (lambda: compare_ranks([[1]], [[1]], [], [1]), lambda: "
        "dependence_matrix([[1.0, 2.0], [2.0, 1.0]])):\n"
        "    try:\n        call()\n    except ImportError as error:\n        print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        f'{name} needs pandas. Install it with: pip install "isthmus[app]"'
        for name in ("compare_ranks", "dependence_matrix")
    ]
