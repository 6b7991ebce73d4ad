"""A small piece of work for every kind of compiled loop: what ``isthmus warmup`` runs.

Between them the entries of :data:`FIRST_CALLS` compile every loop of the library for the types that
it meets in practice. Families are imported when an entry runs, so that its cost is its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Work = Callable[[np.random.Generator], object]
FIRST_CALLS: dict[str, Work] = {}
WORDS = ("stone", "tones", "notes", "onset", "seton", "tens", "nest", "sent", "ten", "toe")


def first_call(name: str) -> Callable[[Work], Work]:
    """Register the decorated function, which is given a generator, under ``name``."""

    def register(work: Work) -> Work:
        FIRST_CALLS[name] = work
        return work

    return register


def _series(rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.normal(size=(length, 2)) for length in (9, 12, 15)]


@first_call("global alignment kernel")
def _global_alignment(rng):
    from isthmus.kernels.series.alignment import GlobalAlignment

    return GlobalAlignment(gamma=0.5)(_series(rng))


@first_call("time warping distance")
def _warping(rng):
    from isthmus.series.warping import dtw, dtw_path

    series = _series(rng)
    dtw(series[0], series[1])
    return dtw_path(series[0], series[1])


@first_call("time warping matrix")
def _warping_matrix(rng):
    from isthmus.series.warping import dtw_matrix

    series = _series(rng)
    dtw_matrix(series, step="symmetric2")
    return dtw_matrix(series)


@first_call("nearest series")
def _nearest_series(rng):
    from isthmus.series.bands import SakoeChiba
    from isthmus.series.nearest import nearest_series

    X = list(rng.normal(size=(6, 12, 1)))
    return nearest_series(X, X, n_neighbors=1, window=SakoeChiba(2))


@first_call("alignment scores")
def _alignment_scores(rng):
    from isthmus.series.alignment import alignment_matrix, edit_matrix, local_alignment_matrix

    alignment_matrix(_series(rng))
    local_alignment_matrix(WORDS[:3])
    return edit_matrix(WORDS[:3])


@first_call("hidden Markov model")
def _hidden_markov(rng):
    from isthmus.series.hidden_markov import HiddenMarkovModel

    return HiddenMarkovModel(2, random_state=0, max_iter=2).fit(_series(rng))


@first_call("string kernels")
def _strings(rng):
    from isthmus.kernels.sequences.strings import Spectrum, Subsequence

    Spectrum(length=2)(WORDS)
    return Subsequence(length=2, decay=0.5)(WORDS)


@first_call("marginalized sequences")
def _marginalized_sequences(rng):
    from isthmus.kernels.sequences.marginalized import MarginalizedSequence

    return MarginalizedSequence(stop=0.5)(WORDS)


@first_call("marginalized graphs")
def _marginalized_graphs(rng):
    from isthmus.kernels.graphs.marginalized import MarginalizedGraph

    return MarginalizedGraph(stop=0.5)(_graphs())


def _graphs() -> list:
    from isthmus.kernels.graphs.labelled import LabelledGraph

    chain = [(0, 1), (1, 2), (2, 3)]
    return [LabelledGraph(w, chain[: len(w) - 1]) for w in ("CCO", "CCCO", "COC", "CN", "CCN")]


@first_call("histogram intersection")
def _histograms(rng):
    from isthmus.kernels.vectors.histogram import HistogramIntersection

    return HistogramIntersection()(rng.random((4, 6)))


@first_call("distance correlation")
def _distance_correlation(rng):
    from isthmus.dependence.distances import distance_correlation

    distance_correlation(rng.normal(size=40), rng.normal(size=40))
    return distance_correlation(rng.normal(size=(40, 3)), rng.normal(size=(40, 2)))


@first_call("independence test")
def _independence_test(rng):
    from isthmus.dependence.testing import independence_test

    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    independence_test(X, y, statistic="dcor", n_permutations=9, random_state=0)
    independence_test(y, y, statistic="dcor", n_permutations=9, random_state=0)
    return independence_test(X, y, n_permutations=9, random_state=0)


@first_call("distance correlation reduction")
def _distance_correlation_reduction(rng):
    from isthmus.features.distance_correlation.estimator import DistanceCorrelationReduction

    X = rng.normal(size=(60, 4))
    return DistanceCorrelationReduction(1, max_iter=3, random_state=0).fit(X, X[:, 0])


@first_call("slow features online")
def _slow_online(rng):
    from isthmus.features.slow.estimator import SlowFeatureAnalysis

    X = rng.normal(size=(60, 4)).cumsum(axis=0)
    return SlowFeatureAnalysis(2, solver="online", random_state=0).fit(X)


@first_call("components of streams")
def _stream_components(rng):
    from isthmus.features.components.streams import CandidPCA, MinorComponents

    X = rng.normal(size=(20, 4))
    return CandidPCA(2).fit(X), MinorComponents(2, random_state=0).fit(X)


@first_call("kernel PCA and pre-images")
def _preimages(rng):
    from isthmus.features.kernel_pca.estimator import KernelPCA

    X = rng.normal(size=(40, 4))
    pca = KernelPCA(3).fit(X)
    return pca.inverse_transform(pca.transform(X[:3]))


@first_call("pre-images of sequences")
def _sequence_preimage(rng):
    from isthmus.features.kernel_pca.estimator import KernelPCA
    from isthmus.kernels.sequences.marginalized import MarginalizedSequence
    from isthmus.preimage.discrete.sequence import SequencePreimage

    pca = KernelPCA(kernel=MarginalizedSequence(0.3)).fit(WORDS)
    return SequencePreimage().fit(WORDS, pca).solve(pca.transform(["tone"]))


@first_call("pre-images of graphs")
def _graph_preimage(rng):
    from isthmus.features.kernel_pca.estimator import KernelPCA
    from isthmus.kernels.graphs.marginalized import MarginalizedGraph
    from isthmus.preimage.discrete.graph import GraphPreimage

    graphs = _graphs()
    pca = KernelPCA(kernel=MarginalizedGraph(0.3)).fit(graphs)
    return GraphPreimage().fit(graphs, pca).solve(pca.transform([graphs[1]]))


@first_call("kernel ridge regression")
def _ridge(rng):
    from isthmus.structured.dependency import DependencyEstimator

    X = rng.normal(size=(40, 3))
    return DependencyEstimator().fit(X, X[:, :2]).predict(X)


@first_call("Gaussian process")
def _gaussian_process(rng):
    from isthmus.regression.gaussian_process.estimator import GaussianProcess

    X = rng.normal(size=(40, 3))
    return GaussianProcess().fit(X, X[:, 0]).predict(X)


@first_call("twin Gaussian process")
def _twin(rng):
    from isthmus.structured.twin.estimator import TwinGaussianProcess

    X = rng.normal(size=(40, 3))
    return TwinGaussianProcess(random_state=0).fit(X, X[:, :2]).predict(X[:3])


@first_call("local polynomials")
def _local_polynomials(rng):
    from isthmus.regression.local.estimator import LocalPolynomialRegression

    X = rng.normal(size=(60, 2))
    model = LocalPolynomialRegression(1).fit(X, X[:, 0])
    model.predict(X)
    return model.jacobian(X)


@first_call("core sets")
def _core_sets(rng):
    from isthmus.coreset.classifier import CoreVectorClassifier

    X = rng.normal(size=(60, 2))
    return CoreVectorClassifier(random_state=0).fit(X, X[:, 0] > 0)


@first_call("manifold fit")
def _manifold(rng):
    from isthmus.manifold.ukr.estimator import UnsupervisedKernelRegression

    X = rng.normal(size=(60, 3))
    model = UnsupervisedKernelRegression(1, random_state=0, max_iter=3).fit(X)
    return model.transform(X)


@first_call("topographic mapping")
def _topographic_mapping(rng):
    from isthmus.manifold.gtm.estimator import GenerativeTopographicMapping

    return GenerativeTopographicMapping(1, n_nodes=5, max_iter=1, tol=1e9).fit(
        rng.normal(size=(20, 2))
    )


@first_call("manifold of local support, local lines")
def _local_manifold(rng):
    from isthmus.manifold.ukr.estimator import UnsupervisedKernelRegression

    X = rng.normal(size=(60, 3))
    model = UnsupervisedKernelRegression(
        1, density_kernel="quartic", degree=1, random_state=0, max_iter=3
    )
    return model.fit(X).transform(X)


@first_call("ranks of neighbours")
def _ranks(rng):
    from isthmus.manifold.measures.ranks import coranking_matrix, neighborhood_scores

    X = rng.normal(size=(12, 3))
    coranking_matrix(X, X[:, :2])
    return neighborhood_scores(X, X[:, :2])


@first_call("PSOM")
def _psom(rng):
    from isthmus.manifold.psom.estimator import PSOM

    X = rng.normal(size=(9, 4))
    return PSOM(X.reshape(3, 3, 4)).fit(X).transform(X)


@first_call("orthogonal pursuit")
def _pursuit(rng):
    from isthmus.sparse.pursuit.matching import matching_pursuit, orthogonal_matching_pursuit

    X, D = rng.normal(size=(8, 6)), _atoms(rng)
    matching_pursuit(X, D, max_iter=2)
    return orthogonal_matching_pursuit(X, D, n_nonzero=2)


@first_call("K-SVD")
def _ksvd(rng):
    from isthmus.sparse.dictionary.ksvd.estimator import KSVD

    return KSVD(8, n_nonzero=2, max_iter=2, random_state=0).fit(rng.normal(size=(40, 6)))


@first_call("feature-sign search")
def _feature_sign(rng):
    from isthmus.sparse.l1.feature_sign import feature_sign_search

    return feature_sign_search(rng.normal(size=(8, 6)), _atoms(rng), alpha=0.1)


@first_call("dictionary")
def _dictionary(rng):
    from isthmus.sparse.dictionary.learner import SparseDictionary

    X = rng.normal(size=(40, 6))
    return SparseDictionary(8, max_iter=2, random_state=0).fit(X).transform(X)


@first_call("L1 codes")
def _l1_codes(rng):
    from isthmus.sparse.coder import SparseCoder

    return SparseCoder(_atoms(rng), algorithm="coordinate_descent").fit_transform(
        rng.normal(size=(8, 6))
    )


def _atoms(rng: np.random.Generator) -> np.ndarray:
    D = rng.normal(size=(10, 6))
    return D / np.linalg.norm(D, axis=1, keepdims=True)


@first_call("denoising")
def _denoising(rng):
    from isthmus.sparse.patches import denoise_image

    image = rng.random((24, 24))
    return denoise_image(image, patch_size=4, n_atoms=25, max_iter=1, random_state=0)


@first_call("inpainting")
def _inpainting(rng):
    from isthmus.sparse.inpainting import inpaint_image

    image = rng.random((24, 24))
    image[rng.random((24, 24)) < 0.3] = np.nan
    return inpaint_image(
        image, dictionary="ksvd", patch_size=4, n_atoms=25, max_iter=1, random_state=0
    )


@first_call("nonnegative factorization")
def _factorization(rng):
    from isthmus.sparse.factorization.estimator import NonnegativeFactorization

    return NonnegativeFactorization(3, random_state=0, max_iter=3).fit(rng.random((30, 8)))


@first_call("nonnegative factorization, other settings")
def _factorization_settings(rng):
    from scipy import sparse

    from isthmus.sparse.factorization.estimator import NonnegativeFactorization

    X = rng.random((30, 8))
    holes = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    stored = sparse.csr_array(np.where(X > 0.5, X, 0.0))
    NonnegativeFactorization(3, random_state=0, max_iter=3).fit(holes)
    NonnegativeFactorization(3, solver="anls", random_state=0, max_iter=3).fit(X)
    return [
        NonnegativeFactorization(3, divergence="kullback-leibler", random_state=0, max_iter=3).fit(
            data
        )
        for data in (X, stored)
    ]


@first_call("convex factorization")
def _convex(rng):
    from isthmus.sparse.factorization.convex import ConvexFactorization

    return ConvexFactorization(3, random_state=0, max_iter=3).fit(rng.random((30, 8)))


@first_call("inverse kinematics")
def _inverse_kinematics(rng):
    from isthmus.robotics.kinematics.arms import pa10
    from isthmus.robotics.kinematics.inverse import inverse_kinematics

    chain = pa10()
    return inverse_kinematics(chain, chain.forward(np.full(7, 0.3)), n_init=2)


@first_call("pose kernel")
def _pose_kernel(rng):
    from isthmus.robotics.kinematics.arms import pa10
    from isthmus.robotics.pose.kernel import PoseKernel

    kernel, Q = PoseKernel(pa10(), base="gaussian"), rng.normal(size=(6, 7))
    return kernel(Q)


@first_call("pose features")
def _pose_features(rng):
    from isthmus.robotics.pose.features import PoseFeatures

    images = rng.random((4, 60, 60, 3))
    return PoseFeatures(5, size=40).fit_transform(images)


@first_call("movement morphing")
def _morphing(rng):
    from isthmus.robotics.movement.morphing import morph

    t = np.linspace(0, np.pi, 40)
    return morph([np.c_[t, np.sin(t)], np.c_[t, 3 * np.sin(t)]], [0.5, 0.5])
