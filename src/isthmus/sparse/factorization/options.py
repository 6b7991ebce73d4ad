"""Parameters of a factorisation: what they stand for, and which go together."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from isthmus.sparse.factorization.drivers import Factors
from isthmus.sparse.factorization.hoyer import HoyerSparseness
from isthmus.sparse.factorization.penalties import ParkSparsity, Penalty
from isthmus.sparse.factorization.starts import (
    OVERSAMPLING,
    LowRank,
    balance,
    descend_on_sketch,
    is_short,
    random_start,
    svd_start,
)
from isthmus.sparse.factorization.tables import FactorizationTable
from isthmus.typing import Array

DIVERGENCES = ("euclidean", "kullback-leibler", "itakura-saito")
BETAS = dict(zip(DIVERGENCES, (2.0, 1.0, 0.0), strict=True))
SOLVERS = ("auto", "hals", "anls", "multiplicative", "als", "projected", "extrapolated")
Sparsity = HoyerSparseness | ParkSparsity | None


def beta_of(owner: Any) -> float:
    """The number of the divergence: 2 is Euclidean, 1 Kullback-Leibler, 0 Itakura-Saito."""
    given = owner.divergence
    if isinstance(given, Real):
        return float(given)
    return BETAS.get(given, 2.0) if isinstance(given, str) else 2.0  # refused at fit


def check_sparsity(owner: Any) -> Sparsity:
    """The piece of sparsity, if it goes with the divergence."""
    sparsity = _as_sparsity(owner)
    if sparsity is not None and beta_of(owner) != 2:
        raise ValueError(
            f"The 'sparsity' parameter of {type(owner).__name__} must be None with divergence="
            f"{owner.divergence!r}; use alpha_W, alpha_H and l1_ratio. Got {owner.sparsity!r} "
            "instead."
        )
    return sparsity


def _as_sparsity(owner: Any) -> Sparsity:
    given = owner.sparsity
    if given is None:
        return None
    if isinstance(given, Real):
        return HoyerSparseness(float(given))
    if isinstance(given, str):
        return HoyerSparseness() if given == "hoyer" else ParkSparsity()
    return type(given)(**given.get_params())


def takes_gaps(owner: Any) -> bool:
    """Whether the parameters go with missing entries."""
    if beta_of(owner) != 2:
        return True
    hoyer = isinstance(owner.sparsity, (HoyerSparseness, Real)) or owner.sparsity == "hoyer"
    return owner.solver in ("auto", "hals") and not hoyer


def choose_solver(owner: Any, sparsity: Sparsity, table: FactorizationTable) -> str:
    """The solver, or why the one that was asked for does not go with the rest."""
    name, gaps = type(owner).__name__, table.mask is not None
    if isinstance(sparsity, HoyerSparseness):
        if gaps:
            raise ValueError(
                f"{name} with a Hoyer constraint needs a complete table. Got missing='unstored': "
                "fill the table, or use penalties instead."
            )
        if table.values.shape[1] < 2:
            raise ValueError(
                f"{name} with a Hoyer constraint needs at least two features. Got n_features=1."
            )
    if beta_of(owner) != 2:
        allowed: tuple[str, ...] = ("extrapolated", "multiplicative")
    elif gaps:
        allowed = ("hals",)
    elif isinstance(sparsity, HoyerSparseness):
        allowed = ("hals", "multiplicative")
    elif isinstance(sparsity, ParkSparsity):
        # Under a heavy penalty on sums, descent by single entries can trap whole components at 0.
        allowed = ("anls", "hals", "multiplicative")
    else:
        allowed = ("hals", "anls", "multiplicative", "als", "projected")
    if owner.solver == "auto":
        return allowed[0]
    if owner.solver not in allowed:
        raise ValueError(
            f"The 'solver' parameter of {name} must be 'auto' or one of "
            f"{', '.join(map(repr, allowed))} for divergence={owner.divergence!r}, sparsity="
            f"{owner.sparsity!r} and a table {'with gaps' if gaps else 'without gaps'}. "
            f"Got {owner.solver!r} instead."
        )
    return str(owner.solver)


def scaled_penalties(owner: Any, n: int, d: int, automatic: float = 0.0) -> tuple[Penalty, Penalty]:
    """Penalties of codes and of components of a table of ``n`` rows and ``d`` columns.

    ``automatic`` is the strength that ``"auto"`` stands for.
    """
    alpha_W = automatic if isinstance(owner.alpha_W, str) else float(owner.alpha_W)
    share = float(owner.l1_ratio)
    alpha_H = alpha_W if isinstance(owner.alpha_H, str) else float(owner.alpha_H)
    a, b = alpha_W * d, alpha_H * n
    return Penalty(l1=a * share, l2=a * (1 - share)), Penalty(l1=b * share, l2=b * (1 - share))


def strength_of_codes(owner: Any) -> float:
    """The strength that was given for codes; ``"auto"`` is 0 unless there are gaps."""
    return 0.0 if isinstance(owner.alpha_W, str) else float(owner.alpha_W)


def choose_penalties(
    owner: Any, sparsity: Sparsity, table: FactorizationTable
) -> tuple[Penalty, Penalty]:
    """Penalties of codes and of components."""
    pair: tuple[Penalty, ...] = scaled_penalties(owner, *table.values.shape)
    if isinstance(sparsity, ParkSparsity):
        extra = sparsity.penalties(table.largest)
        pair = tuple(
            Penalty(p.l1, p.l2 + e.l2, e.squared_l1) for p, e in zip(pair, extra, strict=True)
        )
    if isinstance(sparsity, HoyerSparseness) and any(pair):
        raise ValueError(
            f"{type(owner).__name__} takes either a Hoyer constraint or penalties: expected "
            f"alpha_W = alpha_H = 0. Got {owner.alpha_W!r} and {owner.alpha_H!r}."
        )
    return pair[0], pair[1]


def starts(
    owner: Any, table: FactorizationTable, solver: str, penalties: tuple[Penalty, Penalty]
) -> list[Factors]:
    """The points that descents start from."""
    if owner.fixed is not None:
        return _raw_starts(owner, table, solver, penalties)
    return [balance(start, penalties) for start in _raw_starts(owner, table, solver, penalties)]


def check_fixed(owner: Any, sparsity: Sparsity) -> None:
    """Refuse a held factor without its values, or where a solver rescales both."""
    if owner.fixed is None:
        return
    if isinstance(owner.init, str) or isinstance(sparsity, HoyerSparseness) or owner.n_init != 1:
        raise ValueError(
            f"{type(owner).__name__} with fixed={owner.fixed!r} needs init=(W, H), n_init=1 and no "
            f"Hoyer constraint. Got init={owner.init!r:.40}, n_init={owner.n_init}, sparsity="
            f"{owner.sparsity!r}."
        )


def n_components_of(owner: Any, shape: tuple[int, int]) -> int:
    """The number of components for a table of this shape."""
    if owner.n_components is not None:
        return int(owner.n_components)
    if owner.fixed is not None:
        W, H = owner.init
        return np.shape(W)[1] if owner.fixed == "codes" else len(H)
    return min(10, *shape)


def _raw_starts(
    owner: Any, table: FactorizationTable, solver: str, penalties: tuple[Penalty, Penalty]
) -> list[Factors]:
    shape = table.values.shape
    k = n_components_of(owner, shape)
    seed = check_random_state(owner.random_state).randint(2**31 - 1)
    rng = np.random.default_rng(seed)
    others = [random_start(table.mean, shape, k, rng) for _ in range(int(owner.n_init) - 1)]
    if isinstance(owner.init, str):
        gaps = table.mask is not None and not isinstance(table.mask, np.ndarray)
        if owner.init == "random" or (owner.init == "auto" and (k > min(shape) or gaps)):
            return [random_start(table.mean, shape, k, rng), *others]
        if k > min(shape):
            raise ValueError(
                f"The 'init' parameter of {type(owner).__name__} must be 'random' or 'auto' for "
                f"more components than {min(shape)}, the lesser of samples and features. Got "
                f"'svd' and n_components={k}."
            )
        sketch = LowRank.of(table.filled(), min(k + OVERSAMPLING, *shape), rng)
        first = svd_start(sketch, k, table.mean)
        if solver == "hals" and table.mask is None and is_short(sketch, table.n_stored):
            first = descend_on_sketch(sketch, balance(first, penalties), penalties)
        return [first, *others]
    given = (None if F is None else np.array(F, dtype=np.float64) for F in owner.init)
    W: Array | None
    H: Array | None
    W, H = given
    free = random_start(table.mean, shape, k, rng)
    if owner.fixed == "components" and W is None:
        W = free.W
    if owner.fixed == "codes" and H is None:
        H = free.V.T
    if W is None or H is None:
        raise ValueError(
            f"The 'init' parameter of {type(owner).__name__} must be a pair (W, H) of arrays; None "
            f"stands for the one that fixed={owner.fixed!r} leaves free. Got None for another."
        )
    if W.shape != (shape[0], k) or H.shape != (k, shape[1]) or min(W.min(), H.min()) < 0:
        raise ValueError(
            f"The 'init' parameter of {type(owner).__name__} must be a pair of non-negative "
            f"arrays of shapes {(shape[0], k)} and {(k, shape[1])}. Got shapes {W.shape} and "
            f"{H.shape}, least entries {W.min():.3g} and {H.min():.3g}."
        )
    return [Factors(W.copy(), np.ascontiguousarray(H.T)), *others]
