"""Estimators whose answer depends on units or on the origin, with the reason.

A key is a change of units, or ``"X"`` and ``"y"`` for all changes of one side.
"""

CODES = dict.fromkeys(
    ("X plus 1e8", "X plus 100"),
    "a row is a sum of atoms: its distance from the origin is part of what is coded",
)

DOCUMENTED: dict[str, dict[str, str]] = {
    "KSVD": CODES,
    "NonnegativeFactorization": CODES,
    "SparseCoder": CODES,
    "SparseDictionary": CODES,
    "SparseNet": CODES,
    "DictionaryClassifier": CODES,
    "ConvexFactorization": CODES,  # with constraint="cone"; archetypes do not see the origin
    "UnsupervisedKernelRegression": {
        "X": "rounding decides between local minima of equal error: the latent coordinates differ, "
        "the reconstruction error does not"
    },
    "ImplicitSurface": {
        "X": "the core set is drawn at random among points that rounding puts in another order"
    },
    "CoreVectorRanker": {"X": "the core set ends within its tolerance, not at the optimum"},
    "BayesianStiefelRegression": {"X": "a chain of random steps, whose end rounding changes"},
}

# Outputs that are missing (NaN, or None among objects) are left out of the loss.
MISSING_OUTPUTS = {"StiefelRegression", "DependencyEstimator"}
