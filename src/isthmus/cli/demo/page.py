"""The page of ``isthmus demo``: what was learned, with its picture, and what was repeated."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd

from isthmus.cli.model import Model

HALVES = {"top": "upper", "bottom": "lower"}


@dataclass(frozen=True)
class Direction:
    """One of the two maps: what it was made by, how good it is, what it predicts."""

    given: str
    wanted: str
    command: str
    model: Model
    model_file: Path
    quality: float
    predicted: pd.DataFrame


@dataclass(frozen=True)
class Remade:
    """One published result in a line."""

    id: str
    claim: str
    finding: str
    seconds: float

    @classmethod
    def of(cls, result: Any, claim: str) -> "Remade":
        """Count how much of what was published was found again."""
        rows = result.outcome.rows if result.outcome else ()
        judged = [row.agrees for row in rows if row.agrees is not None and row.is_published]
        finding = f"{sum(judged)} of {len(judged)}" if judged else result.status
        return cls(result.experiment.id, claim, finding, result.seconds)


def demo_page(
    directions: Sequence[Direction], picture: bytes, use: str, remade: Sequence[Remade]
) -> str:
    """Return the page as HTML, with style and picture inside."""
    template = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(
        picture=_figure(picture),
        commands="\n".join(escape(direction.command) for direction in directions),
        use=escape(use),
        directions="\n".join(map(_direction, directions)),
        remade=_remade(remade),
    )


def _figure(picture: bytes) -> str:
    if not picture:
        return '<p class="soft">No picture: matplotlib is not installed.</p>'
    data = base64.b64encode(picture).decode("ascii")
    caption = (
        "Eight digits that neither model has seen. Rows 1 and 2: the upper half is given, the "
        "lower half predicted. Rows 3 and 4: the other way. Last row: the digits themselves."
    )
    return (
        f'<figure><img alt="{caption}" src="data:image/png;base64,{data}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _direction(direction: Direction) -> str:
    compared = direction.model.card["comparison"]
    rows = "\n".join(
        f"<tr{' class=chosen' if name == direction.model.name else ''}><td>{escape(name)}</td>"
        f'<td class="value">{quality:.3f}</td></tr>'
        for name, quality in compared["quality"].items()
    )
    title = f"{HALVES[direction.wanted]} half from {HALVES[direction.given]} half"
    return (
        f"<div><h3>{title}</h3><table><thead><tr><th>estimator</th><th>R² on rows left out</th>"
        f'</tr></thead><tbody>{rows}</tbody></table><p class="small">Chosen: '
        f"{escape(direction.model.name)}. R² on digits it has not seen: {direction.quality:.3f}. "
        f"Saved as <code>{escape(direction.model_file.name)}</code>.</p></div>"
    )


def _remade(remade: Sequence[Remade]) -> str:
    if not remade:
        return "<p>The experiments are not installed: pip install isthmus-experiments</p>"
    rows = "\n".join(
        f'<tr><td><a href="reproductions/index.html#{escape(one.id)}">{escape(one.id)}</a></td>'
        f"<td>{escape(one.claim)}</td><td>{escape(one.finding)}</td>"
        f'<td class="value">{one.seconds:.1f} s</td></tr>'
        for one in remade
    )
    return (
        '<div class="scroll"><table><thead><tr><th>id</th><th>what was published</th>'
        "<th>findings that agree</th><th>time</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )
