"""Answers of a map from inputs to outputs for rows of the table, in one file."""

from html import escape
from typing import Any

import numpy as np

from isthmus import __version__
from isthmus.blocks.sampling import sample_rows
from isthmus.explorer.answers import Answers
from isthmus.explorer.export.filling import HERE, as_json, filled
from isthmus.explorer.page.answering import (
    answer_html,
    certainty_html,
    output_svg,
    pairs_html,
)
from isthmus.explorer.page.markup import STYLE, captioned
from isthmus.kernels.objects import take

_MOST_ROWS = 200
# Characters of all answers in a file, about.
_BUDGET = 3_000_000


def answers_text(answers: Answers, title: str) -> str:
    """Return the page as text: one answer for each of some rows, the first row among them."""
    found, spent = {}, 0
    some = np.sort(sample_rows(len(answers.rows), _MOST_ROWS, 0))
    order = np.random.default_rng(0).permutation(some)
    for index in [0, *order.tolist()]:
        if index in found:
            continue
        found[index] = _answer(answers, index)
        spent += sum(len(part) for part in found[index].values())
        if spent > _BUDGET:
            break
    rows = [{"row": index, **found[index]} for index in sorted(found)]
    note = (
        f"{len(rows)} of {len(answers.rows)} rows were asked about beforehand. Other inputs, and "
        "what each pre-image solver makes of an answer, need the live page: isthmus explore."
    )
    return filled(
        "asked.html",
        {
            "TITLE": escape(title),
            "NOTE": escape(note),
            "VERSION": escape(__version__),
            "STYLE": (HERE / "page.css").read_text(encoding="utf-8") + STYLE,
            "SCRIPT": (HERE / "asked.js").read_text(encoding="utf-8"),
            "CONTENT": as_json(rows),
        },
    )


def _answer(answers: Answers, index: int) -> dict[str, str]:
    x = answers.input_of(index)
    answer = answers.ask(x)
    left, right = answer_html(answers, x, answer.output)
    truth = ""
    if answers.outputs is not None:
        own: Any = take(answers.outputs, [index])[0]
        truth = captioned(output_svg(answers, own, f"output of row {index}"), "in the table")
    words = _words(answers, x)
    return {
        "pictures": left + right + truth,
        "certain": words + certainty_html(answers, answer),
        "pairs": pairs_html(answers, answer),
    }


def _words(answers: Answers, x: Any) -> str:
    """Inputs that are words, which the picture of the numbers leaves out."""
    if answers.frame is None:
        return ""
    told = [
        f"{str(name)[:60]}: {str(value)[:60]}"
        for name, value in zip(answers.frame.columns, x, strict=True)
        if not isinstance(value, (int, float))
    ]
    return f'<p class="small">{escape(" · ".join(told))}</p>' if told else ""
