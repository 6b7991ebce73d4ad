"""Sparse codes over a given dictionary, as a transformer."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import (
    check_float,
    check_scale,
    check_table,
)
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, boolean, choice, integer, jobs, none, numbers, real
from isthmus._warnings import warn
from isthmus.sparse.l1.feature_sign import sign_search
from isthmus.sparse.pursuit.matching import code_in_blocks, orthogonal_matching_pursuit
from isthmus.typing import Array, BoolArray, IntArray

# The default penalty, as a share of the typical length of a signal.
_PENALTY_SHARE = 0.1
# Duality gap at which coordinate descent ends, where no other is asked for.
_GAP = 1e-4


class CodesMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """What estimators with atoms ``components_`` share: decoding, and names of features."""

    components_: Array

    @property
    def provides(self) -> frozenset[str]:
        """What the transformer can do, see :mod:`isthmus.typing`."""
        return frozenset({"transform", "inverse", "vectors"})

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def inverse_transform(self, X: Any) -> Array:
        """Return the signals that the codes ``X`` stand for, ``X @ components_``."""
        check_is_fitted(self)
        codes = check_array(
            X,
            dtype=[np.float64, np.float32],
            accept_sparse="csr",
            input_name="X",
            estimator=self,
        )
        if codes.shape[1] != len(self.components_):
            raise ValueError(
                f"{type(self).__name__} has {len(self.components_)} atoms, so codes must have as "
                f"many columns. Got {codes.shape[1]} instead."
            )
        return np.asarray(codes @ self.components_, dtype=codes.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class SparseCoder(CodesMixin, Estimator):
    r"""Codes of signals over a given dictionary, with few non-zeros.

    Either :math:`\min_c\frac12\|x-cD\|^2+\alpha\|c\|_1`, solved exactly, or the best code with a
    given number of non-zeros or a given error, sought greedily. A signal is then ``code @ D``.

    Parameters
    ----------
    dictionary : array of shape (n_atoms, n_features) or "dct", default="dct"
        Atoms are rows, of any lengths. ``"dct"`` makes cosines, twice as many as features.
    algorithm : {"auto", "feature_sign", "coordinate_descent", "pursuit"}, default="auto"
        ``"feature_sign"`` (:func:`feature_sign_search`) is exact. ``"coordinate_descent"`` ends at
        a duality gap of ``tol``; it can be faster where codes have hundreds of non-zeros and
        few digits are enough. ``"pursuit"`` (:func:`orthogonal_matching_pursuit`) counts non-zeros.
        Auto is ``"pursuit"`` where ``n_nonzero`` or ``tol`` is given, else ``"feature_sign"``: its
        codes change continuously with the signal. scikit-learn's coder pursues by default.
    alpha : float or None, default=None
        Penalty. None takes a tenth of the root mean square length of the signals in ``fit``.
    n_nonzero : int or None, default=None
        Maximum number of non-zeros of a code, for the pursuit.
    tol : float or None, default=None
        Accuracy at which a search ends: for the pursuit the norm of the residual; for coordinate
        descent the duality gap, relative to half the squared length of the signal, where None is
        1e-4.
    positive : bool, default=False
        Only coefficients that are not negative; not for the pursuit.
    n_jobs : int or None, default=None
        Threads. The codes do not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_atoms, n_features)
        The dictionary.
    algorithm_ : str
    alpha_ : float or None
        The penalty used; None for the pursuit.

    See Also
    --------
    SparseDictionary : learns the dictionary for this penalty.
    KSVD : learns the dictionary for this number of non-zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import SparseCoder
    >>> t = np.arange(16)
    >>> X = np.cos(np.pi * (t + 0.5) * np.array([[3], [5]]) / 16)
    >>> coder = SparseCoder(alpha=0.01).fit(X)
    >>> codes = coder.transform(X)
    >>> np.count_nonzero(codes, axis=1)
    array([1, 1])
    >>> bool(np.abs(coder.inverse_transform(codes) - X).max() < 0.01)
    True
    """

    __module__ = "isthmus.sparse"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "dictionary": choice("dct") | numbers(2),
        "algorithm": choice("auto", "feature_sign", "coordinate_descent", "pursuit"),
        "alpha": none | real(0, include_low=False),
        "n_nonzero": none | integer(1),
        "tol": none | real(0),
        "positive": boolean,
        "n_jobs": jobs,
    }

    def __init__(
        self,
        dictionary: Any = "dct",
        *,
        algorithm: str = "auto",
        alpha: float | None = None,
        n_nonzero: int | None = None,
        tol: float | None = None,
        positive: bool = False,
        n_jobs: int | None = None,
    ):
        self.dictionary = dictionary
        self.algorithm = algorithm
        self.alpha = alpha
        self.n_nonzero = n_nonzero
        self.tol = tol
        self.positive = positive
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Take the dictionary and, where it is not given, the penalty; return self."""
        algorithm = self._check_parameters()
        X = validate_data(self, X, dtype=np.float64)
        check_scale(self, X)
        atoms = self._atoms(X.shape[1])
        alpha = None if algorithm == "pursuit" else penalty(self, X)
        self.components_, self.algorithm_, self.alpha_ = atoms, algorithm, alpha
        return self

    def _check_parameters(self) -> str:
        """The algorithm that the parameters ask for."""
        algorithm = str(self.algorithm)
        if self.tol is not None and algorithm == "coordinate_descent":
            check_float(self.tol, "tol", self, include_low=False)
        if algorithm == "auto":
            counted = self.n_nonzero is not None or self.tol is not None
            algorithm = "pursuit" if counted else "feature_sign"
        if algorithm == "pursuit" and self.positive:
            raise ValueError(
                "SparseCoder(algorithm='pursuit') cannot keep coefficients positive. "
                "Take algorithm='feature_sign'."
            )
        return algorithm

    def transform(self, X: Any) -> Array:
        """Return the codes of the rows of ``X``, shape (n_signals, n_atoms)."""
        check_is_fitted(self)
        X, dtype = double_rows(self, X)
        if self.algorithm_ == "pursuit":
            codes = orthogonal_matching_pursuit(
                X, self.components_, n_nonzero=self.n_nonzero, tol=self.tol, n_jobs=self.n_jobs
            )
            return np.asarray(codes, dtype=dtype)
        return penalised_codes(self, X).astype(dtype, copy=False)

    def _atoms(self, n_features: int) -> Array:
        if isinstance(self.dictionary, str) and self.dictionary == "dct":
            return cosine_atoms(2 * n_features, n_features)
        atoms = check_table(
            self.dictionary,
            "dictionary",
            self,
            expected="an array of numbers with one atom per row, or 'dct'",
        )
        if atoms.shape[1] != n_features:
            raise ValueError(
                f"The 'dictionary' parameter of SparseCoder must have atoms as rows, with as many "
                f"features as X. Got {atoms.shape[1]} and {n_features}."
            )
        return atoms


