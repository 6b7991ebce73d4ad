"""From rows to a fitted map: units, a choice of start and width on some rows, EM on all."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from isthmus._checks import refusal
from isthmus._memory import require_memory
from isthmus._parameters import ParameterError
from isthmus._progress import ProgressLine
from isthmus._warnings import warn
from isthmus.blocks.drawing import take_rows
from isthmus.blocks.rows import Rows
from isthmus.blocks.sampling import sample_rows
from isthmus.linalg.threads import threads_for
from isthmus.manifold.gtm.basis import (
    N_CENTRES,
    Basis,
    GaussianBasis,
    counts_on_axes,
    lattice,
    make_basis,
)
from isthmus.manifold.gtm.choice import Begin, choose
from isthmus.manifold.gtm.em import LEAST_NOISE, Rules, State, learn
from isthmus.manifold.gtm.mixture import (
    Mixture,
    Sums,
    block_rows,
    block_sums,
    make_sums,
    merge_sums,
)
from isthmus.manifold.gtm.starts import (
    block_columns,
    embedding_start,
    embeddings_in_box,
    into_box,
    mean_and_spread,
    merge_columns,
    plane_start,
)
from isthmus.typing import Array

# Nodes in all, about, where their number on an axis is not given.
N_NODES, N_NODES_ON_A_LINE = 625, 200
N_CENTRES_ON_A_LINE = 20
# Rows that choose the start and the width of the basis.
N_CHOOSING = 1000
# Noise in units of the data beyond which more is the same, and squares overflow.
MOST_NOISE = 1e8


@dataclass(frozen=True)
class FittedMap:
    """A map in units of the data: ``mean + basis(x) @ weights``, with all that led to it."""

    nodes: Array
    basis: Basis
    mean: Array
    weights: Array
    noise: float
    alpha: float
    width: float
    log_likelihood: float
    evidence: float
    history: list[float]
    converged: bool
    start: str
    trials: list[dict[str, Any]] = field(default_factory=list)


def learn_map(owner: Any, rows: Rows) -> FittedMap:
    """The map that the parameters of ``owner`` ask for, from rows that are read several times."""
    n_nodes, n_centres, basis_piece = _sizes(owner, rows.checks[0].width or 1)
    nodes = lattice(n_nodes)
    mean, unit, n_known = _units(owner, rows)
    rules = _rules(owner, unit)
    width = None if basis_piece.width == "evidence" else float(basis_piece.width)
    basis_of = partial(make_basis, n_centres, linear=basis_piece.linear)
    options = {"max_iter": owner.max_iter, "tol": float(owner.tol)}
    work = 2.0 * block_rows(len(nodes)) * len(nodes) * len(mean)  # distances of a block to nodes
    with ProgressLine(type(owner).__name__, verbose=owner.verbose) as line, threads_for(work):
        Y, starts = _starts(owner, rows, mean, unit, nodes, rules)
        trials: list[dict[str, Any]] = []
        start = next(iter(starts))
        if width is None or len(starts) > 1:
            best, trials = choose(
                Y, nodes, basis_of, starts, rules, width=width, tell=line.update, **options
            )
            state, start, width = best.state, best.start, best.width
        else:
            state = starts[start](basis_of(width))
        basis = basis_of(width)
        if not trials or len(Y) < rows.count():
            sums_of: Callable[[Mixture], Sums] = make_sums(Y)
            if len(Y) < rows.count():  # not all are at hand
                sums_of = partial(_sums_of_rows, rows, mean, unit, owner.n_jobs)
            chosen = bool(trials)
            state = learn(
                sums_of, basis, nodes, state, rules, evidence=chosen, tell=line.update, **options
            )
    if not state.converged:
        _warn_of_steps(owner)
    n, shift = rows.count(), n_known * np.log(unit)
    return FittedMap(
        nodes=nodes,
        basis=basis,
        mean=mean,
        weights=unit * state.weights,
        noise=unit / np.sqrt(state.beta),
        alpha=state.alpha,
        width=width,
        log_likelihood=(state.log_likelihood - shift) / n,
        evidence=(state.evidence - shift) / n,
        history=state.history,
        converged=state.converged,
        start=start,
        trials=trials,
    )


def _sums_of_rows(
    rows: Rows, mean: Array, unit: float, n_jobs: int | None, mixture: Mixture
) -> Sums:
    """The E-step: a sum over all rows, wherever they are."""
    found: Sums = rows.fold(_block_e_step, merge_sums, state=(mixture, mean, unit), n_jobs=n_jobs)
    return found


def _block_e_step(Y: Array, state: tuple[Mixture, Array, float]) -> Sums:
    mixture, mean, unit = state
    return block_sums((Y - mean) / unit, mixture)


def _units(owner: Any, rows: Rows) -> tuple[Array, float, int]:
    """Means of the columns, the spread of the data, and the number of entries that are known."""
    origin = np.nan_to_num(np.asarray(rows.example, dtype=np.float64)[0])
    total = rows.fold(block_columns, merge_columns, state=origin)
    if total.n_rows < 2:
        raise ValueError(f"{type(owner).__name__} needs at least 2 rows. Got 1 sample.")
    if not total.counts.all():
        column = int(np.argmin(total.counts))
        raise ValueError(
            f"{type(owner).__name__} needs a known entry in every column. Got nothing but NaN in "
            f"column {column}; drop it."
        )
    mean, spread = mean_and_spread(total)
    return origin + mean, spread or 1.0, int(total.counts.sum())


def _rules(owner: Any, unit: float) -> Rules:
    alpha = None if owner.alpha == "evidence" else float(owner.alpha)
    if isinstance(owner.noise, str):
        return Rules(alpha, None, corrected=owner.noise == "evidence")
    noise = min(float(owner.noise) / unit, MOST_NOISE)
    return Rules(alpha, max(noise**2, LEAST_NOISE))


def _sizes(owner: Any, n_features: int) -> tuple[tuple[int, ...], tuple[int, ...], GaussianBasis]:
    """Nodes and basis functions on each axis, if there is one number for each."""
    q = int(owner.n_components)
    piece = GaussianBasis() if owner.basis is None else owner.basis
    for name, given, whose in (
        ("n_nodes", owner.n_nodes, owner),
        ("n_centres", piece.n_centres, piece),
    ):
        if given is not None and np.ndim(given) and len(given) != q:
            text = f"None, an int, or {q} of them, one for each latent axis"
            raise ParameterError(refusal(whose, name, text, given))
    nodes = counts_on_axes(owner.n_nodes, q, N_NODES, N_NODES_ON_A_LINE)
    centres = counts_on_axes(piece.n_centres, q, N_CENTRES, N_CENTRES_ON_A_LINE)
    size = np.prod(nodes, dtype=float), np.prod(centres, dtype=float) + q + 1
    require_memory(
        owner,
        8 * (3 * size[0] * (n_features + size[1]) + 3 * size[1] ** 2),
        what=f"{size[0]:.0f} nodes and {size[1]:.0f} basis functions",
        avoid="Both grow exponentially with n_components: take fewer.",
    )
    return nodes, centres, piece


def _starts(
    owner: Any, rows: Rows, mean: Array, unit: float, nodes: Array, rules: Rules
) -> tuple[Array, dict[str, Begin]]:
    """Some rows in units of their spread, and where EM may begin for them, by name."""
    seed = np.random.default_rng(_rng(owner).randint(2**31 - 1))
    chosen = sample_rows(rows.count(), N_CHOOSING, seed)
    Y = (np.asarray(take_rows(rows, chosen)[0], dtype=np.float64) - mean) / unit
    if not isinstance(owner.init, str):
        Z = into_box(np.asarray(owner.init, dtype=np.float64))[chosen]
        if Z.shape[1] != owner.n_components:
            text = f"'auto', 'pca' or latent points of {owner.n_components} columns"
            raise ParameterError(refusal(owner, "init", text, owner.init))
        return Y, {"given": lambda basis: embedding_start(Y, Z, basis, rules.alpha)}
    starts: dict[str, Begin] = {"pca": lambda basis: plane_start(Y, nodes, basis, rules.alpha)}
    if owner.init == "auto":
        for Z in embeddings_in_box(Y, int(owner.n_components), seed):
            starts["isomap"] = partial(_embedded, Y, Z, rules.alpha)
    return Y, starts


def _embedded(Y: Array, Z: Array, alpha: float | None, basis: Basis) -> State:
    return embedding_start(Y, Z, basis, alpha)


def _rng(owner: Any) -> np.random.RandomState:
    return check_random_state(owner.random_state)


def _warn_of_steps(owner: Any) -> None:
    warn(
        f"{type(owner).__name__} has not converged in max_iter={owner.max_iter} EM steps. Raise "
        "max_iter or tol.",
        ConvergenceWarning,
    )
