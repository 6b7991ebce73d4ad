"""Fill in the template of a page and write it, whole or not at all."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from isthmus.files.atomic import replacing, writable_target

HERE = Path(__file__).parent


def filled(template: str, parts: dict[str, str]) -> str:
    """Return a template of this folder in which every ``%%NAME%%`` has been replaced."""
    pieces = (HERE / template).read_text(encoding="utf-8").split("%%")
    # Every second piece is a name, so that nothing within the parts is taken for one.
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def as_json(content: Any) -> str:
    """Return content for a script element."""
    # A closing tag within a text would end the script that holds it.
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def write_text(path: Path, make: Callable[[], str]) -> None:
    """Write a page; a file that exists is replaced once the new one is complete."""
    writable_target(path)
    text = make()
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
