"""The tables of public names in docs/api, written anew: ``python docs/reference.py``.

A code host shows these tables, with links to the source; the built pages have the whole docstrings
below them.
"""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import isthmus

DOCS = Path(__file__).parent
BEGIN, END = "<!-- names -->", "<!-- end of names -->"


def names_table(module: str) -> str:
    """Return a table of the public names of a module, each with its first sentence."""
    family = import_module(module)
    sources = defining_files(Path(family.__file__).with_suffix(".pyi"))
    lines = ["| name | in a line |", "|---|---|"]
    for name in sorted(family.__all__, key=str.lower):
        thing = getattr(family, name)
        if not callable(thing):
            lines.append(f"| `{name}` | |")
            continue
        summary = (inspect.getdoc(thing) or "").partition("\n")[0].replace("|", "\\|")
        lines.append(
            f"| [`{name}`](../../{sources.get(name, 'src/isthmus')}) | {as_markdown(summary)} |"
        )
    return "\n".join(lines)


def defining_files(stub: Path) -> dict[str, str]:
    """Return where each public name of a family is defined, as its stub says."""
    found = {}
    for node in ast.walk(ast.parse(stub.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            path = f"src/{node.module.replace('.', '/')}.py"
            found |= {name.asname or name.name: path for name in node.names}
    return found


def as_markdown(text: str) -> str:
    """Return a line of a docstring with its roles and labels as Markdown has them."""
    text = re.sub(r":math:`(.+?)`", r"$\1$", text)
    text = re.sub(r":\w+:`~?(?:[\w.]+\.)?(\w+)`", r"`\1`", text)
    text = re.sub(r"\[(\w+)\]_", r"[[\1]](../bibliography.md)", text)
    return re.sub(r"``(.+?)``", r"`\1`", text)


def with_table(page: str, table: str) -> str:
    """Return the page with this table before its first directive."""
    page = re.sub(rf"{BEGIN}.*?{END}\n\n", "", page, flags=re.DOTALL)
    return page.replace("```{eval-rst}", f"{BEGIN}\n\n{table}\n\n{END}\n\n```{{eval-rst}}", 1)


def main() -> None:
    """Write the table of every family that has a page."""
    for family in isthmus._FAMILIES:
        page = DOCS / "api" / f"{family}.md"
        if page.exists():
            page.write_text(with_table(page.read_text(), names_table(f"isthmus.{family}")))


if __name__ == "__main__":
    main()
