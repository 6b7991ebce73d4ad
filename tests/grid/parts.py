"""Every part that can stand in a slot of the square, in a setting that suits small data.

Strange objects are here too: strings, series, graphs. What is not listed must be in ``LEFT_OUT``,
with the reason; a test compares both with the public names.
"""

import networkx as nx
import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from isthmus.coreset import CoreVectorRegressor
from isthmus.features import (
    CandidPCA,
    DistanceCorrelationReduction,
    GradientKernelReduction,
    KernelPCA,
    LikelihoodAcquiredDirections,
    MinorComponents,
    SlicedAverageVariance,
    SlicedInverseRegression,
    SlowFeatureAnalysis,
    Whitening,
)
from isthmus.kernels import (
    Delta,
    DTWKernel,
    FunctionKernel,
    Gaussian,
    GlobalAlignment,
    Laplacian,
    Linear,
    MarginalizedGraph,
    MarginalizedSequence,
    Matern,
    Normalized,
    Polynomial,
    Spectrum,
    SpectrumRepair,
)
from isthmus.manifold import (
    PSOM,
    Charting,
    CurvilinearComponents,
    GenerativeTopographicMapping,
    KHarmonicMeans,
    MaximumVarianceUnfolding,
    RegularizedPrincipalManifold,
    SammonMapping,
    SmoothPSOM,
    UnsupervisedKernelRegression,
)
from isthmus.preimage import (
    AnalyticPreimage,
    CandidatePreimage,
    ConstrainedPreimage,
    FixedPointPreimage,
    GradientPreimage,
    GraphPreimage,
    LearnedPreimage,
    NeighborPreimage,
    SequencePreimage,
)
from isthmus.regression import (
    BayesianLinearRegression,
    BayesianStiefelRegression,
    GaussianProcess,
    KernelRidgeCV,
    LocalPolynomialRegression,
    ReducedRankRegression,
    SequentialStiefelRegression,
    StiefelRegression,
)
from isthmus.sparse import (
    KSVD,
    ConvexFactorization,
    NonnegativeFactorization,
    SparseCoder,
    SparseDictionary,
    SparseNet,
)
from isthmus.structured import (
    DependencyEstimator,
    DistanceCorrelationRegressor,
    TwinGaussianProcess,
)

N_TRAIN, N_NEW = 60, 30


# Parts that a stranger wrote to the protocols alone -------------------------------------


class ForeignMap(TransformerMixin, BaseEstimator):
    """A feature map with nothing but fit and transform."""

    def fit(self, X, y=None):
        self.scale_ = np.abs(np.asarray(X)).max(axis=0)
        return self

    def transform(self, X):
        return np.tanh(np.asarray(X) / self.scale_)


class ForeignRegressor(RegressorMixin, BaseEstimator):
    """Least squares through a constant."""

    def fit(self, X, y):
        Z = np.column_stack([X, np.ones(len(X))])
        self.coef_ = np.linalg.lstsq(Z, y, rcond=None)[0]
        return self

    def predict(self, X):
        return np.column_stack([X, np.ones(len(X))]) @ self.coef_


class ForeignPreimage(BaseEstimator):
    """The object whose coordinates are nearest, of any kind."""

    needs = frozenset()
    provides = frozenset({"solve"})

    def fit(self, objects, feature_map, coordinates=None):
        self.objects_ = objects
        known = feature_map.transform(objects) if coordinates is None else coordinates
        self.coordinates_ = np.asarray(known)
        return self

    def solve(self, coordinates, start=None):
        gaps = coordinates[:, None] - self.coordinates_
        nearest = np.einsum("nij,nij->ni", gaps, gaps).argmin(axis=1)
        if isinstance(self.objects_, np.ndarray):
            return self.objects_[nearest]
        found = np.empty(len(nearest), dtype=object)
        found[:] = [self.objects_[i] for i in nearest]
        return found

    def objective(self, coordinates, objects):
        return np.zeros(len(coordinates))


class WeightsPreimage(BaseEstimator):
    """The weighted mean of the training outputs: it asks for weights, not for coordinates."""

    needs = frozenset({"weights", "vectors"})
    provides = frozenset({"solve"})

    def fit(self, objects, feature_map, coordinates=None):
        self.objects_ = objects
        return self

    def solve(self, weights, start=None):
        return np.asarray(weights @ self.objects_)

    def objective(self, weights, objects):
        return ((self.solve(weights) - objects) ** 2).sum(axis=1)


# Data -------------------------------------------------------------------------------------


def in_time(T):
    """The training rows in the order of their first column, for maps that look at time."""
    T[:N_TRAIN] = T[np.argsort(T[:N_TRAIN, 0])]
    return T


def tables(seed=0):
    """Positive inputs of four columns and outputs of three, smooth functions of one another."""
    rng = np.random.default_rng(seed)
    X = in_time(rng.uniform(0.2, 1.2, size=(N_TRAIN + N_NEW, 4)))
    Y = np.column_stack(
        [1 + np.sin(2 * X[:, 0]), X[:, 1] * X[:, 0] + 0.2, 0.5 + X[:, 2] ** 2 + 0.3 * X[:, 3]]
    )
    return X, Y


