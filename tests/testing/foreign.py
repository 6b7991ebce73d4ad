"""Parts that a stranger wrote to the protocols of ``isthmus.typing`` alone."""

import copy
from types import SimpleNamespace

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import pairwise_distances

from isthmus.kernels import Expansion, Gaussian
from isthmus.manifold import BaseLatentMap, Domain, MapValues


class CosineKernel:
    """A kernel that derives from nothing: a sum of cosines of differences."""

    provides = frozenset({"vectors"})

    def __call__(self, X, Z=None):
        return self.gram(X, X if Z is None else Z)

    def gram(self, X, Z):
        return np.cos(np.asarray(X)[:, None] - np.asarray(Z)).sum(axis=2)

    def diag(self, X):
        return np.full(len(X), float(np.shape(X)[1]))


class SquashedMap(BaseEstimator):
    """A feature map: coordinates and nothing else."""

    def fit(self, X, y=None):
        self.scale_ = np.abs(X).max(axis=0)
        return self

    def transform(self, X):
        return np.tanh(np.asarray(X) / self.scale_)


class LandmarkMap(BaseEstimator):
    """A kernel feature map: the first objects span its axes, and its origin is zero."""

    provides = frozenset({"transform", "expansion", "vectors", "gradient", "radial", "distances"})

    def __init__(self, n_landmarks=8):
        self.n_landmarks = n_landmarks

    def fit(self, X, y=None):
        kernel, objects = Gaussian(1.0), np.asarray(X, dtype=float)[: self.n_landmarks]
        values, vectors = np.linalg.eigh(kernel(objects))
        self.axes_ = Expansion(kernel, objects, vectors / np.sqrt(values))
        self.origin_ = Expansion(kernel, objects, np.zeros((len(objects), 1)))
        self.axes_gram_ = None
        return self

    def transform(self, X):
        return self.axes_(np.asarray(X, dtype=float))

    def expand(self, coordinates):
        return coordinates @ self.axes_.weights.T


class WordLandmarkMap(LandmarkMap):
    """The same with oblique axes, the images of the first words, whose angles it tells."""

    provides = frozenset({"transform", "expansion", "objects", "sequences"})

    def __init__(self, kernel=None, n_landmarks=5):
        self.kernel = kernel
        self.n_landmarks = n_landmarks

    def fit(self, X, y=None):
        objects = list(X[: self.n_landmarks])
        self.axes_gram_ = self.kernel(objects)
        self.axes_ = Expansion(self.kernel, objects, np.eye(len(objects)))
        self.origin_ = Expansion(self.kernel, objects, np.zeros((len(objects), 1)))
        return self

    def transform(self, X):
        return self.axes_(X)


class NearestPreimage(BaseEstimator):
    """A pre-image: the known vector of nearest coordinates."""

    needs = frozenset({"vectors"})

    def fit(self, objects, feature_map, coordinates=None):
        known = feature_map.transform(objects) if coordinates is None else coordinates
        self.objects_, self.coordinates_, self.map_ = np.asarray(objects), known, feature_map
        return self

    def solve(self, coordinates, start=None):
        return self.objects_[pairwise_distances(coordinates, self.coordinates_).argmin(axis=1)]

    def objective(self, coordinates, objects):
        return ((self.map_.transform(objects) - coordinates) ** 2).sum(axis=1)


class MeanPreimage(BaseEstimator):
    """A pre-image that asks for weights in place of coordinates."""

    needs = frozenset({"weights", "vectors"})

    def fit(self, objects, feature_map, coordinates=None):
        self.objects_ = np.asarray(objects)
        return self

    def solve(self, coordinates, start=None):
        return np.asarray(coordinates) @ self.objects_

    def objective(self, coordinates, objects):
        return ((self.solve(coordinates) - objects) ** 2).sum(axis=1)


class FairLoss:
    """A loss of residuals: s²(|e|/s - log(1 + |e|/s))."""

    takes_residuals = True

    def __init__(self, scale=1.0):
        self.scale = scale

    def evaluate(self, Y, P):
        E = P - Y
        size = np.abs(E) / self.scale
        return self.scale**2 * (size - np.log1p(size)), E / (1 + size)


