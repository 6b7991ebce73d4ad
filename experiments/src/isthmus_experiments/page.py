"""The report as one self-contained HTML page, with style and pictures inside."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from isthmus_experiments.outcome import BAND, Row, count_findings, format_value

if TYPE_CHECKING:
    from isthmus_experiments.runner import Result

__all__ = ["page"]


def page(
    results: Sequence[Result],
    facts: Mapping[str, str],
    *,
    quick: bool,
    without_pictures: str = "",
) -> str:
    """Return the HTML text of the report.

    Parameters
    ----------
    results : sequence of Result
    facts : mapping
        Shown at the end under "Machine".
    quick : bool
        Stated at the top, because quick values are not the ones to quote.
    without_pictures : str
        Why there are no pictures, if there are none.
    """
    lead = (
        "Quick settings: small data, meant to show that everything runs. "
        "The values to quote come from the full settings."
        if quick
        else "Full settings."
    )
    rows = [row for r in results if r.outcome for row in r.outcome.rows]
    lead += (
        f" {count_findings(rows)}. Reproduced: a published number within {BAND:.0%}. Holds: a "
        "published claim, or a number that is not met so closely. Observed: ours alone, nothing "
        "was published."
    )
    template = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(
        title="Published and ours",
        lead=lead,
        missing=f"<p><strong>{escape(without_pictures)}</strong></p>" if without_pictures else "",
        overview="\n".join(map(_overview_row, results)),
        sections="\n".join(map(_section, results)),
        machine=_pairs(facts),
    )


def _overview_row(r: Result) -> str:
    e = r.experiment
    return (
        f'<tr><td><a href="#{escape(e.id)}">{escape(e.id)}</a></td><td>{escape(e.title)}</td>'
        f"<td>{escape(e.document)}</td><td>{_verdict(r)}</td>"
        f'<td class="value">{r.seconds:.1f} s</td></tr>'
    )


def _section(r: Result) -> str:
    e = r.experiment
    parts = [
        f'<section id="{escape(e.id)}">',
        f"<h2>{escape(e.id)}: {escape(e.title)}</h2>",
        f'<p class="soft small">{escape(e.document)}</p>',
        f"<p>{_verdict(r)}</p>",
        f"<h3>What is published</h3><p>{escape(e.published)}</p>",
    ]
    if r.outcome is not None:
        parts += [_findings(r.outcome.rows)]
        parts += [_figure(p.caption, r.images.get(p.name)) for p in r.outcome.pictures]
        parts += [_list("Notes", r.outcome.notes)]
    parts += [_list("Warnings", r.warnings)]
    run = {"seed": r.seed, "time": f"{r.seconds:.1f} s", **r.settings}
    parts += [f"<h3>Seed, time and settings</h3><dl>{_pairs(run)}</dl>", "</section>"]
    return "\n".join(part for part in parts if part)


def _findings(rows: Iterable[Row]) -> str:
    body = "\n".join(
        f"<tr><td>{escape(row.quantity)}</td>{_value(row.published)}{_value(row.ours)}"
        f"<td>{_mark(row.finding)} {escape(row.verdict)}</td></tr>"
        for row in rows
    )
    return (
        '<h3>Findings</h3><div class="scroll"><table><thead><tr><th>quantity</th>'
        "<th>published</th><th>ours</th><th>verdict</th></tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _value(value: str | float | None) -> str:
    text = format_value(value)
    kind = "value long" if len(text) > 20 else "value"
    return f'<td class="{kind}">{escape(text)}</td>'


def _figure(caption: str, png: bytes | None) -> str:
    if png is None:
        return ""
    data = base64.b64encode(png).decode("ascii")
    # Drawn at 150 dots per inch, shown at 100: sharp on fine screens, letters the size of text.
    width = int.from_bytes(png[16:20]) * 100 // 150
    return (
        f'<figure><img alt="{escape(caption)}" width="{width}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _verdict(r: Result) -> str:
    return f"{_mark(r.status)} {escape(r.verdict.removeprefix(f'{r.status}: '))}"


def _mark(word: str) -> str:
    return f'<span class="mark {word}">{word}</span>'


def _list(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    return f"<h3>{title}</h3><ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _pairs(pairs: Mapping[str, Any]) -> str:
    return "".join(f"<dt>{escape(k)}</dt><dd>{escape(str(v))}</dd>" for k, v in pairs.items())
