"""An answer of a map from inputs to outputs, as pieces of a page."""

from html import escape
from typing import Any

import numpy as np

from isthmus.explorer.answers import Answer, Answers
from isthmus.explorer.exploration import Exploration
from isthmus.explorer.kinds.picture import number
from isthmus.explorer.page.markup import captioned, look_html, side_by_side, two_pictures
from isthmus.kernels.objects import take

_MOST_LINES = 12


def answer_html(answers: Answers, x: Any, output: Any) -> tuple[str, str]:
    """Return an input and what is predicted of it."""
    shown = [v for v in x if isinstance(v, (int, float))] if answers.frame is not None else x
    left = captioned(answers.x_artist.svg(shown, "the input"), "input")
    return left, captioned(output_svg(answers, output, "the output"), "predicted")


def output_svg(answers: Answers, output: Any, label: str) -> str:
    """Return an output as a picture."""
    one = np.atleast_1d(output) if isinstance(output, (int, float, np.number)) else output
    return answers.y_artist.svg(one, label)


def certainty_html(answers: Answers, answer: Answer) -> str:
    """Return the interval of each output, or the members of a set, and what is promised of them."""
    names = answers.output_names
    told = f'<p class="small">{escape(answer.guarantee)}</p>' if answer.guarantee else ""
    if answer.ends is not None:
        low, high = (np.ravel(end) for end in answer.ends)
        middle = np.ravel(np.asarray(answer.output, dtype=float))
        lines = "".join(
            f"<tr><td>{escape(names[i][:60] if i < len(names) else str(i + 1))}</td>"
            f"<td>{number(middle[i])}</td><td>{number(low[i])} … {number(high[i])}</td></tr>"
            for i in range(min(len(low), _MOST_LINES))
        )
        head = "<tr><th>output</th><th>predicted</th><th>between</th></tr>"
        left = len(low) - _MOST_LINES
        more = f'<p class="small">and {left} more outputs</p>' if left > 0 else ""
        return f'<table class="small">{head}{lines}</table>{more}{told}'
    if answer.members:
        some = [
            (f"{i + 1}.", output_svg(answers, member, "member"))
            for i, member in enumerate(answer.members)
        ]
        return f"<p>The set, best first:</p>{side_by_side(some)}{told}"
    return told


def pairs_html(answers: Answers, answer: Answer) -> str:
    """Return the training pairs that count most, with their weights; empty where there are none."""
    if not answer.pairs:
        return ""
    some = []
    for index, weight in answer.pairs:
        inputs = answers.x_artist.svg(take(answers.rows.objects, [index])[0], f"input {index}")
        if answers.outputs is not None:
            one = take(answers.outputs, [index])[0]
            inputs += output_svg(answers, one, f"output {index}")
        some.append((f"row {index}, weight {weight:.3g}", inputs))
    return f"<p>Training pairs that count most:</p>{side_by_side(some)}"


def first_html(exploration: Exploration | None, answers: Answers | None) -> str:
    """Return the pictures that a page shows first."""
    if exploration is not None:
        found = look_html(exploration, exploration.look(exploration.middle()), 0.6)
        return two_pictures(found["here"], found["near"]) + found["facts"]
    if answers is None:
        return ""
    x = answers.input_of(0)
    return two_pictures(*answer_html(answers, x, answers.ask(x).output))
