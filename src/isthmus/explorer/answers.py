"""What a map from inputs to outputs says of one input, and why."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from isthmus.explorer.kinds.artist import Artist, artist_for
from isthmus.explorer.rows import DoesNotFit, Rows
from isthmus.kernels.objects import n_objects, take
from isthmus.typing import provides

_MOST_PAIRS = 6
_MOST_MEMBERS = 12


class Answer(NamedTuple):
    """A predicted output with what is known of its certainty.

    Attributes
    ----------
    output : object
    ends : pair of ndarray, or None
        Interval or box of the output's numbers.
    members : list
        Outputs that a conformal set lists.
    guarantee : str
        What is promised of interval or set, empty where there is none.
    pairs : list of (int, float)
        Training pairs that count most, with their weights.
    """

    output: Any
    ends: tuple[np.ndarray, np.ndarray] | None
    members: list[Any]
    guarantee: str
    pairs: list[tuple[int, float]]


@dataclass
class Answers:
    """A fitted predictor with some pairs to show.

    Made by :func:`answers_of`.
    """

    model: Any
    rows: Rows
    outputs: Any
    x_artist: Artist
    y_artist: Artist
    output_names: list[str] = field(default_factory=list)
    half_widths: dict[str, np.ndarray] = field(default_factory=dict)
    frame: Any = None
    title: str = ""

    @property
    def predictor(self) -> Any:
        """What predicts single outputs; a machine that predicts sets holds one."""
        return self.model.estimator_ if self.predicts_sets else self.model

    @property
    def predicts_sets(self) -> bool:
        """Whether predictions are sets that cover the truth with a chosen probability."""
        return hasattr(self.model, "covers") and hasattr(self.model, "estimator_")

    def input_of(self, index: int) -> Any:
        """Return the input of a row, as :meth:`ask` takes it."""
        if self.frame is not None:
            return self.frame.iloc[index].tolist()
        return take(self.rows.objects, [index])[0]

    def ask(self, x: Any) -> Answer:
        """Return what the model says of one input, a row or an object."""
        own = self._as_input(x)
        output = _single(self.predictor.predict(own))
        ends, members, guarantee = self._certainty(own, output)
        pairs = self._pairs(own)
        return Answer(output, ends, members, guarantee, pairs)

    def rivals(self, x: Any) -> list[Any]:
        """Return what each pre-image solver makes of the coordinates predicted for one input."""
        from isthmus.explorer.solvers import rivals_of  # loads all solvers, seldom asked for

        return rivals_of(self.predictor, self._as_input(x), self.outputs)

    # ------------------------------------------------------------------------------------

    def _as_input(self, x: Any) -> Any:
        """One input as the model takes it: a frame with its columns, an array or a list."""
        if self.frame is not None:
            one = self.frame.iloc[:1].copy()
            for name, value in zip(self.frame.columns, x, strict=True):
                column = self.frame[name]
                words = column.dtype.kind not in "fiub"
                kept = type(column)([value], index=one.index, dtype=column.dtype) if words else None
                one[name] = float(value) if kept is None else kept
            return one
        return np.asarray(x)[None] if self.rows.is_table else [x]

    def _certainty(self, own: Any, output: Any) -> tuple[Any, list[Any], str]:
        if self.predicts_sets:
            told = f"the truth lies within with probability {self.model.guarantee_}"
            return (*_ends_of(self.model.predict(own)[0]), told)
        if self.half_widths:
            coverage, widths = next(iter(self.half_widths.items()))
            middle = np.atleast_1d(np.asarray(output, dtype=float))
            told = f"holds the truth with probability {coverage} on rows like those left out"
            return (middle - widths, middle + widths), [], told
        try:
            _, spread = self.predictor.predict(own, return_std=True)
        except TypeError:
            return None, [], ""
        spread = np.ravel(np.asarray(_single(spread), dtype=float))
        middle = np.ravel(np.asarray(output, dtype=float))
        return (middle - 2 * spread, middle + 2 * spread), [], "two standard deviations"

    def _pairs(self, own: Any) -> list[tuple[int, float]]:
        """Training pairs by weight, where the regression is linear in its outputs."""
        regressor = getattr(self.predictor, "regressor_", self.predictor)
        if "weights" not in provides(regressor):
            return []
        inputs = own
        if hasattr(self.predictor, "transform_inputs"):
            inputs = self.predictor.transform_inputs(own)
        found = regressor.weights(inputs)
        weights = np.ravel(found.toarray() if hasattr(found, "toarray") else np.asarray(found))
        if len(weights) != len(self.rows):
            return []  # another table than that of the fit
        most = np.argsort(-np.abs(weights), kind="stable")[:_MOST_PAIRS]
        return [(int(i), float(weights[i])) for i in most if weights[i] != 0]


def _single(found: Any) -> Any:
    if isinstance(found, tuple):
        found = found[0]
    return found[0]


def _ends_of(one: Any) -> tuple[tuple[np.ndarray, np.ndarray] | None, list[Any]]:
    """Ends of a set of numbers, or the objects that a set lists."""
    if hasattr(one, "low"):
        return (np.atleast_1d(one.low), np.atleast_1d(one.high)), []
    if hasattr(one, "radius"):
        center = np.atleast_1d(one.center)
        return (center - one.radius, center + one.radius), []
    return None, list(one)[:_MOST_MEMBERS]


def answers_of(
    model: Any,
    rows: Rows | None,
    outputs: Any,
    *,
    kind: Any = None,
    input_kind: Any = None,
    output_names: list[str] | None = None,
    half_widths: dict[str, Any] | None = None,
    frame: Any = None,
) -> Answers:
    """Return what a page needs to ask a fitted predictor.

    Raises
    ------
    DoesNotFit
        If the model predicts nothing, or the rows are not of its kind.
    """
    model = getattr(model, "best_estimator_", model)
    if not callable(getattr(model, "predict", None)):
        raise DoesNotFit(f"{type(model).__name__} predicts nothing (predict)")
    if rows is None:
        raise DoesNotFit(f"{type(model).__name__} predicts from inputs: give a table of them")
    if outputs is not None and n_objects(outputs) != len(rows):
        raise DoesNotFit(f"there are {n_objects(outputs)} outputs for {len(rows)} inputs")
    made = Answers(
        model,
        rows,
        outputs,
        artist_for(rows.objects, names=rows.names, kind=input_kind),
        artist_for(rows.objects, kind="numbers" if rows.is_table else None),
        list(output_names or []),
        {name: np.asarray(widths, dtype=float) for name, widths in (half_widths or {}).items()},
        frame,
        type(model).__name__,
    )
    try:
        output = made.ask(made.input_of(0)).output
    except (TypeError, ValueError) as problem:
        raise DoesNotFit(f"the table does not fit the model: {problem}") from problem
    made.y_artist = _output_artist(output, outputs, kind, output_names)
    return made


def _output_artist(output: Any, outputs: Any, kind: Any, names: list[str] | None) -> Artist:
    """An artist for outputs in the scale of those known."""
    known = outputs if outputs is not None else [output]
    if isinstance(output, np.ndarray) and output.ndim == 1 and output.dtype.kind in "fiub":
        known = np.asarray(known, dtype=float).reshape(n_objects(known), -1)
    elif isinstance(output, (int, float, np.number)):
        known = np.asarray(known, dtype=float).reshape(-1, 1)
    else:
        known = list(known)
    return artist_for(known, names=names, kind=kind)
