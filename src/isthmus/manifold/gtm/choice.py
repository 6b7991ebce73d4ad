"""The width of the basis and the start by the evidence for them, on some of the rows."""

from collections.abc import Callable
from typing import NamedTuple

from isthmus.manifold.gtm.basis import WIDTHS, Basis
from isthmus.manifold.gtm.em import Rules, State, learn
from isthmus.manifold.gtm.mixture import make_sums
from isthmus.typing import Array

# The width with which starts are compared, and from which others are tried.
FIRST_WIDTH = 1.0
# A start or width is better where a row's evidence is larger by this.
LEAST_GAIN = 1e-3


class Trial(NamedTuple):
    """A width of the basis, the start that was taken, and where EM ended."""

    width: float
    start: str
    state: State


Begin = Callable[[Basis], State]


def choose(
    Y: Array,
    nodes: Array,
    basis_of: Callable[[float], Basis],
    starts: dict[str, Begin],
    rules: Rules,
    *,
    width: float | None,
    max_iter: int,
    tol: float,
    tell: Callable[..., None],
) -> tuple[Trial, list[dict[str, float | str]]]:
    """The best start at one width, then the best width, by steps up and down.

    Returns it with the evidence of a row in every trial.
    """
    tried: dict[tuple[str, float], Trial] = {}
    sums_of = make_sums(Y)

    def trial(start: str, width: float) -> Trial:
        if (start, width) not in tried:
            basis = basis_of(width)
            state = learn(
                sums_of,
                basis,
                nodes,
                starts[start](basis),
                rules,
                max_iter=max_iter,
                tol=tol,
                tell=lambda **kwargs: tell(width=width, **kwargs),
            )
            tried[start, width] = Trial(width, start, state)
        return tried[start, width]

    def better(one: Trial, other: Trial) -> bool:
        return (one.state.evidence - other.state.evidence) / len(Y) > LEAST_GAIN

    first = FIRST_WIDTH if width is None else width
    best = trial(next(iter(starts)), first)
    for name in starts:
        best = trial(name, first) if better(trial(name, first), best) else best
    if width is None:
        here = WIDTHS.index(FIRST_WIDTH)
        ends = []
        for side in (WIDTHS[here - 1 :: -1], WIDTHS[here + 1 :]):
            end = best
            for w in side:
                if not better(trial(best.start, w), end):
                    break
                end = trial(best.start, w)
            ends.append(end)
        best = max(ends, key=lambda t: t.state.evidence)
    rows: list[dict[str, float | str]] = [
        {"start": t.start, "width": t.width, "evidence": t.state.evidence / len(Y)}
        for t in tried.values()
    ]
    return best, rows
