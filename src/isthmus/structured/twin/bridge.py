"""What a twin process keeps of its training pairs to judge trial outputs of new inputs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import checked_gram
from isthmus.kernels.objects import take
from isthmus.linalg.products import product
from isthmus.structured.twin.formulas import (
    CriterionTable,
    CriterionValues,
    RowCriterion,
    added_divergence,
    centred_border,
    distance_from_mean,
    hsic_criterion,
    hsic_table,
    inverse_added_divergence,
    inverse_kl_criterion,
    inverse_kl_table,
    kl_criterion,
    kl_table,
    quadratic_forms,
)
from isthmus.structured.twin.inverse import (
    MOST_FORMED,
    OutputInverse,
    positive_factor,
    solve_factored,
)
from isthmus.structured.twin.judging import QuadraticTerms
from isthmus.structured.twin.levels import Levels
from isthmus.typing import Array, IntArray, Objects


class TwinQuery(NamedTuple):
    """New inputs, as their trial outputs will be judged."""

    criterion: RowCriterion  # of one trial output per query
    table: CriterionTable  # of the same trial outputs for all queries
    start: Array | None  # kernel ridge regression, where outputs are vectors
    input_variance: Array  # η: what the training inputs leave unknown of the new ones
    to_nats: Callable[[Array], Array]  # values of the criterion in their final unit
    # Of rows g and g_yy of answers: how far these are from the mean of the input process.
    mismatch: Callable[[Array, Array], Array] | None = None
    levels: Levels | None = None  # of a search on two levels, where there is one
    terms: QuadraticTerms | None = None  # of the criterion, where its matrices are at hand


class AskedInputs(NamedTuple):
    """What the training inputs say of new ones, whatever the outputs are."""

    k_x: Array
    k_xx: Array
    u: Array
    eta: Array
    start: Array | None


# Quadratic forms of trial outputs that are the same for all queries.
Forms = tuple[Array, ...] | None


class TriedOutputs(NamedTuple):
    """Outputs that are tried as starts, by what no query has a part in."""

    g: Array
    forms: Forms


# Outputs up to which two products with the same rows are made one, whose call counts.
MOST_JOINED = 400
# Maximum number of outputs that are tried as starts.
MAX_TRIED = 500


def tried_outputs(outputs: Array) -> Array:
    """Reference outputs that are tried as starts."""
    return outputs[:: -(-len(outputs) // MAX_TRIED)]


class TwinSides(NamedTuple):
    """The two kernels, their widths numbers, and the noise on their diagonals."""

    x_kernel: Kernel
    y_kernel: Kernel
    x_noise: float
    y_noise: float


@dataclass(frozen=True)
class ExactBridge:
    """All training pairs: O(n³) once, O(n²) per trial output."""

    sides: TwinSides
    kind: str
    inputs: Objects
    outputs: Objects
    factor: Any  # Cholesky of K
    inverse: OutputInverse
    M: Array | None  # G⁻¹KG⁻¹, of the inverse criterion

    def __getstate__(self) -> dict[str, Any]:
        # What is kept between predictions is no part of what was learned.
        return {name: value for name, value in vars(self).items() if name != "tried"}

    @cached_property
    def tried(self) -> TriedOutputs:
        """Of the outputs that are tried as starts, kept from one prediction to the next."""
        g = self.sides.y_kernel.gram(tried_outputs(self.outputs), self.outputs)
        gQg = np.einsum("ij,ij->i", g, self.inverse.rows(g))
        forms = (gQg,) if self.M is None else (gQg, *quadratic_forms(g, (self.M,)))
        return TriedOutputs(g, forms)

    def query(self, X: Objects) -> TwinQuery:
        return self.judged(self.asked(X))

    def asked(self, X: Objects) -> AskedInputs:
        """What the inputs alone determine."""
        return ask_inputs(self.sides, self.factor, self.inputs, self.outputs, X)

    def judged(self, asked: AskedInputs) -> TwinQuery:
        """How trial outputs of these inputs will be judged."""
        y_kernel, y_noise = self.sides.y_kernel, self.sides.y_noise
        k_x, k_xx, u, eta, start = asked

        @cache
        def uGu() -> Array:
            total = np.zeros(len(u))
            for rows in block_slices(u.shape[1], u.shape[1]):
                block = y_kernel.gram(take(self.outputs, rows), self.outputs)
                total += np.einsum("ij,ij->i", u[:, rows], product(u, block.T))
            return total

        def mismatch(g: Array, g_yy: Array) -> Array:
            return distance_from_mean(g, g_yy, u, uGu())

        if self.kind == "inverse_kl":
            Q = self.inverse.matrix
            v, to_nats_of = product(k_x, Q), partial(inverse_added_divergence, eta=eta)
            both = joined(Q, self.M)
            judges = shared_inverse_kl(Q, self.M, v, k_xx, y_noise, both)
            terms = None if both is None else QuadraticTerms(lambda: both, v, k_xx, y_noise)
            return TwinQuery(*judges, start, eta, to_nats_of, mismatch, terms=terms)

        def to_nats(values: Array) -> Array:
            with_noise = uGu() + y_noise * np.einsum("ij,ij->i", u, u)
            return added_divergence(values, with_noise, eta)

        judges = shared_kl(self.inverse.rows, u, eta, y_noise)
        levels = Levels(u, eta, y_noise, self.inverse)
        terms = None
        if u.shape[1] <= MOST_FORMED:
            terms = QuadraticTerms(lambda: self.inverse.matrix, u, eta, y_noise)
        return TwinQuery(*judges, start, eta, to_nats, mismatch, levels, terms)


def ask_inputs(
    sides: TwinSides, factor: Any, inputs: Objects, outputs: Objects, X: Objects
) -> AskedInputs:
    """What the training inputs, whose Gram matrix is factored, say of new ones."""
    k_x = sides.x_kernel.gram(X, inputs)
    k_xx = sides.x_kernel.diag(X) + sides.x_noise
    u = solve_factored(factor, k_x.T).T
    eta = np.maximum(k_xx - np.einsum("ij,ij->i", k_x, u), sides.x_noise)
    start = ridge_start(u, outputs) if sides.y_kernel.vectors else None
    return AskedInputs(k_x, k_xx, u, eta, start)


def ridge_start(u: Array, Y: Array) -> Array:
    """Kernel ridge regression around the mean output, so that a shift of the outputs shifts it."""
    mean = Y.mean(axis=0)
    return np.asarray(mean + product(u, Y - mean))


class InputFactor(NamedTuple):
    """The inputs' Gram matrix with its noise, factored."""

    factor: Any  # None where new inputs have been asked already
    K: Array | None  # itself, where the criterion needs it


