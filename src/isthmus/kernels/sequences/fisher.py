"""The Fisher kernel: objects compared by how they would change a model."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from isthmus._parameters import (
    Constraint,
    boolean,
    check_parameters,
    choice,
    having,
    real,
)
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import n_objects
from isthmus.linalg.spectrum import inverse_root
from isthmus.typing import Array, Objects

INFORMATION = ("empirical", "identity")


@dataclass
class FisherKernel(Kernel):
    r"""Fisher kernel :math:`k(x,z)=U_x^\top F^{-1}U_z` of a probabilistic model [Jaakkola1999]_.

    :math:`U_x=\nabla_\theta\log p(x|\theta)` is the score of an object: the direction in which it
    would move the parameters of the model. The model makes sequences and series of any length
    comparable, in time linear in their length.

    Parameters
    ----------
    model : object with ``fit(X)`` and ``scores(X)``
        Such as :class:`~isthmus.series.HiddenMarkovModel`. ``scores`` returns one row per
        object. A copy is fitted on the training objects; a model that is already fitted (it has
        ``log_likelihoods_``) is used as it is.
    information : {"empirical", "identity"}, default="empirical"
        F is the mean of :math:`UU^\top` over the training objects with a ridge, or the identity.
    ridge : float, default=1e-3
        Added to the diagonal of F, as a share of its mean.
    per_element : bool, default=True
        Divide scores by the length of the object, so that long ones do not count more.

    Examples
    --------
    >>> from isthmus.kernels import FisherKernel
    >>> from isthmus.series import HiddenMarkovModel
    >>> K = FisherKernel(HiddenMarkovModel(1, alphabet="ab"))(["aab", "aaab", "bba"])
    >>> bool(K[0, 1] > 0 > K[0, 2])
    True
    """

    __module__ = "isthmus.kernels"

    model: Any
    information: str = field(default="empirical", kw_only=True)
    ridge: float = field(default=1e-3, kw_only=True)
    per_element: bool = field(default=True, kw_only=True)
    vectors = False
    offers = frozenset({"sequences"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "model": having("fit", "scores", text="a model with fit(X) and scores(X)"),
        "information": choice(*INFORMATION),
        "ridge": real(0),
        "per_element": boolean,
    }

    def resolve(self, X: Objects) -> "Kernel":
        check_parameters(self)
        fitted = hasattr(self.model, "log_likelihoods_")
        model = self.model if fitted else clone(self.model).fit(X)
        U = _scores(model, X, self.per_element)
        root: Array = np.eye(U.shape[1])
        if self.information == "empirical":
            F = U.T @ U / len(U)
            F += self.ridge * np.trace(F) / len(F) * np.eye(len(F))
            root = inverse_root(F)[0]
        return FittedFisherKernel(model, self.per_element, root)

    def gram(self, X: Objects, Z: Objects) -> Array:
        return self.resolve(Z).gram(X, Z)

    def diag(self, X: Objects) -> Array:
        """``k(x, x)`` with these objects as the training objects."""
        X = self.check(X)
        return self.resolve(X).diag(X)


@dataclass(eq=False)
class FittedFisherKernel(Kernel):
    """A :class:`FisherKernel` whose model and information are known."""

    model: Any
    per_element: bool
    root: Array
    vectors = False

    def __repr__(self) -> str:
        return f"FisherKernel({self.model!r})"

    def _features(self, X: Objects) -> Array:
        return _scores(self.model, X, self.per_element) @ self.root

    def gram(self, X: Objects, Z: Objects) -> Array:
        left = self._features(X)
        return left @ (left if Z is X else self._features(Z)).T

    def diag(self, X: Objects) -> Array:
        return np.asarray((self._features(self.check(X)) ** 2).sum(axis=1))


def _scores(model: Any, X: Objects, per_element: bool) -> Array:
    U = np.asarray(model.scores(X), dtype=np.float64)
    if U.ndim != 2 or len(U) != n_objects(X):
        raise ValueError(
            f"The model of FisherKernel must return scores of shape ({n_objects(X)}, p). "
            f"Got shape {U.shape} instead."
        )
    return U / np.array([len(x) for x in X])[:, None] if per_element else U
