"""Public functions of arrays, each argument in turn replaced by bad data."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from isthmus.coreset import solve_simplex
from isthmus.dependence import (
    coco,
    distance_correlation,
    distance_covariance,
    hsic,
    independence_test,
    mmd,
    two_sample_test,
)
from isthmus.manifold import coranking_matrix, held_out_reconstruction, neighborhood_scores
from isthmus.reduction import reduce_expansion
from isthmus.sensing import basis_pursuit, mutual_coherence
from isthmus.series import dtw, dtw_matrix
from isthmus.sparse import feature_sign_search, matching_pursuit, orthogonal_matching_pursuit
from tests.campaign.bad_inputs import bad_rows
from tests.campaign.outcomes import outcome_of
from tests.campaign.subjects import table

# These would be answered with numbers that mean nothing.
MUST_REFUSE = {
    "one NaN", "all NaN", "infinity", "minus infinity", "None", "word", "bytes", "text", "complex",
    "object with None", "object with dict", "no rows", "set", "dictionary", "structured",
}  # fmt: skip


@dataclass
class Function:
    """A function, its good arguments, and which of them is attacked."""

    name: str
    call: Callable[..., Any]
    arguments: tuple[Any, ...]
    place: int


def functions() -> list[Function]:
    """Every function with every place that takes an array."""
    X, Z = table(), table(seed=1)
    D = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    K = X @ X.T
    chosen: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
        ("hsic", hsic, (X, Z)),
        ("mmd", mmd, (X, Z)),
        ("coco", coco, (X, Z)),
        ("distance_covariance", distance_covariance, (X, Z)),
        ("distance_correlation", distance_correlation, (X, Z)),
        (
            "independence_test",
            lambda a, b: independence_test(a, b, n_permutations=20, random_state=0).pvalue,
            (X, Z),
        ),
        (
            "two_sample_test",
            lambda a, b: two_sample_test(a, b, n_permutations=20, random_state=0).pvalue,
            (X, Z),
        ),
        ("matching_pursuit", lambda a, b: matching_pursuit(a, b, max_iter=5), (X, D)),
        (
            "orthogonal_matching_pursuit",
            lambda a, b: orthogonal_matching_pursuit(a, b, n_nonzero=2),
            (X, D),
        ),
        ("feature_sign_search", lambda a, b: feature_sign_search(a, b, alpha=0.1), (X, D)),
        ("basis_pursuit", lambda a: basis_pursuit(a, np.ones(X.shape[1])), (X.T,)),
        ("mutual_coherence", mutual_coherence, (X,)),
        ("neighborhood_scores", lambda a, b: neighborhood_scores(a, b).area, (X, Z)),
        ("coranking_matrix", coranking_matrix, (X, Z)),
        ("held_out_reconstruction", lambda a: held_out_reconstruction(PCA(1), a), (X,)),
        ("dtw", dtw, (X, Z)),
        ("dtw_matrix", lambda a: dtw_matrix([a, Z]), (X,)),
        (
            "reduce_expansion",
            lambda k, c: reduce_expansion(k, c, n_points=3).coefficients,
            (K, X),
        ),
        ("solve_simplex", lambda k: solve_simplex(k, np.zeros(len(X)))[0], (K + np.eye(len(K)),)),
    ]
    return [
        Function(f"{name}, argument {place + 1}", call, arguments, place)
        for name, call, arguments in chosen
        for place in range(len(arguments))
    ]


def cases(function: Function) -> Iterator[tuple[str, str]]:
    """Every bad table in the place of the good one."""
    good = np.atleast_2d(function.arguments[function.place])
    for name, value in bad_rows(good).items():
        arguments = list(function.arguments)
        arguments[function.place] = value
        outcome = outcome_of(lambda given=arguments: _numbers(function.call(*given)))
        missing = "NaN" in name or "None" in name  # a pursuit leaves out what is missing
        if function.name == "orthogonal_matching_pursuit, argument 1" and missing:
            yield name, outcome
            continue
        if function.name.startswith("basis_pursuit") and name == "complex":
            yield name, outcome  # it takes complex numbers
            continue
        if outcome == "answered" and name in MUST_REFUSE:
            outcome = "answered what cannot be known"
        yield name, outcome


def _numbers(answer: Any) -> Any:
    return answer if isinstance(answer, (float, np.ndarray, tuple)) else np.asarray(answer, object)
