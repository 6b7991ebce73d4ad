"""Adapters for scikit-learn's tests of factorisation and sparse codes: its signatures, ours."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from isthmus.sparse import (
    NonnegativeFactorization,
    feature_sign_search,
    orthogonal_matching_pursuit,
)

DIVERGENCES = {
    "frobenius": "euclidean",
    "kullback-leibler": "kullback-leibler",
    "itakura-saito": "itakura-saito",
}
STARTS = {None: "auto", "nndsvd": "svd", "nndsvda": "svd", "nndsvdar": "svd", "random": "random"}


class NMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Nonnegative factorisation, from our :class:`isthmus.sparse.NonnegativeFactorization`."""

    def __init__(
        self, n_components="auto", *, init=None, solver="cd", beta_loss="frobenius", tol=1e-4,
        max_iter=200, random_state=None, alpha_W=0.0, alpha_H="same", l1_ratio=0.0, verbose=0,
        shuffle=False,
    ):  # fmt: skip
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.verbose = verbose
        self.shuffle = shuffle

    def fit(self, X, y=None, **params):
        self.fit_transform(X, **params)
        return self

    def fit_transform(self, X, y=None, W=None, H=None):
        auto = self.n_components in ("auto", None)
        if auto and self.init == "custom":
            count = H.shape[0]
        else:
            count = X.shape[1] if auto else self.n_components
        init = (np.asarray(W), np.asarray(H)) if self.init == "custom" else STARTS[self.init]
        self.model_ = NonnegativeFactorization(
            count, solver="multiplicative" if self.solver == "mu" else "auto",
            divergence=DIVERGENCES.get(self.beta_loss, self.beta_loss), tol=self.tol,
            max_iter=self.max_iter, init=init, random_state=self.random_state,
            alpha_W=self.alpha_W, alpha_H=self.alpha_H, l1_ratio=self.l1_ratio,
        )  # fmt: skip
        codes = self.model_.fit_transform(X)
        self.components_, self.n_components_ = self.model_.components_, count
        self.reconstruction_err_ = self.model_.reconstruction_err_
        self.n_iter_, self._n_features_out = self.model_.n_iter_, count
        return codes

    def transform(self, X):
        check_is_fitted(self)
        return self.model_.transform(X)

    def inverse_transform(self, X):
        return self.model_.inverse_transform(X)


def non_negative_factorization(X, W=None, H=None, n_components="auto", *, update_H=True, **options):
    """Both factors and the number of iterations; the codes alone are what our transform returns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if not update_H:
            known = {name: options[name] for name in ("alpha_W", "l1_ratio") if name in options}
            model = NonnegativeFactorization(len(H), init=(None, H), fixed="components", **known)
            return model.fit_transform(X), H, model.n_iter_
        model = NMF(n_components, **options)
        codes = model.fit_transform(X, W=W, H=H)
    return codes, model.components_, model.n_iter_


def sparse_encode(
    X, dictionary, *, gram=None, cov=None, algorithm="lasso_lars", n_nonzero_coefs=None,
    alpha=None, copy_cov=True, init=None, max_iter=1000, n_jobs=None, check_input=True, verbose=0,
    positive=False,
):  # fmt: skip
    """Codes of rows by a penalty or a pursuit; ours has atoms of length one in the pursuit."""
    if positive and algorithm in ("omp", "lars"):
        raise ValueError(f"Positive constraint not supported for '{algorithm}' coding method.")
    if X.shape[1] != dictionary.shape[1]:
        raise ValueError("Dictionary and X have different numbers of features")
    if algorithm in ("lasso_lars", "lasso_cd"):
        alpha = 1.0 if alpha is None else alpha
        return feature_sign_search(X, dictionary, alpha=alpha, positive=positive)
    if algorithm == "omp":
        norms = np.linalg.norm(dictionary, axis=1)
        most = min(max(X.shape[1] / 10, 1), len(dictionary))
        count = n_nonzero_coefs or int(most)
        return orthogonal_matching_pursuit(X, dictionary / norms[:, None], n_nonzero=count) / norms
    raise NotImplementedError(f"no codes by {algorithm}")
