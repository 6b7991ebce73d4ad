"""The tab in which a map from inputs to outputs is asked."""

from typing import Any

import numpy as np
import panel as pn

from isthmus.explorer.answers import Answers
from isthmus.explorer.page.answering import answer_html, certainty_html, pairs_html
from isthmus.explorer.page.columns import (
    MOST_FIELDS,
    column_fields,
    first_columns,
    named_columns,
)
from isthmus.explorer.page.markup import csv_text, problem, side_by_side, two_pictures
from isthmus.explorer.page.parts import ARROWS, html_pane, save_button


class AnswerTab:
    """Set inputs or pick a row; see the output, how sure it is, and the pairs behind it."""

    def __init__(self, answers: Answers, row: int = 0):
        self.answers = answers
        rows = answers.rows
        last = len(rows) - 1
        self.row = pn.widgets.IntInput(
            name="Inputs of row",
            value=min(row, last),
            start=0,
            end=last,
            width=110,
            stylesheets=[ARROWS],
        )
        n = len(rows.column_names())
        self.fielded = pn.widgets.TextInput(
            name="Columns with a slider", value=first_columns(n), width=220, visible=n > MOST_FIELDS
        )
        self.words = pn.widgets.TextInput(
            name="Input", sizing_mode="stretch_width", max_width=400, visible=self._is_text
        )
        self.fields_box = pn.FlexBox(gap="4px 20px", sizing_mode="stretch_width")
        self.x, self.y = html_pane(min_width=150), html_pane(min_width=150)
        self.certain, self.pairs, self.rivals = html_pane(), html_pane(), html_pane()
        self.compare = pn.widgets.Button(
            name="Compare pre-image solvers", width=220, visible=self._has_coordinates
        )
        self.save = save_button("Save answer (csv)", "answer.csv", self._file)
        self.save_picture = save_button("Save picture", "answer.svg", self._picture)
        self._connect()
        self._rebuild()

    @property
    def _is_text(self) -> bool:
        return not self.answers.rows.is_table and self.answers.x_artist.kind.name == "sequence"

    @property
    def _has_coordinates(self) -> bool:
        return getattr(self.answers.predictor, "y_features_", None) is not None

    def _connect(self) -> None:
        for widget in (self.row, self.fielded):
            widget.param.watch(lambda event: self._rebuild(), "value")
        self.words.param.watch(lambda event: self._ask(), "value")
        self.compare.on_click(lambda event: self._compare())

    def layout(self) -> Any:
        """Return the tab."""
        return pn.Column(
            pn.FlexBox(self.row, self.fielded, self.words, gap="12px"),
            self.fields_box,
            pn.FlexBox(
                self.x, self.y, gap="10px", flex_wrap="nowrap", styles={"max-width": "560px"}
            ),
            self.certain,
            self.pairs,
            pn.FlexBox(self.compare, self.save, self.save_picture, gap="8px"),
            self.rivals,
            sizing_mode="stretch_width",
        )

    def first(self) -> str:
        """Return what a page can show before any of its scripts has been loaded."""
        return two_pictures(self.x.object, self.y.object)

    def _rebuild(self) -> None:
        """Start from the inputs of a row."""
        a = self.answers
        index = int(np.clip(self.row.value or 0, 0, len(a.rows) - 1))
        self._categories: dict[str, pn.widgets.Select] = {}
        self._fields, self._columns = [], []
        self._base = a.input_of(index)
        if a.frame is not None:
            for name in a.frame.columns:
                if a.frame[name].dtype.kind not in "fiub":
                    self._categories[name] = self._choice(name, index)
        if a.rows.is_table:
            names = a.rows.column_names()
            self._columns = named_columns(self.fielded.value, names)[:MOST_FIELDS]
            row = np.asarray(a.rows.objects[index], dtype=float)
            self._fields = column_fields(a.rows, row, self._columns, None)
            for one in self._fields:
                one.watch(lambda event: self._ask())
        self.fields_box[:] = [*self._categories.values(), *(f.layout() for f in self._fields)]
        if self._is_text:
            self.words.value = str(self._base)
        self._ask()

    def _choice(self, name: str, index: int) -> pn.widgets.Select:
        column = self.answers.frame[name].astype(str)
        options = sorted(column.unique().tolist())[:300]
        chosen = pn.widgets.Select(
            name=str(name)[:60], options=options, value=column.iloc[index], stylesheets=[ARROWS]
        )
        chosen.param.watch(lambda event: self._ask(), "value")
        return chosen

    def _input(self) -> Any:
        a = self.answers
        if a.frame is not None:
            names = a.rows.column_names()
            told = {names[c]: f.value for c, f in zip(self._columns, self._fields, strict=True)}
            told |= {name: choice.value for name, choice in self._categories.items()}
            columns = a.frame.columns
            return [told.get(str(c), v) for c, v in zip(columns, self._base, strict=True)]
        if self._is_text:
            return self.words.value[:10_000]
        if not a.rows.is_table:
            return self._base
        row = np.array(self._base, dtype=float)
        for column, one in zip(self._columns, self._fields, strict=True):
            row[column] = one.value
        return row

    def _ask(self) -> None:
        x = self._input()
        try:
            self._answer = self.answers.ask(x)
        except (TypeError, ValueError) as refused:
            self.certain.object = problem(refused)
            return
        self._x = x
        self.rivals.object = ""
        self.x.object, self.y.object = answer_html(self.answers, x, self._answer.output)
        self.certain.object = certainty_html(self.answers, self._answer)
        self.pairs.object = pairs_html(self.answers, self._answer)

    def _compare(self) -> None:
        try:
            found = self.answers.rivals(self._x)
        except (TypeError, ValueError) as refused:
            self.rivals.object = problem(refused)
            return
        if not found:
            self.rivals.object = problem("Solvers learn from outputs: give the table with them.")
            return
        some = [rival.line(self.answers.y_artist) for rival in found]
        self.rivals.object = f"<p>The same coordinates, solved by:</p>{side_by_side(some)}"

    # Files ----------------------------------------------------------------------------------

    def _picture(self) -> str:
        return self.answers.y_artist.svg(self._answer.output, "predicted output", standalone=True)

    def _file(self) -> str:
        output = self._answer.output
        numeric = isinstance(output, (int, float, np.number, np.ndarray))
        values = np.ravel(output).tolist() if numeric else [str(output)]
        names = self.answers.output_names or [f"output_{i}" for i in range(len(values))]
        ends = self._answer.ends
        rows = [["predicted", *values]]
        if ends is not None:
            rows += [["low", *np.ravel(ends[0])], ["high", *np.ravel(ends[1])]]
        return csv_text(["", *names], rows)
