"""Which kind of object it is: as told, or guessed from the model and the rows."""

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isthmus.kernels.graphs.labelled import LabelledGraph

KINDS = (
    "image", "curve", "bars", "sequence", "labels", "graph", "chain", "strokes", "numbers"
)  # fmt: skip
_SAMPLE = 200
_SHAPE = re.compile(r"(\d+)x(\d+)(?:x(1|3))?")
_NUMBER = r"[-+]?[\d.]+(?:e[-+]?\d+)?"


class KindError(ValueError):
    """A kind that is not known, or that does not fit the rows."""


@dataclass(frozen=True)
class Kind:
    """How an object is drawn.

    Attributes
    ----------
    name : one of :data:`KINDS`
    shape : tuple of int
        Of an image: rows, columns and, for colours, 3.
    axis : ndarray or None
        Of a curve: where its values lie.
    chain : KinematicChain or None
        What the joint angles move.
    """

    name: str
    shape: tuple[int, ...] = ()
    axis: Any = None
    chain: Any = None

    def check(self, n_columns: int | None) -> "Kind":
        """Return the kind if it fits rows of so many numbers; a shape is found if it is missing."""
        if n_columns is None:
            if self.name in ("image", "bars", "chain", "numbers"):
                raise KindError(f"kind {self.name!r} needs rows of numbers")
            return self
        if self.name == "image":
            shape = self.shape or image_shape(n_columns)
            if shape is None or int(np.prod(shape)) != n_columns:
                told = "x".join(map(str, self.shape))
                raise KindError(
                    f"kind 'image{':' + told if told else ''}' does not fit rows of {n_columns} "
                    "numbers: give image:HEIGHTxWIDTH, or image:HEIGHTxWIDTHx3 for colours"
                )
            return replace(self, shape=shape)
        if self.name == "chain" and self.chain.n_joints > n_columns:
            raise KindError(
                f"kind 'chain' has {self.chain.n_joints} joints, a row has {n_columns} numbers"
            )
        if self.name == "strokes" and n_columns % 2:
            raise KindError(f"kind 'strokes' needs x and y by turns, a row has {n_columns} numbers")
        if self.name in ("sequence", "graph"):
            raise KindError(f"kind {self.name!r} does not fit rows of numbers")
        return self


def parse_kind(told: Any) -> Kind:
    """Return the kind that a word such as ``image:28x28``, a chain or a kind names.

    >>> parse_kind("image:28x28").shape
    (28, 28)
    >>> parse_kind("chain:1,0.5").chain.n_joints
    2
    """
    if isinstance(told, Kind):
        return told
    if hasattr(told, "positions") and hasattr(told, "n_joints"):
        return Kind("chain", chain=told)
    name, _, detail = str(told).partition(":")
    if name not in KINDS:
        raise KindError(f"kind {str(told)[:60]!r} is unknown: expected one of {', '.join(KINDS)}")
    if name == "image" and detail:
        found = _SHAPE.fullmatch(detail)
        if not found:
            raise KindError(f"kind {told!r}: expected image:HEIGHTxWIDTH, such as image:28x28")
        return Kind(name, shape=tuple(int(n) for n in found.groups() if n is not None))
    if name == "curve" and detail:
        ends = re.fullmatch(f"({_NUMBER})-({_NUMBER})", detail)
        if not ends:
            raise KindError(f"kind {told!r}: expected curve:FIRST-LAST, such as curve:400-700")
        return Kind(name, axis=(float(ends[1]), float(ends[2])))
    if name == "chain":
        return Kind(name, chain=_chain(detail, told))
    if detail:
        raise KindError(f"kind {told!r}: {name} takes no details")
    return Kind(name)


