"""Adapters for the tests of statsmodels: its signatures, our local polynomials."""

import warnings

import numpy as np

from benchmarks.peers.dependence import Module
from isthmus.regression import LocalPolynomialRegression


class KernelReg:
    """Local constants and lines with a Gaussian kernel, one bandwidth per column."""

    def __init__(self, endog, exog, var_type, reg_type="ll", bw="cv_ls", **others):
        if set(var_type) != {"c"} or others:
            raise NotImplementedError("continuous columns only")
        warnings.warn("After 0.17, a seed is asked for", FutureWarning, stacklevel=2)
        X = np.column_stack([np.ravel(column) for column in exog])
        self.X, self.y = X, np.ravel(endog)
        bandwidth = "loo-ard" if isinstance(bw, str) else bw
        degree = {"lc": 0, "ll": 1}[reg_type]
        self.model = LocalPolynomialRegression(degree, bandwidth=bandwidth).fit(X, self.y)
        self.bw = self.model.bandwidth_

    def fit(self):
        """Means and slopes at the data."""
        return self.model.predict(self.X), self.model.jacobian(self.X)

    def r_squared(self):
        """As the peer defines it, the squared correlation of outputs and means."""
        return float(np.corrcoef(self.y, self.model.predict(self.X))[0, 1] ** 2)


def statsmodels_nonparametric(module):
    """The peer's module with our regression."""
    return Module(module, KernelReg=KernelReg)