def surface(seed=0):
    """Inputs and outputs of two degrees of freedom, which lie on surfaces."""
    rng = np.random.default_rng(seed)
    T = in_time(rng.uniform(size=(N_TRAIN + N_NEW, 2)))
    X = np.column_stack([T, 0.2 + 0.3 * T[:, 0] * T[:, 1], 0.5 + 0.2 * T[:, 0] ** 2]) + 0.1
    Y = np.column_stack([T[:, 0] + 0.2, T[:, 1] ** 2 + 0.3, 0.5 + 0.4 * T[:, 0] * T[:, 1]])
    return X, Y


def words(X):
    """Strings whose letters tell the first two columns."""
    a, b = (np.digitize(X[:, j], np.quantile(X[:, j], [0.34, 0.67])) for j in (0, 1))
    return ["abc"[i] * (2 + i) + "xyz"[j] * (1 + j) for i, j in zip(a, b, strict=True)]


def series(X):
    """Series of unequal length whose level and slope tell the first two columns."""
    return [np.linspace(x[0], x[0] + x[1], 6 + int(4 * x[2]) % 4) for x in X]


def graphs(X):
    """Labelled paths, whose length and labels tell the first two columns."""
    found = []
    for x in X:
        n = 2 + int(2.999 * np.clip(x[0] - 0.1, 0, 0.999))
        graph = nx.path_graph(n)
        nx.set_node_attributes(graph, {i: "CNO"[int(2.999 * min(x[1], 1))] for i in graph}, "label")
        nx.set_edge_attributes(graph, "-", "label")
        found.append(graph)
    return found


def shared_letters(a, b):
    return float(len(set(a) & set(b)))


# Slots ------------------------------------------------------------------------------------

SMALL_UKR = UnsupervisedKernelRegression(2, init="pca", homotopy=None, random_state=0)

TRANSFORMERS = {
    "KernelPCA": KernelPCA(15),
    "KernelPCA linear": KernelPCA(kernel=Linear()),
    "KernelPCA polynomial": KernelPCA(kernel=Polynomial(2)),
    "KernelPCA Matern": KernelPCA(15, kernel=Matern()),
    "KernelPCA Laplacian": KernelPCA(15, kernel=Laplacian()),
    "KernelPCA landmarks": KernelPCA(10, n_landmarks=30, random_state=0),
    "KernelPCA own preimage": KernelPCA(15, preimage=LearnedPreimage()),
    "SlowFeatureAnalysis": SlowFeatureAnalysis(),
    "SlowFeatureAnalysis kernel": SlowFeatureAnalysis(
        5, expansion="gaussian", n_landmarks=20, alpha=0.3, random_state=0
    ),
    "Whitening": Whitening(2),
    "CandidPCA": CandidPCA(),
    "MinorComponents": MinorComponents(random_state=0),
    "DistanceCorrelationReduction": DistanceCorrelationReduction(3),
    "SlicedInverseRegression": SlicedInverseRegression(3),
    # All four columns: from some sixty rows slices may take the least direction for the first.
    "SlicedAverageVariance": SlicedAverageVariance(4),
    "LikelihoodAcquiredDirections": LikelihoodAcquiredDirections(4),
    "GradientKernelReduction": GradientKernelReduction(3),
    "UnsupervisedKernelRegression": SMALL_UKR,
    "UnsupervisedKernelRegression kernel": UnsupervisedKernelRegression(
        2, data_kernel="gaussian", init="pca", homotopy=None, random_state=0
    ),
    "SmoothPSOM": SmoothPSOM((5, 5), random_state=0),
    "KHarmonicMeans": KHarmonicMeans(12, random_state=0),
    "GenerativeTopographicMapping": GenerativeTopographicMapping(n_nodes=15, init="pca"),
    "Charting": Charting(2),
    "RegularizedPrincipalManifold": RegularizedPrincipalManifold(2, alpha=1e-3, init="pca"),
    "SammonMapping": SammonMapping(2, random_state=0),
    "CurvilinearComponents": CurvilinearComponents(2, random_state=0),
    "MaximumVarianceUnfolding": MaximumVarianceUnfolding(2, max_iter=100, random_state=0),
    "KSVD": KSVD(3, n_nonzero=3, max_iter=5, random_state=0),
    "SparseCoder": SparseCoder(alpha=1e-3),
    "SparseDictionary": SparseDictionary(6, alpha=1e-3, max_iter=5, random_state=0),
    "SparseNet": SparseNet(4, alpha=0.1, random_state=0, max_iter=50),
    "NonnegativeFactorization": NonnegativeFactorization(3, random_state=0),
    "ConvexFactorization": ConvexFactorization(3, random_state=0),
    "StandardScaler": StandardScaler(),
    "PCA": PCA(3),
    "Nystroem": Nystroem(n_components=20, gamma=1.0, random_state=0),
    "PLSRegression": PLSRegression(3),
    "SelectKBest": SelectKBest(f_regression, k=2),
    "Pipeline": make_pipeline(StandardScaler(), KernelPCA(15)),
    "stranger": ForeignMap(),
    "passthrough": "passthrough",
    "kernel": Gaussian(),
}

