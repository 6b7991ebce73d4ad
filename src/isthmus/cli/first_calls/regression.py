"""Kernels, features and regression of vectors."""

from isthmus.cli.first_calls.registry import first_call


@first_call("histogram intersection")
def _histograms(rng):
    from isthmus.kernels.vectors.histogram import HistogramIntersection

    return HistogramIntersection()(rng.random((4, 6)))


@first_call("Gaussian Gram matrices")
def _gaussian(rng):
    from isthmus.kernels.vectors.gaussian import Gaussian

    X = rng.normal(size=(600, 20))
    return Gaussian(0.1)(X), Gaussian(0.1)(X, X.copy())


@first_call("products with few columns")
def _products(rng):
    from isthmus.linalg.thin import thin_product

    thin_product(rng.normal(size=(60, 40)).T, rng.normal(size=(60, 4)))
    return thin_product(rng.normal(size=(30, 200)), rng.normal(size=(200, 4)))


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
    DistanceCorrelationReduction(1, solver="gradient", max_iter=3, random_state=0).fit(X, X[:, 0])
    return DistanceCorrelationReduction(1, max_iter=3, random_state=0).fit(X, X[:, 0])


@first_call("slow features online")
def _slow_online(rng):
    from isthmus.features.slow.estimator import SlowFeatureAnalysis

    X = rng.normal(size=(60, 4)).cumsum(axis=0)
    return SlowFeatureAnalysis(2, solver="online", random_state=0).fit(X)


@first_call("components of streams")
def _stream_components(rng):
    from isthmus.features.components.minor import MinorComponents
    from isthmus.features.components.streams import CandidPCA

    X = rng.normal(size=(20, 4))
    return CandidPCA(2).fit(X), MinorComponents(2, solver="online").fit(X)


@first_call("products of many rows")
def _products_of_rows(rng):
    from isthmus.features.slow.estimator import SlowFeatureAnalysis

    X = rng.normal(size=(6000, 10))
    return SlowFeatureAnalysis(2).partial_fit(X[:3000]).partial_fit(X[3000:])


@first_call("regression under Huber's loss")
def _stiefel(rng):
    from isthmus.regression.rank.stiefel.estimator import StiefelRegression

    X = rng.normal(size=(2500, 8))
    return StiefelRegression(1, loss="huber").fit(X, X)


@first_call("kernel PCA and pre-images")
def _preimages(rng):
    from isthmus.features.kernel_pca.estimator import KernelPCA

    X = rng.normal(size=(40, 4))
    pca = KernelPCA(3).fit(X)
    return pca.inverse_transform(pca.transform(X[:3]))


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