def factor_inputs(kind: str, sides: TwinSides, X: Objects) -> InputFactor:
    """Factor the Gram matrix of the inputs."""
    K = checked_gram(sides.x_kernel, X, X, "the inputs", exact=kind == "inverse_kl")
    K.flat[:: len(K) + 1] += sides.x_noise
    kept = K.copy() if kind == "inverse_kl" else None
    return InputFactor(positive_factor(K, "inputs"), kept)


def exact_bridge(
    kind: str,
    sides: TwinSides,
    X: Objects,
    Y: Objects,
    inputs: InputFactor | None = None,
    inverse: OutputInverse | None = None,
) -> ExactBridge:
    """Factor the Gram matrices of all training pairs, but for what is given."""
    inputs = factor_inputs(kind, sides, X) if inputs is None else inputs
    if inverse is None:
        inverse = OutputInverse(sides.y_kernel, Y, sides.y_noise)
        inverse.factor  # noqa: B018  what cannot be inverted is refused here
    M = None
    if inputs.K is not None:
        M = product(product(inverse.matrix, inputs.K), inverse.matrix)
    return ExactBridge(sides, kind, X, Y, inputs.factor, inverse, M)


@dataclass(frozen=True)
class HsicBridge:
    """Row sums of K are all that the HSIC criterion keeps."""

    sides: TwinSides
    inputs: Objects
    outputs: Objects
    row_sums: Array
    tried: ClassVar[TriedOutputs | None] = None

    def query(self, X: Objects) -> TwinQuery:
        k_x = self.sides.x_kernel.gram(X, self.inputs)
        k_xx = self.sides.x_kernel.diag(X)
        b, c = centred_border(k_x, k_xx, self.row_sums)
        return hsic_query(b, c, k_x, k_xx, self.outputs if self.sides.y_kernel.vectors else None)


def hsic_bridge(sides: TwinSides, X: Objects, Y: Objects) -> HsicBridge:
    """Sum the rows of K, block by block."""
    blocks = sides.x_kernel.blocks(X, X)
    return HsicBridge(sides, X, Y, np.concatenate([K.sum(axis=1) for _, K in blocks]))


def hsic_query(b: Array, c: Array, k_x: Array, k_xx: Array, Y: Array | None) -> TwinQuery:
    """The start is the mean of the outputs, weighted by the similarity of their inputs."""
    start = None
    if Y is not None:
        weights = np.maximum(k_x, 0) + np.finfo(k_x.dtype).tiny
        start = np.asarray((weights / weights.sum(axis=1, keepdims=True)) @ Y)
    n = k_x.shape[1]

    def judge(g: Array, g_yy: Array, rows: IntArray) -> CriterionValues:
        return hsic_criterion(g, g_yy, b[rows], c[rows])

    def table(g: Array, g_yy: Array, forms: None = None) -> Array:
        return hsic_table(g, g_yy, b, c)

    return TwinQuery(judge, table, start, k_xx, lambda values: values / (n + 1) ** 2)


def shared_kl(
    times_Q: Callable[[Array], Array], u: Array, eta: Array, floor: float
) -> tuple[RowCriterion, CriterionTable]:
    """The KL criterion of queries that share the reference outputs."""

    def judge(g: Array, g_yy: Array, rows: IntArray) -> CriterionValues:
        return kl_criterion(g, g_yy, times_Q(g), u[rows], eta[rows], floor)

    def table(g: Array, g_yy: Array, forms: Forms = None) -> Array:
        (gQg,) = forms or (np.einsum("ij,ij->i", g, times_Q(g)),)
        return kl_table(g, g_yy, gQg, u, eta, floor)

    return judge, table


def joined(Q: Array, M: Any) -> Array | None:
    """Q beside M, where one product with both is faster than two."""
    return np.hstack([Q, M]) if len(Q) <= MOST_JOINED else None


def shared_inverse_kl(
    Q: Array, M: Any, v: Array, k_xx: Array, floor: float, both: Array | None = None
) -> tuple[RowCriterion, CriterionTable]:
    """The inverse criterion of queries that share the reference outputs.

    ``both`` is Q beside M, for one product in place of two.
    """
    n = len(Q)

    def judge(g: Array, g_yy: Array, rows: IntArray) -> CriterionValues:
        if both is None:
            Qg, Mg = product(g, Q), product(g, M)
        else:
            joined = product(g, both)
            Qg, Mg = joined[:, :n], joined[:, n:]
        return inverse_kl_criterion(g, g_yy, Qg, Mg, v[rows], k_xx[rows], floor)

    def table(g: Array, g_yy: Array, forms: Forms = None) -> Array:
        gQg, gMg = forms or quadratic_forms(g, (Q, M))
        return inverse_kl_table(g, g_yy, gQg, gMg, v, k_xx, floor)

    return judge, table
