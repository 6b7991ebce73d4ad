"""Tables with and without missing entries, brought into the forms that the losses take."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from isthmus.sparse.factorization.divergence import Divergence
from isthmus.sparse.factorization.masked import Masked, is_full_enough
from isthmus.sparse.factorization.observed import Observed
from isthmus.sparse.factorization.penalties import Penalty
from isthmus.sparse.factorization.quadratic import Quadratic

Penalties = tuple[Penalty, Penalty]
Problem = Quadratic | Observed | Masked | Divergence


@dataclass(frozen=True)
class FactorizationTable:
    """Non-negative data, and which entries are known.

    ``values`` is dense with zeros at missing entries, or compressed rows. ``mask`` is None where
    all entries are known, else of the same kind with ones at those that are.
    """

    values: Any
    mask: Any = None

    @classmethod
    def of(cls, X: Any, missing: str, owner: str) -> "FactorizationTable":
        """Check the sign and find what is missing: NaN, or what a sparse table does not store."""
        if missing == "unstored" and not issparse(X):
            raise TypeError(
                f"{owner} with missing='unstored' needs a sparse table, whose stored entries are "
                f"the known ones. Got {type(X).__name__}; mark missing entries of an array by NaN."
            )
        stored = X.data if issparse(X) else X
        if issparse(X) and np.isnan(stored).any():
            raise ValueError(
                f"Input X contains NaN. {owner} takes NaN as missing in arrays only; in a sparse "
                "table store the known entries and set missing='unstored'."
            )
        if stored.size and np.nanmin(stored, initial=0.0) < 0:
            raise ValueError(
                f"Negative values in data passed to {owner}: it needs entries of at least 0. "
                f"Got {np.nanmin(stored):.3g}."
            )
        if issparse(X):
            X = csr_array(X)
            if missing == "nan":
                return cls(X)
            pattern = csr_array((np.ones(len(X.data)), X.indices, X.indptr), shape=X.shape)
            return cls(X.astype(np.float64), pattern)
        unknown = np.isnan(X)
        if not unknown.any():
            return cls(X)
        if unknown.all():
            raise ValueError(
                f"{owner} needs at least one known entry. Got a table of shape {X.shape} in which "
                "all entries are missing (NaN)."
            )
        return cls(np.where(unknown, 0.0, X).astype(np.float64), (~unknown).astype(np.float64))

    @property
    def n_stored(self) -> int:
        """Entries that a product with the table touches."""
        return int(self.values.nnz if issparse(self.values) else self.values.size)

    @property
    def n_known(self) -> float:
        return float(np.prod(self.values.shape) if self.mask is None else self.mask.sum())

    @property
    def mean(self) -> float:
        """Of the known entries."""
        return float(self.values.sum()) / max(self.n_known, 1.0)

    @property
    def largest(self) -> float:
        stored = self.values.data if issparse(self.values) else self.values
        return float(np.max(stored, initial=0.0))

    def filled(self) -> Any:
        """Without gaps, for a start: missing entries of an array are means of their column."""
        if self.mask is None or issparse(self.values):
            return self.values
        counts = self.mask.sum(axis=0)
        means = np.where(counts > 0, self.values.sum(axis=0) / np.maximum(counts, 1), self.mean)
        return np.where(self.mask > 0, self.values, means)

    def take(self, rows: Any) -> "FactorizationTable":
        """Some rows of a table with gaps."""
        return FactorizationTable(self.values[rows], self.mask[rows])

    def split(
        self, rng: np.random.Generator, share: float
    ) -> tuple["FactorizationTable", "FactorizationTable"]:
        """Two tables with gaps: one lacks a share of the known entries, the other holds it."""
        if not issparse(self.values):
            chosen = (rng.random(self.values.shape) < share) & (self.mask > 0)
            kept = np.where(chosen, 0.0, self.values), np.where(chosen, 0.0, self.mask)
            hidden = np.where(chosen, self.values, 0.0), chosen.astype(np.float64)
            return FactorizationTable(*kept), FactorizationTable(*hidden)
        table = self.values
        rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
        chosen = rng.random(len(table.data)) < share

        def part(some: Any) -> "FactorizationTable":
            places = rows[some], table.indices[some]
            values = csr_array((table.data[some], places), shape=table.shape)
            return FactorizationTable(
                values, csr_array((np.ones(len(places[0])), places), shape=table.shape)
            )

        return part(~chosen), part(chosen)

    def known_entries(self) -> csr_array:
        """The known entries as compressed rows, zeros among them stored."""
        if issparse(self.values):
            return self.values
        rows, columns = np.nonzero(self.mask)
        indptr = np.r_[0, np.cumsum(np.bincount(rows, minlength=len(self.values)))]
        parts = (self.values[rows, columns], columns, indptr)
        return csr_array(parts, shape=self.values.shape)

    def problem(
        self, beta: float, solver: str, penalties: Penalties, owner: str, n_components: int
    ) -> Problem:
        """The loss of a divergence, given by its number."""
        if beta == 2:
            return self.quadratic(solver, penalties, n_components)
        return self.divergence(beta, penalties, owner)

    def quadratic(
        self, solver: str, penalties: Penalties, n_components: int
    ) -> Quadratic | Observed | Masked:
        """The Euclidean loss, in the form that is fastest for so many components."""
        if self.mask is None:
            return Quadratic.of(self.values, solver, penalties)
        is_array = not issparse(self.values)
        if is_array and is_full_enough(self.values.shape, self.n_known, n_components):
            return Masked.of(self.values, self.mask, penalties)
        return Observed.of(self.known_entries(), penalties)

    def divergence(self, beta: float, penalties: Penalties, owner: str) -> Divergence:
        """A divergence other than the Euclidean one."""
        named = "'itakura-saito'" if beta == 0 else f"{beta:g}"
        if beta != 1 and issparse(self.values):
            raise TypeError(
                f"{owner} with divergence={named} needs an array: what a sparse table does not "
                "store counts too. Got a sparse table."
            )
        known = True if self.mask is None else self.mask
        if beta <= 0 and np.any((self.values <= 0) * known):
            raise ValueError(
                f"{owner} with divergence={named} needs positive entries, since zeros are "
                "infinitely far from everything else. Got zeros; add a small number, or mark them "
                "as missing by NaN."
            )
        values = self.values.astype(np.float64, copy=False)
        return Divergence.of(values, beta, penalties, self.mask)
