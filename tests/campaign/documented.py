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
    "CurvilinearComponents": {
        "X plus 1e8": "sweeps of stochastic descent, in which rounding decides how a sheet is cut"
    },
    "ImplicitSurface": {
        "X": "the core set is drawn at random among points that rounding puts in another order"
    },
    "CoreVectorRanker": {"X": "the core set ends within its tolerance, not at the optimum"},
    "LocalPCA": dict.fromkeys(
        ("X times 1e8", "X times 1e-8"),
        "a code is the number of a plane, which has no units, and coordinates in those of the data",
    ),
    "MaximumVarianceUnfolding": {
        "X": "rows along a curve have no second coordinate: rounding makes one below the tolerance"
    },
    "BayesianStiefelRegression": {"X": "a chain of random steps, whose end rounding changes"},
}

# The same for one setting of an estimator, by what its representation says.
OWN_UNITS = "a number that was given has units: it means something else in others"
SETTINGS: dict[str, dict[str, str]] = {
    "KernelPCA(center=False, kernel=Gaussian(gamma=0.5)": {"X": OWN_UNITS},
    "KernelRidgeCV(alpha=0.1, fit_intercept=False)": {
        "X": OWN_UNITS,
        "y plus 100": "without an intercept the origin of the outputs counts",
        "y plus 1e8": "without an intercept the origin of the outputs counts",
    },
    "LocalPolynomialRegression(bandwidth=1.0": {"X": OWN_UNITS},
    "GaussianProcess(kernel='matern', n_init=1, noise=0.1": {"y": OWN_UNITS},
    "GaussianProcess(bounds=ParameterBounds(": {"y": OWN_UNITS},
    "SparseDictionary(alpha=0.1": {"X": OWN_UNITS},
    "PrincipalCurve(closed=True, method='segments'": {
        "X": "a closed line around rows along an open one runs there and back: rounding decides on "
        "which of the two ways a row lies"
    },
    "SlowFeatureAnalysis(graph='classes'": {
        "X": "beyond one feature less than there are classes all are equally slow, so that "
        "rounding turns them into each other"
    },
}

# Outputs that are missing (NaN, or None among objects) are left out of the loss.
MISSING_OUTPUTS = {"StiefelRegression", "DependencyEstimator"}
