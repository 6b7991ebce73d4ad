"""The check of kernels."""

from typing import Any

import numpy as np

from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import n_objects, take
from isthmus.kernels.resolve import as_kernel
from isthmus.testing.inputs import (
    check_copies,
    check_untouched,
    copied,
    halves,
    in_double,
    is_table,
    pickled,
)
from isthmus.testing.report import CheckReport, Facts
from isthmus.testing.words import between_rows, check_learned_parameters, check_words
from isthmus.typing import Array, Objects, provides

# A distance that should be zero is known to the root of the rounding error.
TOL = 1e-6


def check_kernel(kernel: Any, X: Objects, *, positive: bool = True) -> CheckReport:
    """Check that a kernel keeps its contract on the objects ``X``.

    Its values: symmetric, positive semi-definite, with the diagonal that ``diag`` says, the same in
    blocks, for parts of the objects and of a copy. What it declares in ``provides``: gradients by
    the remainder of Taylor's formula, distances, inner products and explicit features by the
    numbers they must give, invariance where it is radial or stationary. A word that it does not
    declare is not checked.

    Parameters
    ----------
    kernel : kernel, name or callable
        Whatever :func:`isthmus.kernels.as_kernel` takes.
    X : objects
        At least 8 that the kernel compares, not all the same. For a kernel of Gram matrices, a
        square one.
    positive : bool, default=True
        False where eigenvalues may be negative, as those of ``DTWKernel``.

    Returns
    -------
    CheckReport

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import Gaussian, Spectrum
    >>> from isthmus.testing import check_kernel
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> "its gradient is that of its values" in check_kernel(Gaussian(0.5), X).facts
    True
    >>> words = ["ab", "abc", "bca", "cab", "aab", "bb", "cc", "abcabc"]
    >>> check_kernel(Spectrum(2), words).contract
    'kernel'
    """
    facts = Facts("kernel", kernel)
    if isinstance(kernel, type):
        facts.needs_methods(kernel)
    k = as_kernel(kernel)
    lost = sorted(provides(kernel) - k.provides) if not isinstance(kernel, str) else []
    if lost:
        raise TypeError(
            f"{facts.part} provides {', '.join(lost)}, which estimators see of kernels that derive "
            "from isthmus.kernels.Kernel alone."
        )
    kinds = provides(k) & {"vectors", "objects", "pairwise"}
    facts.holds(
        "it provides one of 'vectors', 'objects' and 'pairwise'",
        len(kinds) == 1,
        f"Found {sorted(kinds)}.",
    )
    check_copies(facts, k)
    X = in_double(X)
    before, looks = copied(X), repr(k)
    with facts.works("check takes the objects"):
        checked = k.check(X)
    with facts.works("resolve replaces what is open by numbers"):
        fixed = k.resolve(checked)
    K = _check_values(facts, k, fixed, X, checked)
    _check_spectrum(facts, K, positive)
    _check_parts(facts, fixed, checked, K)
    again = pickled(facts, fixed)
    if again is not None:
        facts.agree("it can be pickled", again.gram(checked, fixed.reference(checked)), K, tol=TOL)
    table = _as_table(checked)
    if table is not None:
        check_words(facts, fixed, table)
    if "pairwise" not in kinds:
        points = between_rows(table)[0] if "vectors" in kinds and table is not None else checked
        check_learned_parameters(facts, fixed, points)
    facts.holds("using it does not change it", repr(k) == looks)
    check_untouched(facts, X, before)
    return facts.report()


def _check_values(facts: Facts, k: Kernel, fixed: Kernel, X: Objects, checked: Objects) -> Array:
    n = n_objects(checked)
    with facts.works("gram gives a matrix of numbers"):
        K = np.asarray(fixed.gram(checked, fixed.reference(checked)))
    facts.holds(
        "gram gives a matrix of numbers",
        K.shape == (n, n) and K.dtype.kind == "f" and np.isfinite(K).all(),
        f"Found shape {K.shape} of {K.dtype} for {n} objects.",
    )
    facts.agree("k(X) is the Gram matrix of X", k(X), K, tol=TOL)
    second = fixed.reference(checked) if fixed.pairwise else X
    facts.agree("k(X, Z) is gram of the checked objects", fixed(X, second), K, tol=TOL)
    facts.agree("the Gram matrix is symmetric", K, K.T, tol=TOL)
    facts.agree("diag is the diagonal of the Gram matrix", fixed.diag(checked), np.diag(K), tol=TOL)
    return K


def _check_spectrum(facts: Facts, K: Array, positive: bool) -> None:
    if not positive:
        return
    spectrum = np.linalg.eigvalsh((K + K.T) / 2)
    facts.holds(
        "no eigenvalue of the Gram matrix is negative",
        spectrum[0] >= -1e-8 * max(spectrum[-1], 0.0),
        f"Found {spectrum[0]:.3g} beside {spectrum[-1]:.3g}. Give positive=False for a similarity "
        "that need not be positive.",
    )


def _check_parts(facts: Facts, fixed: Kernel, X: Objects, K: Array) -> None:
    """Rows, columns, blocks and another resolution give the same numbers."""
    some, _ = halves(X)
    reference = fixed.reference(X)
    rows = fixed.gram(take(X, some), reference)
    facts.agree("a row does not depend on the other rows", rows, K[some], tol=TOL)
    columns = fixed.gram(X, fixed.reference(X, some))
    facts.agree("reference takes columns of the Gram matrix", columns, K[:, some], tol=TOL)
    size = max(1, len(K) // 3)
    blocks = list(fixed.blocks(X, reference, block_size=size))
    covered = np.concatenate([np.arange(len(K))[rows] for rows, _ in blocks])
    facts.holds("blocks cover every row once", np.array_equal(covered, np.arange(len(K))))
    whole = np.concatenate([np.asarray(block) for _, block in blocks])
    facts.agree("blocks make up the Gram matrix", whole, K, tol=TOL)
    if not fixed.pairwise:
        other = fixed.resolve(take(X, some))
        facts.agree("a resolved kernel has nothing left to resolve", other.gram(X, X), K, tol=TOL)


def _as_table(X: Objects) -> Array | None:
    """The objects as vectors in double precision, where they are such."""
    return np.array(X, dtype=np.float64) if is_table(X) else None
