"""What is known of training rows beside inputs and outputs, and which parts are told of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import has_fit_parameter

from isthmus._checks import check_length, shortened
from isthmus.kernels.objects import n_objects, take
from isthmus.regression.outputs import check_counts
from isthmus.regression.selection import Selection
from isthmus.typing import Array, IntArray

Pairs = list[tuple[IntArray, IntArray]]


@dataclass(frozen=True)
class Given:
    """How often rows count, which belong together, and what scikit-learn routes to each slot.

    Parameters
    ----------
    counts : ndarray of shape (n,) or None
        Row i is one of ``counts[i]`` copies.
    groups : array of shape (n,) or None
        Rows of a group are left out together.
    routed : mapping or None
        Arguments of ``fit`` for each slot that the user has filled; None where scikit-learn's
        routing is not enabled, and sample weights go to whatever takes them.
    kept : ndarray or None
        The numbers that the rows had before those that count nothing were left away.
    """

    counts: Array | None = None
    groups: Any = None
    routed: Mapping[str, dict[str, Any]] | None = field(default=None)
    kept: IntArray | None = None

    def arguments(self, slot: str, part: Any, *, required: bool = False) -> dict[str, Any]:
        """What ``part.fit`` is told besides its objects."""
        if self.routed is not None and slot in self.routed:
            return dict(self.routed[slot])
        if self.counts is None:
            return {}
        if takes_weights(part):
            return {"sample_weight": self.counts}
        if required:
            raise TypeError(
                f"The {slot!r} slot of the square was given sample_weight, and "
                f"{shortened(part)} takes none. Use KernelRidgeCV, scikit-learn's Ridge or a "
                "forest, or leave sample_weight out."
            )
        return {}

    def selection(self, selection: Selection) -> Selection:
        """The same choice among the rows that were kept: pairs of row numbers are renumbered."""
        pairs = selection.criterion
        if self.kept is None or not isinstance(pairs, (list, tuple)):
            return selection
        place = np.full(
            int(self.kept[-1]) + 1 + max(int(np.max(p)) for pair in pairs for p in pair), -1
        )
        place[self.kept] = np.arange(len(self.kept))
        mapped = [
            tuple(place[np.asarray(p)][place[np.asarray(p)] >= 0] for p in pair) for pair in pairs
        ]
        return Selection(mapped, selection.max_rows, selection.random_state)

    def take(self, rows: Any) -> "Given":
        """What is given of some of the rows."""
        if self.counts is None and self.groups is None:
            return self
        return Given(
            None if self.counts is None else self.counts[rows],
            None if self.groups is None else self.groups[rows],
            self.routed,
        )

    def folds(self, n_folds: int, n: int) -> Pairs:
        """Rows to fit and rows left out; groups stay together."""
        if self.groups is None:
            return list(KFold(n_folds, shuffle=True, random_state=0).split(np.empty(n)))
        folds = GroupKFold(min(n_folds, _n_groups(self.groups)))
        return list(folds.split(np.empty(n), groups=self.groups))


def takes_weights(part: Any) -> bool:
    """Whether ``fit`` of a part takes ``sample_weight``, also through what it wraps."""
    inner = getattr(part, "estimator", getattr(part, "regressor", None))
    if inner is not None and hasattr(inner, "fit") and not takes_weights(inner):
        return False
    return bool(has_fit_parameter(part, "sample_weight"))


def fold_pairs(selection: Selection, rows: IntArray, groups: Any) -> Pairs:
    """The folds of a choice among some of the rows, numbered within them."""
    if groups is None:
        return selection.splits(len(rows))
    own = np.asarray(groups)[rows]
    criterion: Any = selection.criterion
    if selection.leaves_one_out:
        criterion = LeaveOneGroupOut()
    elif isinstance(criterion, (int, np.integer)):
        criterion = GroupKFold(min(int(criterion), _n_groups(own)))
    return list(check_cv(criterion).split(np.empty((len(rows), 1)), None, own))


def _n_groups(groups: Any) -> int:
    n = len(np.unique(np.asarray(groups)))
    if n < 2:
        raise ValueError("At least two groups of rows are needed to leave one of them out. Got 1.")
    return n


def counted_rows(
    model: Any, X: Any, y: Any, sample_weight: Any, groups: Any, more: dict[str, Any]
) -> tuple[Any, Any, Given]:
    """Inputs and outputs of the rows that count at all, and what is given of them.

    ``X`` and ``y`` are collections of the same length; ``more`` are further arguments of ``fit``.
    """
    n, kept = n_objects(X), None
    counts = check_counts(model, sample_weight, n)
    if groups is not None:
        groups = np.asarray(groups)
        check_length(model, n, len(groups), what="groups as inputs")
    if counts is not None and not (counts > 0).all():
        kept = np.flatnonzero(counts > 0)
        X, y, counts = take(X, kept), take(y, kept), counts[kept]
        groups = None if groups is None else groups[kept]
        more = {
            name: take(value, kept) if hasattr(value, "__len__") and len(value) == n else value
            for name, value in more.items()
        }
    return X, y, Given(counts, groups, _routed(model, counts, groups, more), kept)


def _routed(model: Any, counts: Any, groups: Any, more: dict[str, Any]) -> Any:
    if not get_config()["enable_metadata_routing"]:
        if more:
            raise TypeError(
                f"{type(model).__name__}.fit got unexpected arguments {', '.join(sorted(more))}. "
                "sklearn.set_config(enable_metadata_routing=True) lets parts ask for them."
            )
        return None
    told = {"sample_weight": counts, "groups": groups, **more}
    told = {name: value for name, value in told.items() if value is not None}
    if not told:
        return None
    routed = process_routing(model, "fit", **told)
    return {slot: dict(routed[slot]["fit"]) for slot in filled_slots(model)}


def filled_slots(model: Any) -> list[str]:
    """The slots in which the user has put a part that can ask for arguments."""
    names = ("x_features", "y_features", "regressor", "preimage", "estimator")
    parts = {name: getattr(model, name, None) for name in names}
    return [name for name, part in parts.items() if hasattr(part, "get_metadata_routing")]


def routing_of(model: Any) -> MetadataRouter:
    """What a model asks for itself, and that its parts are told what they ask for."""
    router = MetadataRouter(owner=type(model).__name__).add_self_request(model)
    both = MethodMapping().add(caller="fit", callee="fit")
    return router.add(
        method_mapping=both, **{slot: getattr(model, slot) for slot in filled_slots(model)}
    )


def fit_square(model: Any, X: Any, y: Any, given: Given) -> Any:
    """Fit a square whose slots are those of another model, with what that one was given."""
    if given.routed is None:
        return model.fit(X, y, sample_weight=given.counts, groups=given.groups)
    return model.fit_given(X, y, given)