def double_rows(owner: Any, X: Any) -> tuple[Array, Any]:
    """Rows for a fitted ``owner`` in double precision, and the precision they came in."""
    X = validate_data(owner, X, dtype=[np.float64, np.float32], order="C", reset=False)
    return X.astype(np.float64, copy=False), X.dtype


def cosine_atoms(n_atoms: int, n_features: int) -> Array:
    """Sampled cosines of unit length, slowest first; a basis where the numbers are equal.

    >>> import numpy as np
    >>> bool(np.allclose(cosine_atoms(5, 5) @ cosine_atoms(5, 5).T, np.eye(5)))
    True
    """
    places = np.arange(n_features) + 0.5
    atoms = np.cos(np.pi * np.arange(n_atoms)[:, None] * places / n_atoms)
    lengths = np.linalg.norm(atoms, axis=1, keepdims=True)
    return atoms / np.where(lengths > 1e-9, lengths, 1.0)


def penalty(owner: Any, X: Array) -> float:
    """The penalty ``alpha`` of ``owner``, or a tenth of the usual length of the signals."""
    if owner.alpha is not None:
        return check_float(owner.alpha, "alpha", owner, include_low=False)
    typical = float(np.sqrt(np.mean(np.einsum("ij,ij->i", X, X))))
    return _PENALTY_SHARE * (typical or 1.0)


def penalised_codes(coder: SparseCoder, X: Array) -> Array:
    """Codes under the L1 penalty of a fitted coder; a warning where the optimum was not reached."""
    D, alpha = coder.components_, coder.alpha_
    assert alpha is not None
    codes = np.zeros((len(X), len(D)))
    search = sign_search if coder.algorithm_ == "feature_sign" else coordinate_descent
    tolerance = _GAP if coder.tol is None else float(coder.tol)
    settings: dict[str, Any] = {} if search is sign_search else {"tol": tolerance}
    _, finished = search(
        X,
        D,
        alpha,
        codes,
        positive=bool(coder.positive),
        n_jobs=coder.n_jobs,
        **settings,
    )
    if not finished.all():
        warn(
            f"SparseCoder did not reach the optimum of {np.sum(~finished)} of {len(X)} signals. "
            "Atoms may be nearly dependent; a larger alpha helps.",
            ConvergenceWarning,
        )
    return codes


def coordinate_descent(
    X: Array,
    D: Array,
    alpha: float,
    codes: Array,
    *,
    positive: bool = False,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    n_jobs: int | None = None,
) -> tuple[IntArray, BoolArray]:
    """Change ``codes`` from starts to near optima; return sweeps and which ended. No checks."""
    # Imported here: numba takes a good part of a second.
    from isthmus.sparse.l1.coordinate_loops import descend_block

    G = D @ D.T
    n_sweeps = np.zeros(len(X), dtype=np.int64)
    finished = np.zeros(len(X), dtype=np.bool_)
    squares = np.einsum("ij,ij->i", X, X)

    def code(rows: slice) -> None:
        descend_block(
            G,
            X[rows] @ D.T,
            squares[rows],
            alpha,
            tol,
            max_iter,
            positive,
            codes[rows],
            n_sweeps[rows],
            finished[rows],
        )

    code_in_blocks(code, len(X), n_jobs)
    return n_sweeps, finished
