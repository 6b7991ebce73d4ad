"""The tab in which some columns are fixed and the others answer."""

from html import escape
from typing import Any

import numpy as np
import panel as pn

from isthmus.explorer.exploration import Exploration
from isthmus.explorer.page.columns import MOST_FIELDS, column_fields, first_columns, named_columns
from isthmus.explorer.page.markup import csv_text, problem, side_by_side
from isthmus.explorer.page.parts import ARROWS, html_pane, save_button

_MOST_ANSWERS = 4
# Answers that cost more than this share above the best are not shown as rivals.
_AS_GOOD = 0.05


class CompleteTab:
    """Ask in any direction: ``complete`` with a field and a slider for every column."""

    def __init__(self, exploration: Exploration):
        self.exploration = exploration
        names = exploration.rows.column_names()
        n = len(names)
        self.row = pn.widgets.IntInput(
            name="Values of row",
            value=0,
            start=0,
            end=len(exploration.rows) - 1,
            width=110,
            stylesheets=[ARROWS],
        )
        self.known = pn.widgets.TextInput(
            name="Known columns (names, numbers, ranges)",
            value=f"1-{n // 2}" if n > 3 else "1",
            width=300,
        )
        self.fielded = pn.widgets.TextInput(
            name="Columns with a slider", value=first_columns(n), width=220, visible=n > MOST_FIELDS
        )
        self.fields_box = pn.FlexBox(gap="4px 20px", sizing_mode="stretch_width")
        self.answer = html_pane()
        self.save = save_button("Save answers (csv)", "answers.csv", self._file)
        self._found: Any = None
        self._quiet = False
        for widget in (self.row, self.known, self.fielded):
            widget.param.watch(lambda event: self._rebuild(), "value")
        self._rebuild()

    def layout(self) -> Any:
        """Return the tab."""
        words = html_pane(
            "Fix some columns; the map answers with the others. The cost is the distance of "
            "the known columns from the map, 0 where it meets them."
        )
        return pn.Column(
            words,
            pn.FlexBox(self.row, self.known, self.fielded, gap="12px"),
            self.fields_box,
            self.answer,
            self.save,
            sizing_mode="stretch_width",
        )

    def _rebuild(self) -> None:
        rows = self.exploration.rows
        names = rows.column_names()
        index = int(np.clip(self.row.value or 0, 0, len(rows) - 1))
        self._base = np.asarray(rows.objects[index], dtype=float)
        known = named_columns(self.known.value, names)
        self._columns = named_columns(self.fielded.value, names)[:MOST_FIELDS]
        self._asked = np.full(len(names), np.nan)
        self._asked[known] = self._base[known]
        self._fields = column_fields(rows, self._base, self._columns, known)
        for one in self._fields:
            one.watch(lambda event: self._ask())
        self.fields_box[:] = [one.layout() for one in self._fields]
        self._ask()

    def _ask(self) -> None:
        asked = self._asked.copy()
        for column, one in zip(self._columns, self._fields, strict=True):
            asked[column] = one.value
        if np.isnan(asked).all():
            self.answer.object = problem("Nothing is known: mark a column as known.")
            return
        try:
            found = self.exploration.walk.complete(asked)
        except (TypeError, ValueError) as refused:
            self.answer.object = problem(refused)
            return
        scale = float(np.nanmax(np.abs(asked))) or 1.0
        good = found.costs <= found.costs[0] * (1 + _AS_GOOD) + 1e-6 * scale
        order = np.flatnonzero(good)[:_MOST_ANSWERS]
        filled = np.where(np.isnan(asked), found.rows[order], asked)
        self._found = filled, found.costs[order], found.places[order]
        self._show()

    def _show(self) -> None:
        filled, costs, _ = self._found
        artist = self.exploration.artist
        pictures = [
            (f"answer {i + 1}: cost {cost:.3g}", artist.svg(row, f"answer {i + 1}"))
            for i, (row, cost) in enumerate(zip(filled, costs, strict=True))
        ]
        several = len(filled) > 1
        words = "Several answers are as good: " if several else "The answer: "
        names = self.exploration.rows.column_names()
        lines = ""
        if len(names) <= MOST_FIELDS:
            head = "".join(f"<th>{escape(name[:40])}</th>" for name in names)
            body = "".join(
                "<tr>" + "".join(f"<td>{value:.4g}</td>" for value in row) + "</tr>"
                for row in filled
            )
            lines = f'<table class="small"><tr>{head}</tr>{body}</table>'
        self.answer.object = f"<p>{words}</p>{side_by_side(pictures)}{lines}"

    def _file(self) -> str:
        filled, costs, _ = self._found
        names = self.exploration.rows.column_names()
        rows = [[*row, cost] for row, cost in zip(filled, costs, strict=True)]
        return csv_text([*names, "cost"], rows)