class PoissonLoss:
    """A loss that is no function of residuals."""

    def evaluate(self, Y, P):
        return np.exp(P) - Y * P, np.exp(P) - Y


class Ellipse:
    """A latent map: nothing but the protocol, and nothing to fit."""

    domain = Domain(0.0, 2 * np.pi, periodic=True)

    def evaluate(self, Z, jacobian=False):
        values = np.hstack([2 * np.cos(Z), np.sin(Z)])
        slopes = np.stack([-2 * np.sin(Z), np.cos(Z)], axis=1) if jacobian else None
        return SimpleNamespace(values=values, jacobian=slopes, feasible=np.ones(len(Z), dtype=bool))

    def starts(self):
        Z = np.linspace(0.0, 6.0, 40)[:, None]
        return Z, self.evaluate(Z).values


class Circle(BaseLatentMap):
    """A manifold: the least from which the base derives every verb."""

    domain = Domain(0.0, 2 * np.pi, periodic=True)

    def fit(self, X, y=None):
        self.radius_, self.n_features_in_ = np.linalg.norm(X, axis=1).mean(), 2
        return self

    def evaluate(self, Z, jacobian=False):
        x, y = self.radius_ * np.cos(Z), self.radius_ * np.sin(Z)
        slopes = np.stack([-y, x], axis=1) if jacobian else None
        return MapValues(np.hstack([x, y]), slopes, np.ones(len(Z), dtype=bool))


class NeighborMean(BaseEstimator):
    """A smoother: the mean of the nearest outputs."""

    provides = frozenset({"predict", "several_outputs", "weights", "vectors"})
    sums_to_one = True

    def __init__(self, n_neighbors=3):
        self.n_neighbors = n_neighbors

    def fit(self, X, y):
        self.X_, self.y_ = np.asarray(X), np.asarray(y)
        return self

    def weights(self, X):
        near = pairwise_distances(X, self.X_).argsort(axis=1)[:, : self.n_neighbors]
        W = np.zeros((len(near), len(self.X_)))
        np.put_along_axis(W, near, 1 / self.n_neighbors, axis=1)
        return W

    def smooth(self, X, G):
        return self.weights(X) @ G

    def predict(self, X):
        return self.smooth(X, self.y_)


class PlainMean(BaseEstimator):
    """A regressor that leaves rows out: the mean of the outputs, which needs no other fit."""

    provides = frozenset({"predict", "several_outputs", "left_out", "vectors"})

    def fit(self, X, y):
        self.sum_, self.n_ = np.sum(y, axis=0), len(y)
        return self

    def predict(self, X):
        return np.broadcast_to(self.sum_ / self.n_, (len(X), *np.shape(self.sum_))).copy()

    def fit_left_out(self, X, y, n_folds):
        self.fit(X, y)
        found = np.empty_like(y, dtype=float)
        for k in range(n_folds):
            fold = np.arange(self.n_) % n_folds == k
            found[fold] = (self.sum_ - y[fold].sum(axis=0)) / np.count_nonzero(~fold)
        return self, found


class RidgeMachine(BaseEstimator):
    """A machine whose function is an expansion."""

    def fit(self, X, y):
        kernel, X = Gaussian(1.0), np.asarray(X, dtype=float)
        weights = np.linalg.solve(kernel(X) + 0.1 * np.eye(len(X)), np.reshape(y, (len(X), -1)))
        self.expansion_ = Expansion(kernel, X, weights)
        return self

    def predict(self, X):
        return self.expansion_(np.asarray(X, dtype=float))

    def with_expansion(self, expansion):
        machine = copy.copy(self)
        machine.expansion_ = expansion
        return machine


class InitialLoss:
    """A loss of words: whether they begin alike. It has costs alone."""

    def cost(self, Y, Z):
        return np.array([[float(y[:1] != z[:1]) for z in Z] for y in Y])


class MiddleLoss:
    """Squared differences of numbers, answered by the weighted mean."""

    def cost(self, Y, Z):
        return (np.asarray(Y)[:, None] - np.asarray(Z)) ** 2

    def decode(self, weights, outputs):
        return np.asarray(weights @ outputs) / np.asarray(weights.sum(axis=1)).ravel()
