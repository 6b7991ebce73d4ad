"""How an estimator looks: its call, and below it the arrows of the square that it fills."""

import re
import reprlib
from html import escape
from typing import Any, NamedTuple

from sklearn.base import ClassifierMixin, OutlierMixin

_CUT = reprlib.Repr()
_CUT.maxother = _CUT.maxstring = 60

_LONG_NUMBER = re.compile(r"\b\d+\.\d{5,}(e[+-]?\d+)?\b")

_SYMBOLS = {
    "φ": "φ: objects to coordinates",
    "T": "T: coordinates to coordinates",
    "Γ": "Γ: coordinates to objects",
    "t": "t: objects to objects",
}


class Arrow(NamedTuple):
    """One arrow of the square and the part that fills it."""

    symbol: str
    part: str


class SquareView:
    """Adds the arrows of the square to what scikit-learn shows of an estimator.

    The text is the call, as in scikit-learn, and a comment, so that it is still Python; in a
    notebook the arrows are boxes above scikit-learn's view. Where the estimator is fitted, the
    parts are those that were chosen.

    Examples
    --------
    >>> from isthmus.structured import DependencyEstimator
    >>> DependencyEstimator(y_features="delta")
    DependencyEstimator(y_features='delta')
    # X → φ, T: default → Γ: default for 'delta' → Y
    >>> DependencyEstimator(y_features="delta").fit([[0.0], [0.1], [1.0]], ["low", "low", "high"])
    DependencyEstimator(y_features='delta')
    # X → φ, T: KernelRidgeCV → Γ: CandidatePreimage for Delta() → Y
    """

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        call: str = super().__repr__(N_CHAR_MAX)  # type: ignore[call-arg]
        return f"{call}\n# {path_text(self)}"

    def __str__(self) -> str:
        # In a message or in another estimator's view there is room for the call alone.
        return str(super().__repr__())

    def _repr_html_inner(self) -> str:
        inner: str = super()._repr_html_inner()  # type: ignore[misc]
        return path_html(self) + inner

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def path_text(estimator: Any) -> str:
    """The way through the square on one line: ``X → φ: KernelPCA → coordinates``."""
    start, arrows, end = path(estimator)
    steps = [f"{arrow.symbol}: {_one_line(arrow.part)}" for arrow in arrows]
    return f" {_sign(arrows)} ".join([start, *steps, end])


def path_html(estimator: Any) -> str:
    """The way through the square as boxes; whatever the parts are called is escaped."""
    start, arrows, end = path(estimator)
    box = (
        "display:inline-block;border:1px solid currentColor;border-radius:4px;"
        "padding:.15em .6em;margin:.1em 0;vertical-align:middle"
    )
    steps = [
        f'<span style="{box}" title="{escape(_title(arrow.symbol))}">'
        f"<b>{escape(arrow.symbol)}</b> {escape(_one_line(arrow.part))}</span>"
        for arrow in arrows
    ]
    way = f" {_sign(arrows)} ".join([f"<i>{escape(start)}</i>", *steps, f"<i>{escape(end)}</i>"])
    return f'<div class="isthmus-square" style="font-family:monospace;margin:.3em 0">{way}</div>'


def path(estimator: Any) -> tuple[str, list[Arrow], str]:
    """Where an estimator begins, the arrows that it is made of, and where it ends."""
    params = estimator.get_params(deep=False)
    if "x_features" in params and "regressor" in params:
        return "X", _square(estimator, params), _answers(estimator)
    if "x_kernel" in params and "y_kernel" in params:
        inputs, outputs = _part(estimator, "x_kernel"), _part(estimator, "y_kernel")
        name = type(estimator).__name__
        return "X", [Arrow("φ", inputs), Arrow("T", name), Arrow("Γ", f"for {outputs}")], "Y"
    if "estimator" in params:
        return "X", [Arrow("t", _part(estimator, "estimator"))], _answers(estimator)
    name = _with_kernel(estimator, params)
    kind = type(estimator)
    if hasattr(kind, "solve"):
        return "coordinates", [Arrow("Γ", name)], "objects"
    if hasattr(kind, "predict"):
        return "X", [Arrow("T", name)], _answers(estimator)
    if hasattr(kind, "inverse_transform"):
        return "X", [Arrow("φ, Γ", name)], "coordinates"
    if hasattr(kind, "transform"):
        return "X", [Arrow("φ", name)], "coordinates"
    return "X", [Arrow("t", name)], "numbers"


def _square(estimator: Any, params: dict[str, Any]) -> list[Arrow]:
    inputs = _part(estimator, "x_features")
    # Kernel ridge works in the kernel's feature space: φ and T are one step.
    joined = inputs in ("None", "default")
    regression = _part(estimator, "regressor")
    arrows = [Arrow("φ, T", regression)] if joined else [Arrow("φ", inputs), Arrow("T", regression)]
    if params.get("loss") is not None:
        return [*arrows, Arrow("Γ", f"least expected loss {_short(params['loss'])}")]
    if "y_features" not in params:
        return arrows
    outputs, back = _part(estimator, "y_features"), _part(estimator, "preimage")
    if back == "None":
        back = "the inverse"
    elif back == "default" and outputs == "default":
        return [*arrows, Arrow("Γ", "default")]
    return [*arrows, Arrow("Γ", f"{back} for {_kernel_of(estimator, 'y_features') or outputs}")]


def _part(estimator: Any, name: str) -> str:
    """What fills a slot: what was fitted, or else what was asked for."""
    learned = vars(estimator)
    if f"{name}_" in learned:
        value = learned[f"{name}_"]
        return "None" if value is None else _short(value)
    value = learned.get(name)
    return "default" if value is None else _short(value)


def _kernel_of(estimator: Any, name: str) -> str:
    """The kernel that a fitted part has found."""
    part = vars(estimator).get(f"{name}_")
    kernel = getattr(part, "__dict__", {}).get("kernel_")
    return "" if kernel is None else _short(kernel)


def _with_kernel(estimator: Any, params: dict[str, Any]) -> str:
    name = type(estimator).__name__
    for which in ("kernel", "data_kernel"):
        if params.get(which) is not None:
            return f"{name} with {_part(estimator, which)}"
    return name


def _answers(estimator: Any) -> str:
    if isinstance(estimator, ClassifierMixin):
        return "classes"
    return "inside or outside" if isinstance(estimator, OutlierMixin) else "Y"


def _short(value: Any) -> str:
    """A part by name, its parameters where there is room; its repr may be anything."""
    if hasattr(value, "fit") and not isinstance(value, type):
        return type(value).__name__
    try:
        return _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.4g}", _CUT.repr(value))
    except Exception:  # a stranger's kernel whose repr fails is still shown by name
        return type(value).__name__


def _one_line(text: str) -> str:
    """Without line breaks and signs that a terminal obeys: it stands in a comment."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _sign(arrows: list[Arrow]) -> str:
    return "⇄" if arrows[0].symbol == "φ, Γ" else "→"


def _title(symbol: str) -> str:
    return "; ".join(_SYMBOLS[name] for name in symbol.split(", ") if name in _SYMBOLS)