def _chain(detail: str, told: Any) -> Any:
    from isthmus.robotics.kinematics.arms import pa10
    from isthmus.robotics.kinematics.chain import KinematicChain

    if detail == "pa10":
        return pa10()
    try:
        lengths = [float(part) for part in detail.split(",")]
    except ValueError:
        raise KindError(
            f"kind {told!r}: expected chain:pa10, or the lengths of links of an arm in the plane, "
            "such as chain:1,1,0.5"
        ) from None
    rows = [[0.0, length, 0.0] for length in lengths]
    return KinematicChain(rows, convention="standard")


def guess_kind(
    objects: Any, names: list[str] | None = None, words: frozenset[str] = frozenset()
) -> Kind:
    """Return the kind that objects look like, given what the model says of them."""
    first = objects[0]
    if "graphs" in words or isinstance(first, LabelledGraph) or hasattr(first, "nodes"):
        return Kind("graph")
    if isinstance(first, (str, bytes)):
        return Kind("sequence")
    if isinstance(first, (set, frozenset)):
        return Kind("labels")
    table = isinstance(objects, np.ndarray) and objects.ndim == 2 and objects.dtype.kind in "fiub"
    if not table:
        numeric = isinstance(first, np.ndarray) and first.dtype.kind in "fiub"
        return Kind("curve" if numeric or "series" in words else "sequence")
    return _kind_of_rows(np.asarray(objects[:_SAMPLE], dtype=float), names)


def _kind_of_rows(rows: np.ndarray, names: list[str] | None) -> Kind:
    d = rows.shape[1]
    axis = numeric_names(names)
    if axis is not None and d >= 8:
        return Kind("curve", axis=axis)
    whole = np.nan_to_num(rows)
    if d >= 2 and np.isin(rows, (0.0, 1.0)).all() and names:
        return Kind("labels")
    shape = image_shape(d)
    if d >= 36 and shape is not None and _smooth_across(whole, shape):
        return Kind("image", shape=shape)
    if d >= 16 and _roughness(whole, 1) < 0.5:
        return Kind("curve")
    sums = whole.sum(axis=1)
    if d >= 3 and (whole >= 0).all() and np.allclose(sums, sums[0], rtol=1e-3) and sums[0] > 0:
        return Kind("bars")
    return Kind("numbers")


def image_shape(n_columns: int) -> tuple[int, ...] | None:
    """The square image of so many numbers, grey or coloured, or None.

    >>> image_shape(64), image_shape(3072), image_shape(7)
    ((8, 8), (32, 32, 3), None)
    """
    side = round(n_columns**0.5)
    if side * side == n_columns:
        return side, side
    side = round((n_columns / 3) ** 0.5)
    return (side, side, 3) if side * side * 3 == n_columns and side > 1 else None


def numeric_names(names: list[str] | None) -> np.ndarray | None:
    """The numbers that columns are named by, such as wavelengths, if they increase."""
    if not names:
        return None
    found = [re.fullmatch(rf"(?:[A-Za-z_ ]*?)({_NUMBER})(?: ?[a-z]{{1,3}})?", n) for n in names]
    if not all(found) or len({n[: m.start(1)] for n, m in zip(names, found, strict=True)}) > 1:
        return None
    try:
        axis = np.array([float(m[1]) for m in found if m])
    except ValueError:
        return None
    counted = np.array_equal(axis, axis[0] + np.arange(len(axis)))
    return axis if not counted and (np.diff(axis) > 0).all() else None


def _smooth_across(rows: np.ndarray, shape: tuple[int, ...]) -> bool:
    """Whether pixels resemble those below them more than those half a line away."""
    line = int(np.prod(shape[1:]))
    step = 1 if len(shape) == 2 else 3
    down, half, beside = (_roughness(rows, lag) for lag in (line, line // 2, step))
    return max(down, beside) < 0.9 and down < half


def _roughness(rows: np.ndarray, lag: int) -> float:
    """Mean difference of columns so far apart, in units of that of any two columns."""
    anywhere = np.abs(rows - rows[:, np.random.default_rng(0).permutation(rows.shape[1])]).mean()
    return float(np.abs(rows[:, lag:] - rows[:, :-lag]).mean() / max(anywhere, 1e-300))
