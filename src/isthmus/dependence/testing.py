"""Tests of independence and of equal distributions."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from isthmus._checks import check_choice, check_int
from isthmus._door import with_door
from isthmus.dependence.approximation import as_low_rank
from isthmus.dependence.block_discrepancy import block_discrepancies, normal_pvalue
from isthmus.dependence.constrained_covariance import centered_factor, largest_singular_value
from isthmus.dependence.gram_sums import finish, gram_sums
from isthmus.dependence.low_rank import Products, low_rank_products, low_rank_side
from isthmus.dependence.mean_discrepancy import (
    discrepancies,
    pooled_distance_side,
    pooled_kernel_side,
)
from isthmus.dependence.measures import correlations, covariances, signed_root
from isthmus.dependence.null import (
    chi2_pvalue,
    gamma_pvalue,
    gamma_tail,
    moments_of_traces,
    permutation_pvalue,
    t_pvalue,
)
from isthmus.dependence.permutation import permuted_products, random_permutations
from isthmus.dependence.products import SideNoise, refuse_pairwise
from isthmus.dependence.sides import Side, check_count, check_pair, distance_side, kernel_side
from isthmus.dependence.threads import map_in_threads
from isthmus.kernels.objects import n_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.typing import Array, IntArray, Objects

METHODS = {
    "hsic": ("permutation", "gamma", "chi2"),
    "dcor": ("permutation", "gamma", "chi2", "t"),
    "coco": ("permutation",),
    "mmd": ("permutation", "gamma", "blocks"),
    "energy": ("permutation", "gamma"),
}


@dataclass(frozen=True)
class DependenceTest:
    """What a test found.

    Attributes
    ----------
    statistic : float
        The measure on the data.
    pvalue : float
        Probability of such a value or a larger one under the hypothesis: independence, or equal
        distributions.
    null_distribution : ndarray of shape (n_permutations,) or None
        The measure on permuted data; None where no permutation was made.
    measure, method : str
        What was measured, and how the probability was found.
    """

    __module__ = "isthmus.dependence"

    statistic: float
    pvalue: float
    null_distribution: Array | None = field(repr=False)
    measure: str
    method: str


@with_door
def independence_test(
    X: Objects,
    Y: Objects,
    *,
    statistic: str = "hsic",
    method: str = "permutation",
    n_permutations: int = 999,
    x_kernel: Any = "gaussian",
    y_kernel: Any = "gaussian",
    exponent: float = 1,
    unbiased: bool = False,
    approximation: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> DependenceTest:
    r"""Test whether two paired collections of objects are independent.

    Parameters
    ----------
    X, Y : collections of n objects
    statistic : {"hsic", "dcor", "coco"}, default="hsic"
        ``"dcor"`` takes vectors, the others what their kernels compare.
    method : {"permutation", "gamma", "chi2", "t"}, default="permutation"
        How the probability under independence is found:

        - ``"permutation"``: exact at any n; :math:`p=(1+\#\{T_\pi\ge T\})/(1+B)`.
        - ``"gamma"``: Gamma distribution with the exact mean and variance over all permutations.
        - ``"chi2"``: bound by a chi-square distribution, cautious [Shen2022]_.
        - ``"t"``: Student's t for ``"dcor"`` of data with many columns [SzekelyRizzo2013]_. With
          few columns it rejects too often.

        ``"coco"`` has permutations alone.
    n_permutations : int, default=999
    x_kernel, y_kernel : kernels of ``"hsic"`` and ``"coco"``, default="gaussian"
    exponent : float in (0, 2], default=1
        Of the distances of ``"dcor"``. With 2 the test sees linear dependence alone.
    unbiased : bool, default=False
        Report the U-statistic and permute it.
    approximation : None, "nystroem", "fourier", Nystroem or RandomFourier, default=None
        Kernels of low rank r in place of the exact ones, for ``"hsic"`` and ``"coco"``. A
        permutation then costs O(n r²) and memory is n r numbers; ``"gamma"`` needs O(n r²) time in
        all and no such memory. The level is that of the test with any other kernel.
    random_state : int, RandomState or None
    n_jobs : int or None, default=None
        Threads; None is as many as BLAS has where loops are compiled, otherwise one. Results do
        not depend on it.

    Returns
    -------
    DependenceTest
        With ``statistic``, ``pvalue`` and ``null_distribution``.

    Notes
    -----
    The data are centred once. A permutation costs O(n²) with one n × n matrix in memory,
    O(n log n) for two columns with ``"dcor"``, O(n p q) for two linear kernels. The other methods
    need O(n) memory.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.dependence import independence_test
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=60)
    >>> y = x**2 + 0.1 * rng.normal(size=60)
    >>> independence_test(x, y, n_permutations=199, random_state=0).pvalue
    0.005
    >>> independence_test(x, y, statistic="dcor", method="chi2").pvalue < 0.01
    True
    """
    owner = "independence_test"
    _check_method(statistic, method, ("hsic", "dcor", "coco"), owner)
    check_int(n_permutations, "n_permutations", owner, low=1)
    low_rank = as_low_rank(approximation, owner)
    if low_rank is not None and statistic == "dcor":
        raise ValueError(
            f"{owner}(statistic='dcor') has no kernel to approximate: leave out approximation, or "
            "take statistic='hsic'."
        )
    if low_rank is not None:
        kernels = [as_kernel(kernel) for kernel in (x_kernel, y_kernel)]
        refuse_pairwise(kernels, owner)
        if method != "permutation":
            found = low_rank_products((X, Y), kernels, low_rank, owner=owner)
            return _low_rank_test(found, method, unbiased)
        x, y = (
            low_rank_side(D, k, low_rank, owner=owner) for D, k in zip((X, Y), kernels, strict=True)
        )
    elif statistic == "dcor":
        x, y = (
            distance_side(D, exponent, name=name, owner=owner) for D, name in ((X, "X"), (Y, "Y"))
        )
    else:
        x, y = kernel_side(X, x_kernel, name="X"), kernel_side(Y, y_kernel, name="Y")
    check_pair(x, y, owner=owner, unbiased=unbiased or method != "permutation")
    permute = {"n_permutations": n_permutations, "random_state": random_state, "n_jobs": n_jobs}
    if statistic == "coco":
        if unbiased:
            raise ValueError("coco has no unbiased estimator: leave out unbiased=True.")
        return _coco_test(x, y, **permute)

    sums = gram_sums([x, y], n_jobs=n_jobs)
    products = finish(sums, unbiased=unbiased)
    value = partial(_value, statistic, products, [x, y], unbiased=unbiased)
    observed = float(value(products[0, 1]))
    if method == "permutation":
        T = permuted_products(x, y, sums, unbiased=unbiased, **permute)
        return _result(observed, permutation_pvalue(T), value(T[1:]), statistic, method)
    if method == "gamma":
        pvalue = gamma_pvalue(finish(sums, unbiased=False)[0, 1], sums)
    else:
        R = correlations(finish(sums, unbiased=True), [x, y], unbiased=True)[0, 1]
        pvalue = (t_pvalue if method == "t" else chi2_pvalue)(R, x.n)
    return _result(observed, pvalue, None, statistic, method)


@with_door
def two_sample_test(
    X: Objects,
    Z: Objects,
    *,
    statistic: str = "mmd",
    method: str = "permutation",
    n_permutations: int = 999,
    kernel: Any = "gaussian",
    exponent: float = 1,
    unbiased: bool = False,
    approximation: Any = None,
    block_size: int | None = None,
    random_state: Any = None,
) -> DependenceTest:
    r"""Test whether two samples of objects have the same distribution.

    Parameters
    ----------
    X, Z : collections of m and n objects
    statistic : {"mmd", "energy"}, default="mmd"
        ``"mmd"`` is the maximum mean discrepancy for ``kernel``, as :func:`mmd` returns it;
        ``"energy"`` the energy distance
        :math:`2\overline{\|x-z\|^a}-\overline{\|x-x'\|^a}-\overline{\|z-z'\|^a}` of vectors, a
        square by definition.
    method : {"permutation", "gamma", "blocks"}, default="permutation"
        Permutations divide the pooled objects into two samples again and again; ``"gamma"`` matches
        the exact mean and variance over all of them; ``"blocks"``, for ``"mmd"``, holds the mean of
        the unbiased square over blocks of objects, drawn at random, against its standard error
        [Zaremba2013]_: O((m+n) ``block_size``) time, less power, and a level that holds
        where there are some tens of blocks.
    n_permutations : int, default=999
    kernel : kernel of ``"mmd"``, default="gaussian"
    exponent : float in (0, 2], default=1
        Of the energy distance. With 2 only means are compared.
    unbiased : bool, default=False
    approximation : None, "nystroem", "fourier", Nystroem or RandomFourier, default=None
        A kernel of low rank r in place of the exact one, for ``"mmd"`` with permutations:
        O((m+n) r) time for each, and memory of (m+n) r numbers.
    block_size : int or None, default=None
        Objects of each sample in a block of ``"blocks"``; None takes the root of their number.
    random_state : int, RandomState or None

    Returns
    -------
    DependenceTest

    Notes
    -----
    The pooled matrix is read once, in blocks, and multiplied with all partitions at a time:
    O((m+n)²B) in BLAS, O((m+n)B) memory.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.dependence import two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> X, Z = rng.normal(size=(80, 2)), 2 * rng.normal(size=(60, 2))
    >>> two_sample_test(X, Z, n_permutations=199, random_state=0).pvalue
    0.005
    """
    owner = "two_sample_test"
    _check_method(statistic, method, ("mmd", "energy"), owner)
    check_int(n_permutations, "n_permutations", owner, low=1)
    if method == "blocks":
        return _block_test(X, Z, kernel, block_size, random_state, owner)
    if approximation is not None and (statistic != "mmd" or method != "permutation"):
        raise ValueError(
            f"{owner} takes an approximation with statistic='mmd' and method='permutation'. Got "
            f"statistic={statistic!r} and method={method!r}."
        )
    if statistic == "mmd":
        pooled = pooled_kernel_side(
            X, Z, kernel, owner=owner, unbiased=unbiased, approximation=approximation
        )
    else:
        pooled = pooled_distance_side(X, Z, exponent, owner=owner, unbiased=unbiased)
    value = partial(_discrepancy, statistic, unbiased=unbiased)
    if method == "gamma":
        label = np.where(pooled.first, 1.0, 0.0)[:, None]
        sides = [pooled.side, kernel_side(label, "linear", name="labels")]
        check_pair(*sides, owner=owner, unbiased=True)
        sums = gram_sums(sides)
        observed = discrepancies(pooled, pooled.first[None], unbiased=unbiased)[0]
        pvalue = gamma_pvalue(finish(sums, unbiased=False)[0, 1], sums)
        return _result(value(observed), pvalue, None, statistic, method)
    partitions = random_permutations(pooled.side.n, n_permutations, random_state)
    T = np.concatenate(
        [discrepancies(pooled, pooled.first[block], unbiased=unbiased) for block in partitions]
    )
    return _result(value(T[0]), permutation_pvalue(T), value(T[1:]), statistic, method)


def _low_rank_test(found: Products, method: str, unbiased: bool) -> DependenceTest:
    """The test of hsic from sums over objects alone."""
    check_count(found.n, owner="independence_test", unbiased=True)
    products = found.centered(unbiased=unbiased)
    observed = covariances(products[0, 1], found.n, unbiased=unbiased)
    if method == "gamma":
        moments = moments_of_traces(
            found.n, found.traces, np.diag(found.squares), np.diag(found.diagonals)
        )
        pvalue = gamma_tail(float(found.squares[0, 1]), *moments)
    else:
        noises = [SideNoise(1e-20 * float(t) ** 2) for t in found.traces]
        R = correlations(found.centered(unbiased=True), noises, unbiased=True)[0, 1]
        pvalue = chi2_pvalue(R, found.n)
    return _result(float(observed), pvalue, None, "hsic", method)


def _block_test(
    X: Objects, Z: Objects, kernel: Any, block_size: int | None, random_state: Any, owner: str
) -> DependenceTest:
    """The mean over blocks of objects in random order, against its own spread."""
    rng = check_random_state(random_state)
    m, n = n_objects(X), n_objects(Z)
    if block_size is None:
        block_size = max(2, int(np.sqrt(min(m, n))))
    order = rng.permutation(m), rng.permutation(n)
    values = block_discrepancies(X, Z, kernel, block_size, owner=owner, order=order)
    if len(values) < 2:
        raise ValueError(
            f"{owner}(method='blocks') needs at least 2 blocks to know their spread. Got "
            f"block_size={block_size} for samples of {m} and {n}: lower it."
        )
    observed = float(signed_root(np.asarray(values.mean())))
    return _result(observed, normal_pvalue(values), None, "mmd", "blocks")


def _discrepancy(statistic: str, squared: Any, *, unbiased: bool) -> Any:
    """The measure for a squared discrepancy, or for many."""
    if statistic == "energy":
        return squared
    return signed_root(squared if unbiased else np.maximum(squared, 0.0))


def _value(
    statistic: str, products: Array, sides: list[Side], product: Any, *, unbiased: bool
) -> Any:
    """The measure for a product, or for many, of the two sides."""
    if statistic == "hsic":
        return covariances(product, sides[0].n, unbiased=unbiased)
    squares = np.diag(products)
    if np.any(squares <= [side.noise for side in sides]):
        return np.zeros_like(product)
    low = -1.0 if unbiased else 0.0
    return signed_root(np.clip(product / np.sqrt(squares.prod()), low, 1.0))


def _coco_test(
    x: Side, y: Side, *, n_permutations: int, random_state: Any, n_jobs: int | None
) -> DependenceTest:
    A, B = centered_factor(x), centered_factor(y)

    def value(p: IntArray) -> float:
        return largest_singular_value(A.T @ B[p]) / x.n

    blocks = random_permutations(x.n, n_permutations, random_state)
    T = np.array([t for block in blocks for t in map_in_threads(value, block, n_jobs)])
    return _result(float(T[0]), permutation_pvalue(T), T[1:], "coco", "permutation")


def _result(
    statistic: float, pvalue: float, null: Array | None, measure: str, method: str
) -> DependenceTest:
    return DependenceTest(float(statistic), pvalue, null, measure, method)


def _check_method(statistic: str, method: str, statistics: tuple[str, ...], owner: str) -> None:
    check_choice(statistic, "statistic", owner, statistics)
    check_choice(method, "method", f"{owner}(statistic={statistic!r})", METHODS[statistic])
