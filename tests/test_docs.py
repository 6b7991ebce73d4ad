"""Documents tell the truth: their code runs, and the page of systems is complete."""

import inspect
import re
import runpy
from importlib import import_module
from pathlib import Path

import pytest
from isthmus_experiments import list_ids
from sklearn.base import BaseEstimator

import isthmus
from isthmus.kernels import Kernel

pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
if not DOCS.is_dir():
    pytest.skip("an installed package has no documents", allow_module_level=True)

FOLDERS = ("*.md", "guide/*.md", "coming_from/*.md")
PAGES = [ROOT / "README.md", *(page for folder in FOLDERS for page in sorted(DOCS.glob(folder)))]
EXAMPLES = sorted((ROOT / "examples").glob("*/plot_*.py"))
# Directives that a code host shows as they stand: nothing a reader would miss.
ONLY_BUILT = {"toctree", "include", "eval-rst"}
LABEL = re.compile(r"\[([A-Z][A-Za-z]+\d{4})\]")


def python_blocks(text):
    """The Python blocks of a Markdown page, after empty lines so that line numbers hold."""
    for match in re.finditer(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        if not match[1].startswith("# not run"):
            yield "\n" * text.count("\n", 0, match.start(1)) + match[1]


def named(path):
    return str(path.relative_to(ROOT))


@pytest.fixture(autouse=True)
def no_windows(monkeypatch, tmp_path):
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)  # what a document writes stays out of the tree
    yield
    plt.close("all")


@pytest.mark.parametrize("page", [p for p in PAGES if "```python" in p.read_text()], ids=named)
def test_code_of_the_page_runs(page):
    names = {"__name__": "__page__"}
    for block in python_blocks(page.read_text()):
        exec(compile(block, str(page), "exec"), names)


@pytest.mark.parametrize("example", EXAMPLES, ids=named)
def test_example_runs_and_draws(example):
    from matplotlib.figure import Figure

    names = runpy.run_path(str(example))
    assert any(isinstance(value, Figure) for value in names.values())
    assert names["__doc__"].strip().count("\n") > 2  # a title and what is claimed


def public_systems():
    """Every estimator, pre-image and kernel that a user can make, as ``family.Name``."""
    for family in isthmus._FAMILIES:
        module = import_module(f"isthmus.{family}")
        for name in module.__all__:
            thing = getattr(module, name)
            if (
                inspect.isclass(thing)
                and issubclass(thing, (BaseEstimator, Kernel))
                and not inspect.isabstract(thing)
            ):
                yield f"{family}.{name}"


def benchmark_names():
    sources = (ROOT / "benchmarks").glob("bench_*.py")
    return {n for s in sources for n in re.findall(r'@benchmark\(\s*"([^"]+)"', s.read_text())}


@pytest.mark.parametrize("system", list(public_systems()))
def test_system_is_on_the_page_a_visitor_reads_first(system):
    family, name = system.split(".")
    assert f"[`{name}`](api/{family}.md)" in (DOCS / "systems.md").read_text()


@pytest.mark.parametrize(
    ("column", "known"),
    [
        ("reproduction", set(list_ids())),
        ("benchmark", benchmark_names()),
    ],
)
def test_systems_page_names_runs_that_exist(column, known):
    rows = [row.split("|") for row in (DOCS / "systems.md").read_text().splitlines()]
    header = next(row for row in rows if len(row) > 1 and row[1].strip() == "system")
    where = [cell.strip() for cell in header].index(column)
    cells = [row[where] for row in rows if len(row) == len(header) and "](api/" in row[1]]
    named_there = {name.strip(" `") for cell in cells for name in cell.split(",")} - {"–"}
    assert named_there <= known
    assert len(named_there) > 2


@pytest.mark.parametrize("family", isthmus._FAMILIES)
def test_family_has_a_reference_page(family):
    assert f"automodule:: isthmus.{family}\n" in (DOCS / "api" / f"{family}.md").read_text()


@pytest.mark.parametrize("family", isthmus._FAMILIES)
def test_reference_page_lists_every_name(family):
    page = DOCS / "api" / f"{family}.md"
    rows = re.findall(r"^\| \[?`(\w+)`(?:\]\((\S+?)\))? \|", page.read_text(), flags=re.M)
    listed, missing = {name for name, _ in rows}, "run python docs/reference.py"
    assert listed == set(import_module(f"isthmus.{family}").__all__), missing
    assert all((page.parent / path).exists() for _, path in rows if path), missing


def test_labels_are_in_the_bibliography():
    known = set(re.findall(r"^\.\. \[(\w+)\]", (DOCS / "bibliography.md").read_text(), flags=re.M))
    sources = [*PAGES, *(ROOT / "src").rglob("*.py")]
    used = {label for path in sources for label in LABEL.findall(path.read_text())}
    assert used - known == set()


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=named)
def test_links_to_files_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[\w-]*)?\)", page.read_text())
    built = [link for link in links if "gallery/" in link]
    for link in set(links) - set(built):
        assert (page.parent / link).exists(), link
    for link in built:  # docs/gallery/x/plot_y.rst is made of examples/x/plot_y.py
        source = link.partition("gallery/")[2].replace(".rst", ".py")
        assert (ROOT / "examples" / source).exists(), link


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_page_reads_on_a_code_host(page):
    text = page.read_text()
    assert not re.findall(r"\{py:\w+\}`", text)
    assert set(re.findall(r"^(?:```|:::+)\{([\w-]+)\}", text, flags=re.M)) <= ONLY_BUILT
    assert "<svg" not in text  # removed by code hosts; a file is shown
    for target in re.findall(
        r"\]\(([^)#:]+?)(?:#[^)]*)?\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    ):
        assert (page.parent / target).exists(), target
