"""Similarities from distances between objects of any kind."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isthmus._checks import check_choice, check_float
from isthmus.blocks.sampling import sample_rows
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import n_objects, take
from isthmus.kernels.series.alignment import SeriesKernel
from isthmus.series.warping import dtw_matrix
from isthmus.typing import Array, Objects

MAX_OBJECTS = 200  # number of objects on which the median distance is taken
FORMS = ("exponential", "squared")


class _DistanceBased(Kernel):
    """A kernel computed from a matrix of distances."""

    gamma: Any
    vectors = False
    offers = frozenset({"series"})

    @abstractmethod
    def _distances(self, X: Objects, Z: Objects) -> Array:
        """Distances of all pairs."""

    def _median_gamma(self, X: Objects) -> float:
        check_choice(self.gamma, "gamma", self, ("median",))
        part = take(X, sample_rows(n_objects(X), MAX_OBJECTS))
        D = self._distances(part, part)
        positive = D[D > 0]
        median = float(np.median(D[np.triu_indices(len(D), 1)])) if len(D) > 1 else 0.0
        return 1 / (median or (float(positive.mean()) if len(positive) else 1.0))


@dataclass
class DTWKernel(SeriesKernel, _DistanceBased):
    r"""Similarity :math:`k(x,z)=\exp(-\gamma\,D(x,z))` with dynamic time warping D.

    Only the best alignment counts. It is not positive semi-definite, so kernel methods refuse it:
    wrap it in :class:`SpectrumRepair`, or use :class:`GlobalAlignment`.

    Parameters
    ----------
    gamma : float or "median", default="median"
        ``"median"`` is one over the median distance of at most 200 series.
    window, step, local :
        As in :func:`isthmus.series.dtw`.
    n_jobs : int or None, default=None
        Number of threads; None is as many as numba may use.

    Examples
    --------
    >>> from isthmus.kernels import DTWKernel
    >>> DTWKernel(1.0)([[1.0, 2.0, 3.0]], [[1.0, 2.0, 2.0, 3.0], [1.0, 3.0]]).round(4)
    array([[1.    , 0.3679]])
    """

    __module__ = "isthmus.kernels"

    gamma: Any = "median"
    window: Any = field(default=None, kw_only=True)
    step: Any = field(default="symmetric1", kw_only=True)
    local: Any = field(default="sqeuclidean", kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)

    def resolve(self, X: Objects) -> "DTWKernel":
        if isinstance(self.gamma, str):
            return DTWKernel(**(self.get_params(deep=False) | {"gamma": self._median_gamma(X)}))
        check_float(self.gamma, "gamma", self, include_low=False)
        return self

    def _distances(self, X: Objects, Z: Objects) -> Array:
        return dtw_matrix(
            X,
            None if Z is X else Z,
            window=self.window,
            step=self.step,
            local=self.local,
            n_jobs=self.n_jobs,
        )

    def gram(self, X: Objects, Z: Objects) -> Array:
        return np.exp(-self.gamma * self._distances(X, Z))

    def diag(self, X: Objects) -> Array:
        return np.ones(n_objects(self.check(X)))


@dataclass
class DistanceKernel(_DistanceBased):
    r"""Similarity from any distance: :math:`\exp(-\gamma d)`, or :math:`-\frac12d^2`.

    The second form, centred, is the inner product that belongs to the distance:
    :math:`-\frac12HD^{(2)}H`. Neither is always positive semi-definite: see
    :class:`SpectrumRepair`.

    Parameters
    ----------
    distance : callable
        ``distance(X, Z)`` returns the (n, m) matrix of distances of two collections, such as
        :func:`isthmus.series.edit_matrix`.
    gamma : float or "median", default="median"
        ``"median"`` is one over the median distance of at most 200 objects; no effect with
        ``form="squared"``.
    form : {"exponential", "squared"}, default="exponential"

    Examples
    --------
    >>> from isthmus.kernels import DistanceKernel
    >>> from isthmus.series import edit_matrix
    >>> DistanceKernel(edit_matrix, gamma=0.5)(["cat", "car", "boat"]).round(3)
    array([[1.   , 0.607, 0.368],
           [0.607, 1.   , 0.223],
           [0.368, 0.223, 1.   ]])
    """

    __module__ = "isthmus.kernels"

    distance: Callable[..., Any]
    gamma: Any = field(default="median", kw_only=True)
    form: str = field(default="exponential", kw_only=True)

    def resolve(self, X: Objects) -> "DistanceKernel":
        check_choice(self.form, "form", self, FORMS)
        if not isinstance(self.gamma, str):
            check_float(self.gamma, "gamma", self, include_low=False)
        elif self.form == "exponential":
            return DistanceKernel(self.distance, gamma=self._median_gamma(X), form=self.form)
        return self

    def _distances(self, X: Objects, Z: Objects) -> Array:
        D = np.asarray(self.distance(X, Z), dtype=np.float64)
        expected = (n_objects(X), n_objects(Z))
        if D.shape != expected or not np.isfinite(D).all():
            raise ValueError(
                f"The 'distance' of DistanceKernel must return finite numbers of shape {expected}. "
                f"Got shape {D.shape}{'' if np.isfinite(D).all() else ', not all finite'} instead."
            )
        return D

    def gram(self, X: Objects, Z: Objects) -> Array:
        D = self._distances(X, Z)
        return np.exp(-self.gamma * D) if self.form == "exponential" else -0.5 * D**2

    def diag(self, X: Objects) -> Array:
        X = self.check(X)
        own = [self._distances(one, one)[0, 0] for one in (take(X, [i]) for i in range(len(X)))]
        D = np.array(own)
        return np.exp(-self.resolve(X).gamma * D) if self.form == "exponential" else -0.5 * D**2
