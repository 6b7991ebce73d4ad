"""The global alignment kernel of time series."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from isthmus._checks import check_choice, check_float, check_int
from isthmus._parameters import Constraint, boolean, jobs
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import check_list
from isthmus.kernels.vectors.width import median_distance
from isthmus.series.collection import Packed, pack, pack_both
from isthmus.series.pairs import n_lanes, pair_matrix, short_calls
from isthmus.typing import Array, IntArray, Objects

# w e / (a - b w e): local similarities, of which alignments are products.
LOCALS = {"geometric": (2.0, 1.0), "exponential": (1.0, 0.0)}


class SeriesKernel(Kernel):
    """A kernel of time series: lists of arrays of any lengths, or arrays of equal lengths."""

    vectors = False
    offers = frozenset({"series"})

    def check(self, X: Objects) -> Objects:
        pack(X, owner=type(self).__name__)
        return check_list(X, type(self).__name__)


@dataclass
class GlobalAlignment(SeriesKernel):
    r"""Global alignment kernel: the sum over all alignments of two series [Cuturi2011]_.

    .. math::
        k(x,z)=\sum_{\pi}\prod_{(i,j)\in\pi}\kappa(x_i,z_j),\qquad
        \kappa=\frac{e}{2-e},\quad e=\exp(-\gamma\|x_i-z_j\|^2),

    where :math:`\pi` runs over all paths from which dynamic time warping chooses the best. Unlike
    :class:`DTWKernel` it is positive semi-definite, since :math:`\kappa=s/(1-s)` for the kernel
    :math:`s=e/2`. Sums are scaled by powers of two, so series may have thousands of elements.

    Parameters
    ----------
    gamma : float or "median", default="median"
        Width of the local similarity. ``"median"`` is :math:`1/(2\sigma^2)` with
        :math:`\sigma` the median distance of elements times the root of the median length.
    width_factor : float, default=1.0
        The width as a multiple of that :math:`\sigma`; no effect if ``gamma`` is a number.
    triangle : int or None, default=None
        T of the triangular kernel: :math:`e` is multiplied by
        :math:`\max(0,1-|i-j|/T)`, so that elements T or more steps apart are not matched, at
        O(T) instead of O(m) per element. Series whose lengths differ by T or more have k = 0.
    local : {"geometric", "exponential"}, default="geometric"
        ``"exponential"`` is :math:`\kappa=e`, as often printed; k is then not always positive
        semi-definite.
    normalize : bool, default=True
        Whether to return :math:`k(x,z)/\sqrt{k(x,x)k(z,z)}`, computed from logarithms. The plain
        value overflows beyond some 400 elements.
    n_jobs : int or None, default=None
        Number of threads; None is as many as numba may use.

    Examples
    --------
    >>> from isthmus.kernels import GlobalAlignment
    >>> GlobalAlignment(1 / 8, normalize=False)([[1.0, 2.0, 3.0]], [[1.0, 2.0, 2.0, 3.0]]).round(4)
    array([[15.3582]])
    >>> GlobalAlignment(1 / 8)([[1.0, 2.0, 3.0]], [[1.0, 2.0, 2.0, 3.0]]).round(6)
    array([[0.839337]])
    """

    __module__ = "isthmus.kernels"

    gamma: Any = "median"
    width_factor: float = field(default=1.0, kw_only=True)
    triangle: int | None = field(default=None, kw_only=True)
    local: str = field(default="geometric", kw_only=True)
    normalize: bool = field(default=True, kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)

    _constraints: ClassVar[dict[str, Constraint]] = {
        "normalize": boolean,
        "n_jobs": jobs,
    }

    def resolve(self, X: Objects) -> "GlobalAlignment":
        check_choice(self.local, "local", self, tuple(LOCALS))
        if self.triangle is not None:
            check_int(self.triangle, "triangle", self, low=1)
        if not isinstance(self.gamma, str):
            check_float(self.gamma, "gamma", self, include_low=False)
            return self
        check_choice(self.gamma, "gamma", self, ("median",))
        check_float(self.width_factor, "width_factor", self, include_low=False)
        packed = pack(X, owner="GlobalAlignment")
        sigma = median_distance(packed.values) * np.sqrt(np.median(packed.lengths))
        gamma = float(0.5 / (self.width_factor * sigma) ** 2)
        params = self.get_params(deep=False) | {"gamma": gamma, "width_factor": 1.0}
        return GlobalAlignment(**params)

    def gram(self, X: Objects, Z: Objects) -> Array:
        left, right = pack_both(X, Z, owner="GlobalAlignment")
        logs = self._logarithms(left, right)
        if not self.normalize:
            return self._values(logs)
        x_logs = np.diag(logs) if left is right else self.log_diag(left)
        z_logs = x_logs if left is right else self.log_diag(right)
        return np.exp(logs - x_logs[:, None] / 2 - z_logs / 2)

    def diag(self, X: Objects) -> Array:
        packed = pack(X, owner="GlobalAlignment")
        if self.normalize:
            return np.ones(len(packed))
        return self._values(self.resolve(X).log_diag(packed))

    def _values(self, logs: Array) -> Array:
        if logs.max() > np.log(np.finfo(np.float64).max):
            raise ValueError(
                "GlobalAlignment(normalize=False) overflows: k = "
                f"exp({logs.max():.0f}). Set normalize=True, or use shorter series."
            )
        return np.exp(logs)

    def _logarithms(self, left: Packed, right: Packed) -> Array:
        z_lengths = None if left is right else right.lengths
        compute = self._compute(left, right)
        return pair_matrix(left.lengths, z_lengths, compute, n_jobs=self.n_jobs, title="alignment")

    def log_diag(self, packed: Packed) -> Array:
        """Logarithms of ``k(x, x)`` before normalisation."""
        order = np.argsort(packed.lengths, kind="stable")
        logs = np.empty(len(packed))
        compute = self._compute(packed, packed)
        for piece in short_calls(len(order), packed.lengths, packed.lengths):
            logs[order[piece]] = compute(order[piece], order[piece])
        return logs

    def _compute(self, left: Packed, right: Packed) -> Any:
        from isthmus.kernels.series.alignment_loops import log_alignment, pair_alignments

        triangle = np.inf if self.triangle is None else float(self.triangle)
        longest = int(max(left.lengths.max(), right.lengths.max()))

        def one(packed: Packed, i: int) -> Array:
            return packed.values[packed.starts[i] : packed.starts[i] + packed.lengths[i]]

        def compute(first: IntArray, second: IntArray) -> Array:
            out = np.empty(len(first))
            pair_alignments(
                left.parts,
                right.parts,
                first,
                second,
                float(self.gamma),
                triangle,
                LOCALS[self.local],
                longest,
                n_lanes(len(first)),
                out,
            )
            # One by one: the slow form of long series takes seconds, and hears of no interrupt.
            for p in np.flatnonzero(np.isnan(out)):
                x, z = one(left, first[p]), one(right, second[p])
                out[p] = log_alignment(x, z, float(self.gamma), triangle, LOCALS[self.local])
            return out

        return compute
