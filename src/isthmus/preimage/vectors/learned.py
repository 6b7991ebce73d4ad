"""Learned pre-images."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from isthmus._parameters import Constraint, choice, having, none, real
from isthmus.kernels.base import Kernel
from isthmus.kernels.resolve import A_KERNEL, kernel_parameter
from isthmus.kernels.vectors.dot import Linear
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.preimage.base import BasePreimage
from isthmus.regression.ridge.estimator import DEFAULT_ALPHAS, KernelRidgeCV
from isthmus.regression.selection import Selection
from isthmus.typing import Array, Objects

# Coordinates of a narrow kernel hardly vary: inverting them may need a wide one.
GAUSSIANS = tuple(Gaussian(width_factor=scale) for scale in (0.5, 1.0, 2.0, 4.0))


class LearnedPreimage(BasePreimage):
    r"""Regression of objects on their coordinates: a pre-image is one matrix product.

    With a reconstruction kernel :math:`\kappa` on coordinates :math:`c_1,\dots,c_n`,

    .. math:: z(\beta)=b+\sum_i\kappa(c_i,\beta)\,B_{i\cdot},\qquad
              B=(K_\kappa+\alpha I)^{-1}(X-b).

    It needs no kernel on the objects, only vectors and their coordinates, so it inverts
    precomputed kernels, landmark maps and any other transformer.

    Parameters
    ----------
    kernel : kernel, name or "auto", default="auto"
        :math:`\kappa`; ``"auto"`` chooses between a linear and Gaussian kernels of several
        widths by leave-one-out.
    alpha : float or "loo", default="loo"
        Penalty, by default chosen by leave-one-out.
    regressor : scikit-learn regressor or None, default=None
        Multi-output regressor to use instead of kernel ridge; ``kernel`` and ``alpha`` are then
        ignored.

    Attributes
    ----------
    regressor_ : the fitted regressor.

    Notes
    -----
    ``DependencyEstimator`` fits it on coordinates that were predicted for left-out rows, since
    those are what it will be given; see there.

    :meth:`fit` can be given more objects than the feature map was fitted on: their coordinates are
    known, so they are free training pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import KernelPCA
    >>> from isthmus.preimage import LearnedPreimage
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    >>> pca = KernelPCA(10, kernel="gaussian").fit(X)
    >>> Z = LearnedPreimage().fit(X, pca).solve(pca.transform(X))
    >>> bool(np.abs(Z - X).max() < 0.05)
    True
    """

    __module__ = "isthmus.preimage"

    #: It can be fitted on predicted coordinates: see DependencyEstimator.
    provides = frozenset({"solve", "learned"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "kernel": choice("auto") | A_KERNEL,
        "alpha": real(0) | choice("loo"),
        "regressor": having("fit", "predict", text="a regressor") | none,
    }

    def __init__(self, kernel: Any = "auto", *, alpha: Any = "loo", regressor: Any = None):
        self.kernel = kernel
        self.alpha = alpha
        self.regressor = regressor

    def _fit(self, objects: Objects, feature_map: Any, coordinates: Array) -> None:
        if self.regressor is not None:
            regressor = clone(self.regressor)
        else:
            alphas = DEFAULT_ALPHAS if self.alpha == "loo" else self.alpha
            few = Selection(max_rows=1000)
            regressor = KernelRidgeCV(self._kernels(), alpha=alphas, cv=few)
        self.regressor_ = regressor.fit(coordinates, objects)

    def _kernels(self) -> Kernel | list[Kernel]:
        if not (isinstance(self.kernel, str) and self.kernel == "auto"):
            return kernel_parameter(self, "kernel")
        if self.alpha != "loo":
            return Gaussian()
        return [Linear(), *GAUSSIANS]

    def _solve(self, coordinates: Array, start: Objects = None) -> Objects:
        found = np.asarray(self.regressor_.predict(coordinates))
        return found.reshape(len(coordinates), -1)