REGRESSORS = {
    "KernelRidgeCV": KernelRidgeCV(),
    "GaussianProcess": GaussianProcess(),
    "LocalPolynomialRegression": LocalPolynomialRegression(1),
    "ReducedRankRegression": ReducedRankRegression("cv", alpha=1e-3),
    "StiefelRegression": StiefelRegression(alpha=1e-3),
    "StiefelRegression huber": StiefelRegression(loss="huber", alpha=1e-3),
    "SequentialStiefelRegression": SequentialStiefelRegression(1),
    "BayesianStiefelRegression": BayesianStiefelRegression(random_state=0),
    "BayesianLinearRegression": BayesianLinearRegression(),
    "CoreVectorRegressor": CoreVectorRegressor(),
    "DistanceCorrelationRegressor": DistanceCorrelationRegressor(),
    "TwinGaussianProcess": TwinGaussianProcess(tune=None),
    "DependencyEstimator": DependencyEstimator(),
    "Ridge": Ridge(alpha=1e-3),
    "KNeighborsRegressor": KNeighborsRegressor(4),
    "RandomForestRegressor": RandomForestRegressor(20, random_state=0),
    "SVR": SVR(C=10.0, epsilon=0.01),  # codes are smaller than its usual tube of 0.1
    "stranger": ForeignRegressor(),
    "default": None,
}

PREIMAGES = {
    "AnalyticPreimage": AnalyticPreimage(),
    "FixedPointPreimage": FixedPointPreimage(),
    "GradientPreimage": GradientPreimage(),
    "ConstrainedPreimage": ConstrainedPreimage((0.0, 3.0), criterion="full"),
    "NeighborPreimage": NeighborPreimage(6),
    "NeighborPreimage angle": NeighborPreimage(6, distance="angle"),
    "LearnedPreimage": LearnedPreimage(),
    "CandidatePreimage": CandidatePreimage(),
    "CandidatePreimage full": CandidatePreimage(criterion="full"),
    "SequencePreimage": SequencePreimage(patience=2, n_samples=20),
    "GraphPreimage": GraphPreimage(patience=2, n_samples=20),
    "stranger": ForeignPreimage(),
    "weights": WeightsPreimage(),
    "default": None,
}

OBJECTS = {
    "words": (
        words,
        {
            "Spectrum": KernelPCA(kernel=Spectrum(2)),
            "MarginalizedSequence": KernelPCA(kernel=MarginalizedSequence(0.3)),
            "Normalized": KernelPCA(kernel=Normalized(MarginalizedSequence(0.3))),
            "Delta": KernelPCA(kernel=Delta()),
            "function": KernelPCA(kernel=FunctionKernel(shared_letters, pairwise_calls=True)),
            "SlowFeatureAnalysis": SlowFeatureAnalysis(
                3, expansion=Spectrum(2), n_landmarks=20, random_state=0
            ),
            "UnsupervisedKernelRegression": UnsupervisedKernelRegression(
                1, data_kernel=Spectrum(2), init="pca", homotopy=None, random_state=0
            ),
            "kernel": Spectrum(2),
        },
    ),
    "series": (
        series,
        {
            "GlobalAlignment": KernelPCA(5, kernel=GlobalAlignment()),
            "DTWKernel": KernelPCA(5, kernel=SpectrumRepair(DTWKernel())),
        },
    ),
    "graphs": (graphs, {"MarginalizedGraph": KernelPCA(0.999, kernel=MarginalizedGraph(0.3))}),
}

# Public parts that are no row of the grid, with the reason.
LEFT_OUT = {
    "BaseLatentMap": "abstract",
    "BasePreimage": "abstract",
    "LocalPCA": "the number of a model among its coordinates is no number to regress on",
    "PrincipalCurve": "one coordinate, where inputs and outputs here have two or more",
    "PSOM": "its nodes lie on a grid that is given, not found",
    "MinimumRiskPreimage": "asks for weights and a loss of objects: see test_losses",
    "DependencyClassifier": "predicts classes",
    "ConformalSets": "predicts sets",
    "TimeWindows": "a window is made of neighbouring rows, so it has fewer rows than it is given",
    "PoseFeatures": "takes pictures",
    "ImitationModel": "takes pictures; it is the square with parts of its own",
    "CoreVectorClassifier": "predicts classes",
    "CoreVectorOutlierDetector": "predicts classes",
    "CoreVectorRanker": "predicts an order",
    "DictionaryClassifier": "predicts classes",
    "GaussianProcessClassifier": "predicts classes",
    "ManifoldClassifier": "predicts classes",
    "SupportFeatureMachine": "predicts classes",
}

__all__ = ["LEFT_OUT", "OBJECTS", "PREIMAGES", "PSOM", "REGRESSORS", "TRANSFORMERS"]
