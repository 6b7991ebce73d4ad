"""The checks can fail: each of these parts breaks one fact, which is named."""

from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from isthmus.kernels import Expansion, Gaussian, Kernel, Linear
from isthmus.losses import Absolute, Huber, Squared
from isthmus.manifold import Domain
from isthmus.testing import (
    check_expansion_holder,
    check_feature_map,
    check_kernel,
    check_latent_map,
    check_left_out,
    check_loss,
    check_preimage,
    check_smoother,
)
from isthmus.typing import provides

from .data import CURVE, GRAM, OUTPUTS, PLANE, VECTORS, name
from .foreign import (
    Circle,
    CosineKernel,
    Ellipse,
    FairLoss,
    LandmarkMap,
    NearestPreimage,
    NeighborMean,
    PlainMean,
    RidgeMachine,
    SquashedMap,
)


def broken(part, contract, fact):
    """What an error says: the part, the contract and the fact."""
    return pytest.raises(
        AssertionError, match=rf"{part}.* breaks the contract of a {contract}. Expected: {fact}"
    )


# Kernels ----------------------------------------------------------------------------------


@dataclass(repr=False)
class Liar(Gaussian):
    """A Gaussian kernel of which one thing is wrong."""

    lie: str = ""

    def __repr__(self):
        return f"Liar({self.lie!r})"

    @property
    def provides(self):
        words = {
            "linear": {"linear"},
            "explicit": {"explicit"},
            "inner_product": {"inner_product"},
            "two kinds": {"vectors", "objects"},
        }.get(self.lie)
        return super().provides if words is None else frozenset({"vectors"} | words)

    def resolve(self, X):
        return replace(self, gamma=float(X.std()) if self.lie == "never resolved" else 1.0)

    def gram(self, X, Z):
        K = super().gram(X, Z)
        if self.lie == "asymmetric":
            K = K * (1 + X[:, :1])
        if self.lie == "negative":
            K = K - 2.0
        if self.lie == "depends on all":
            K = K + X.mean()
        if self.lie == "not radial":
            K = K * np.exp(-((X[:, :1] - Z[:, 0]) ** 2))
        return K

    def diag(self, X):
        return (1.001 if self.lie == "diag" else 1.0) * super().diag(X)

    def _weighted_gradient(self, X, Z, W, K):
        return (1.001 if self.lie == "gradient" else 1.0) * super()._weighted_gradient(X, Z, W, K)

    def diag_gradient(self, X):
        return super().diag_gradient(X) + (0.01 if self.lie == "diag gradient" else 0.0)

    def radial_weights(self, X, Z, K=None):
        return (1.001 if self.lie == "radial" else 1.0) * super().radial_weights(X, Z, K)

    def squared_distances_from(self, K, x_diag, z_diag):
        found = super().squared_distances_from(K, x_diag, z_diag)
        return np.sqrt(found) if self.lie == "distances" else found

    def inverse_inner_product(self, values):
        return values

    def parameter_gradient(self, X, Z, W, K=None):
        found = super().parameter_gradient(X, Z, W, K)
        return (1.001 if self.lie == "parameters" else 1.0) * found


@pytest.mark.parametrize(
    ("lie", "fact"),
    [
        ("asymmetric", "the Gram matrix is symmetric"),
        ("negative", "diag is the diagonal"),
        ("depends on all", "diag is the diagonal"),
        ("diag", "diag is the diagonal"),
        ("gradient", "its gradient is that of its values"),
        ("diag gradient", "diag_gradient is the gradient of diag"),
        ("radial", "radial_weights is minus the slope"),
        ("not radial", "its gradient is that of its values"),
        ("distances", "squared_distances_from gives the squared distances"),
        ("inner_product", "inverse_inner_product gives the inner products"),
        ("linear", "a linear kernel is the inner product"),
        ("explicit", "inner products of explicit_features are the kernel"),
        ("parameters", "parameter_gradient is the gradient"),
        ("never resolved", "a resolved kernel has nothing left to resolve"),
        ("two kinds", "it provides one of 'vectors', 'objects' and 'pairwise'"),
    ],
)
def test_kernels_that_lie(lie, fact):
    check_kernel(Liar(), VECTORS)
    with broken("Liar", "kernel", fact):
        check_kernel(Liar(lie=lie), VECTORS)


@dataclass
class Sheared(Kernel):
    """Says that it is radial, and is not, as its values alone tell."""

    offers = frozenset({"radial"})
    stationary = True

    def gram(self, X, Z):
        return Gaussian(1.0).gram(2 * X[:, :1], 2 * Z[:, :1])

    def diag(self, X):
        return np.ones(len(X))


@dataclass
class Shifty(Linear):
    """Says that it is stationary."""

    stationary = True


@dataclass
class Distance(Kernel):
    """No kernel: some of its eigenvalues are negative."""

    def gram(self, X, Z):
        return np.abs(X[:, None] - Z).sum(axis=2)

    def diag(self, X):
        return np.zeros(len(X))


@dataclass
class Careless(Linear):
    """Writes into its input."""

    def gram(self, X, Z):
        K = X @ Z.T
        X += 1.0
        return K


@dataclass
class Grouped(Linear):
    """Treats objects together."""

    def gram(self, X, Z):
        return (X - X.mean(axis=0)) @ (Z - Z.mean(axis=0)).T

    def diag(self, X):
        return ((X - X.mean(axis=0)) ** 2).sum(axis=1)


@dataclass
class Locked(Linear):
    """Cannot be pickled."""

    def resolve(self, X):
        found = Locked()
        found.iterator = (x for x in X)
        return found


@pytest.mark.parametrize(
    ("kernel", "fact"),
    [
        (Sheared(), "a radial kernel is the same for turned vectors"),
        (Shifty(), "a stationary kernel is the same for shifted vectors"),
        (Distance(), "no eigenvalue of the Gram matrix is negative"),
        (Grouped(), "a row does not depend on the other rows"),
        (Locked(), "it can be pickled"),
    ],
    ids=name,
)
def test_other_kernels_that_lie(kernel, fact):
    with broken(type(kernel).__name__, "kernel", fact):
        check_kernel(kernel, VECTORS)


def test_a_kernel_that_writes_into_its_input():
    X = VECTORS.copy()
    with pytest.raises(AssertionError, match=r"Careless\(\) breaks the contract of a kernel"):
        check_kernel(Careless(), X)


def test_a_kernel_of_another_class_cannot_declare_more_than_estimators_see():
    class Boaster(CosineKernel):
        provides = frozenset({"vectors", "gradient"})

    with pytest.raises(TypeError, match="provides gradient, which estimators see of kernels that"):
        check_kernel(Boaster(), VECTORS)


def test_objects_that_a_kernel_does_not_take():
    with broken("Gaussian", "kernel", "check takes the objects. Found ValueError: .* got text"):
        check_kernel(Gaussian(), ["a", "b"])


# Feature maps -----------------------------------------------------------------------------


def lying(base, **members):
    """A class like ``base`` of which some members are others."""
    return type("Liar", (base,), members)


def half_fit(self, X, y=None):
    self.scale_ = None
    return SquashedMap.fit(self, np.asarray(X))


def greedy_fit(self, X, y=None):
    self.n_landmarks = 4
    return LandmarkMap.fit(self, X)


def remembering_fit(self, X, y=None):
    scale = np.abs(X).max(axis=0)
    self.scale_ = scale + getattr(self, "scale_", 0.0)
    return self


def peeping_fit(self, X, y=None):
    self.scale_ = np.abs(X).max(axis=0) * (1.0 if y is None else 1 + abs(y[0]))
    return self


FAULTY_MAPS = [
    (SquashedMap, {"fit": half_fit}, "a fit that fails leaves the former one. Changed: scale_"),
    (SquashedMap, {"fit": remembering_fit}, "another fit forgets the former one"),
    (SquashedMap, {"fit": peeping_fit}, "a map that does not provide 'supervised' does not look"),
    (SquashedMap, {"fit": lambda self, X, y=None: None}, "fit returns the map itself"),
    (
        SquashedMap,
        {"transform": lambda self, X: (X - X.mean(axis=0)) / self.scale_},
        "coordinates of an object do not depend on the other objects",
    ),
    (SquashedMap, {"transform": lambda self, X: X[:, 0]}, "transform is a table of finite numbers"),
    (
        SquashedMap,
        {"fit_transform": lambda self, X, y=None: 2 * self.fit(X).transform(X)},
        "fit_transform gives what fit and transform do",
    ),
    (
        SquashedMap,
        {"inverse_transform": lambda self, Z: Z[:1]},
        "inverse_transform gives an object for each row",
    ),
    (LandmarkMap, {"fit": greedy_fit}, "fit changes no constructor parameter. Changed: n_landm"),
    (
        LandmarkMap,
        {"transform": lambda self, X: 1.001 * LandmarkMap.transform(self, X)},
        "axes_ gives the coordinates",
    ),
    (
        LandmarkMap,
        {"expand": lambda self, C: C @ self.axes_.weights.T + 0.01},
        "expand gives the point that lies at the coordinates",
    ),
    (
        LandmarkMap,
        {"expand": lambda self, C: C},
        "expand gives a weight for each object|expand giv",
    ),
]


@pytest.mark.parametrize(("base", "members", "fact"), FAULTY_MAPS)
def test_feature_maps_that_lie(base, members, fact):
    check_feature_map(base(), VECTORS)
    with broken("Liar", "feature map", fact):
        check_feature_map(lying(base, **members)(), VECTORS)


def fit_with(**changes):
    """A fit of the landmark map after which some attributes are others."""

    def fit(self, X, y=None):
        LandmarkMap.fit(self, X)
        for attribute, change in changes.items():
            setattr(self, attribute, change(self))
        return self

    return fit


@pytest.mark.parametrize(
    ("name", "change", "fact"),
    [
        ("axes_gram_", lambda self: 1.01 * np.eye(8), "axes_gram_ has the inner products"),
        (
            "origin_",
            lambda self: Expansion(self.axes_.kernel, self.axes_.objects, np.ones((8, 1))),
            "the offset of an axis is minus its inner product with the origin",
        ),
        ("origin_", lambda self: self.axes_, "the origin is one point"),
    ],
)
def test_axes_that_lie(name, change, fact):
    with broken("Liar", "feature map", fact):
        check_feature_map(lying(LandmarkMap, fit=fit_with(**{name: change}))(), VECTORS)


def test_a_map_that_declares_too_much_of_its_kernel():
    liar = lying(LandmarkMap, provides=LandmarkMap.provides | {"linear"})
    with broken("Liar", "feature map", "the kernel of the axes provides what the map says of it"):
        check_feature_map(liar(), VECTORS)


class Lookalike(SquashedMap):
    expand = 3
    axes_ = origin_ = axes_gram_ = None


def test_a_lookalike_is_no_kernel_feature_map():
    assert "expansion" not in provides(Lookalike())
    check_feature_map(Lookalike(), VECTORS)
    boaster = lying(Lookalike, provides=frozenset({"transform", "expansion"}))
    with pytest.raises(TypeError, match=r"Liar.* is not a feature map: it has no method expand"):
        check_feature_map(boaster(), VECTORS)
    boaster.expand = lambda self, C: C
    with pytest.raises(TypeError, match="axes_ and origin_ must be Expansion"):
        check_feature_map(boaster(), VECTORS)


def test_supervision_is_verified():
    deaf = lying(SquashedMap, provides=frozenset({"transform", "supervised"}))
    with broken("Liar", "feature map", "a supervised map learns from y"):
        check_feature_map(deaf(), VECTORS, OUTPUTS)
    with pytest.raises(TypeError, match="provides 'supervised': check_feature_map needs y"):
        check_feature_map(deaf(), VECTORS)


# Pre-images -------------------------------------------------------------------------------


def nosy_fit(self, objects, feature_map, coordinates=None):
    assert feature_map.kernel_ is not None
    return NearestPreimage.fit(self, objects, feature_map, coordinates)


def mean_of_rows(self, coordinates, start=None):
    found = NearestPreimage.solve(self, coordinates)
    return 0.9 * found + 0.1 * found.mean(axis=0)


FAULTY_PREIMAGES = [
    ({"fit": nosy_fit}, "it works with a map that has no more than it needs"),
    ({"solve": lambda self, C, start=None: self.objects_[:3]}, "solve gives an object for each"),
    ({"solve": lambda self, C: NearestPreimage.solve(self, C)}, "solve takes start"),
    ({"solve": lambda self, C, start=None: self.objects_[: len(C)] + 0.1}, "what is found is no"),
    ({"objective": lambda self, C, Z: np.full(len(C), -1.0)}, "objective is not negative"),
    ({"objective": lambda self, C, Z: 0.0}, "objective compares each row|objective gives a"),
    ({"provides": frozenset({"transform"})}, "it provides 'solve'"),
    (
        {"provides": frozenset({"solve", "learned"}), "fit": lambda self, X, m, c=None: (
            NearestPreimage.fit(self, X, m))},
        "a learned pre-image learns from the coordinates",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("members", "fact"), FAULTY_PREIMAGES)
def test_preimages_that_lie(members, fact):
    with broken("Liar", "pre-image", fact):
        check_preimage(lying(NearestPreimage, **members)(), PLANE)


def test_rows_that_are_treated_together():
    liar = lying(NearestPreimage, solve=mean_of_rows)
    with broken("Liar", "pre-image", "the answer for a row does not depend on the other rows"):
        check_preimage(liar(), PLANE, approximate=True)


def test_needs_that_make_no_sense():
    with pytest.raises(ValueError, match=r"Liar.needs has unknown words: speed"):
        check_preimage(lying(NearestPreimage, needs=frozenset({"speed"}))(), PLANE)
    asks = lying(NearestPreimage, needs=frozenset({"expansion", "linear"}))
    with pytest.raises(
        TypeError, match="needs linear of the feature map, which KernelPCA does not"
    ):
        check_preimage(asks(), PLANE)


def test_a_refusal_must_name_what_is_missing():
    def fit(self, objects, feature_map, coordinates=None):
        if "expansion" not in provides(feature_map):
            raise TypeError("no")
        return NearestPreimage.fit(self, objects, feature_map, coordinates)

    with broken("Liar", "pre-image", "a map without something it needs is refused"):
        check_preimage(lying(NearestPreimage, needs=frozenset({"expansion"}), fit=fit)(), PLANE)


# Losses -----------------------------------------------------------------------------------


@dataclass
class Steep(Squared):
    def profile(self, E):
        return E * E, 2.001 * E


@dataclass
class Tilted(Huber):
    def profile(self, E):
        values, slopes = super().profile(E)
        return values + E, slopes + 1


@dataclass
class Raised(Squared):
    def profile(self, E):
        return E * E + 1, 2 * E


@dataclass
class Cornered(Absolute):
    def stages(self, spread):
        return (self,)


@dataclass
class Backwards(Absolute):
    def stages(self, spread):
        return super().stages(spread)[::-1]


class Uneven(FairLoss):
    def evaluate(self, Y, P):
        values, slopes = super().evaluate(Y, P)
        return (1 + P) * values, (1 + P) * slopes + values


@pytest.mark.parametrize(
    ("loss", "fact"),
    [
        (Steep(), "the slope is that of the values"),
        (Tilted(1.0), "a loss of residuals is not negative"),
        (Raised(), "a residual of zero costs nothing"),
        (Cornered(), "a loss without stages has no kink"),
        (Backwards(), "stages come ever nearer to the loss"),
        (Uneven(), "it depends on P - Y alone"),
    ],
    ids=name,
)
def test_losses_that_lie(loss, fact):
    with broken(type(loss).__name__, "loss", fact):
        check_loss(loss)


def test_what_is_no_loss():
    with pytest.raises(TypeError, match="Huber is a class, and a loss is an object"):
        check_loss(Huber)
    with pytest.raises(ValueError, match="A loss must be one of"):
        check_loss(3)


# Manifolds, smoothers, machines -----------------------------------------------------------


def scaled_jacobian(self, Z, jacobian=False):
    found = Ellipse.evaluate(self, Z, jacobian)
    if jacobian:
        found.jacobian = 1.001 * found.jacobian
    return found


def shifted_starts(self):
    Z, images = Ellipse.starts(self)
    return Z, images + 0.1


@pytest.mark.parametrize(
    ("members", "fact"),
    [
        ({"evaluate": scaled_jacobian}, "the Jacobian is that of the values"),
        ({"starts": shifted_starts}, "starts gives latent points and their images"),
        ({"domain": Domain(0.0, 1.0)}, "starts lie in the domain"),
        (
            {"evaluate": lambda self, Z, jacobian=False: Z},
            "starts gives latent points and their",
        ),
    ],
)
def test_manifolds_that_lie(members, fact):
    with broken("Liar", "latent map", fact):
        check_latent_map(lying(Ellipse, **members)(), CURVE[:, :2])


def test_verbs_that_lie():
    X = CURVE[:, :2] * 1.3
    X[::2] *= 1.2
    root = lying(Circle, reconstruction_error=lambda self, X: np.sqrt(
        Circle.reconstruction_error(self, X)))  # fmt: skip
    with broken("Liar", "latent map", "reconstruction_error is the squared distance"):
        check_latent_map(root(), X)
    smoothed = lying(Circle, complete=lambda self, X, **options: self.reconstruct(
        Circle.complete(self, X, **options)))  # fmt: skip
    with broken("Liar", "latent map", "known entries come back unchanged"):
        check_latent_map(smoothed(), X)


@pytest.mark.parametrize(
    ("members", "fact"),
    [
        ({"weights": lambda self, X: 1.01 * NeighborMean.weights(self, X),
          "smooth": lambda self, X, G: NeighborMean.weights(self, X) @ G}, "weights times the"),
        ({"smooth": lambda self, X, G: NeighborMean.weights(self, X) @ np.abs(G),
          "predict": lambda self, X: self.weights(X) @ np.abs(self.y_)}, "weights times|smooth"),
        ({"predict": lambda self, X: self.weights(X) @ self.y_ + 1}, "smooth with the training"),
        ({"weights": lambda self, X: 0.5 * NeighborMean.weights(self, X)}, "every row of weights"),
    ],
)  # fmt: skip
def test_smoothers_that_lie(members, fact):
    with broken("Liar", "smoother", fact):
        check_smoother(lying(NeighborMean, **members)(), VECTORS, OUTPUTS - 0.5)


def told(self, X, y, n_folds):
    return self.fit(X, y), np.asarray(self.predict(X))


def drawn(self, X, y, n_folds):
    return self, self.fit(X, y).predict(X) + next(NUMBERS)


def half_of_each(self, X, y, n_folds):
    model, found = PlainMean.fit_left_out(self, X, y, n_folds)
    return model, found if n_folds == len(y) else 0.5 * found + 0.1 * y


NUMBERS = count(1)


@pytest.mark.parametrize(
    ("members", "fact"),
    [
        ({"fit_left_out": told}, "with a fold for each row, predictions are those of fits on all"),
        ({"fit_left_out": drawn}, "the folds are the same at every call"),
        ({"fit_left_out": half_of_each}, "a row's own output does not change its prediction"),
        ({"fit_left_out": lambda self, X, y, n_folds: (
            None, PlainMean.fit_left_out(self, X, y, n_folds)[1])}, "fit_left_out returns the"),
        ({"fit_left_out": lambda self, X, y, n_folds: (
            self, PlainMean.fit_left_out(self, X, y, n_folds)[1][:, 0])}, "predictions of rows"),
        ({"fit_left_out": lambda self, X, y, n_folds: (
            self, PlainMean.fit_left_out(self, X, y, n_folds)[1],
            self.fit(X[1:], y[1:]))[:2]}, "the fit is that of fit"),
        ({"fit_left_out": lambda self, X, y: None}, "fit_left_out takes objects, outputs and a"),
        ({"provides": frozenset({"predict"})}, "it provides 'left_out'"),
    ],
)  # fmt: skip
def test_regressors_that_only_pretend_to_leave_rows_out(members, fact):
    with broken("Liar", "regressor that leaves rows out", fact):
        check_left_out(lying(PlainMean, **members)(), VECTORS, OUTPUTS)


def exchange(self, expansion):
    self.expansion_ = expansion
    return self


@pytest.mark.parametrize(
    ("members", "fact"),
    [
        ({"with_expansion": exchange}, "with_expansion returns a copy"),
        ({"with_expansion": lambda self, e: lying(RidgeMachine)().fit(VECTORS, OUTPUTS)},
         "its outputs come from its expansion"),
    ],
)  # fmt: skip
def test_machines_that_lie(members, fact):
    with broken("Liar", "holder of an expansion", fact):
        check_expansion_holder(lying(RidgeMachine, **members)(), VECTORS, OUTPUTS)


def test_what_holds_no_expansion():
    pretender = lying(RidgeMachine, expansion_=property(lambda self: 3, lambda self, e: None))
    with pytest.raises(TypeError, match=r"must be an isthmus.kernels.Expansion. Got 3"):
        check_expansion_holder(pretender(), VECTORS, OUTPUTS)


# What is no part at all -------------------------------------------------------------------


class Nothing(BaseEstimator):
    pass


@pytest.mark.parametrize(
    ("check", "word"),
    [
        (lambda part: check_feature_map(part, VECTORS), "feature map"),
        (lambda part: check_preimage(part, PLANE), "pre-image"),
        (lambda part: check_latent_map(part, CURVE), "latent map"),
        (lambda part: check_smoother(part, VECTORS, OUTPUTS), "smoother"),
        (lambda part: check_left_out(part, VECTORS, OUTPUTS), "regressor that leaves rows out"),
        (lambda part: check_expansion_holder(part, VECTORS, OUTPUTS), "holder of an expansion"),
    ],
)
def test_what_is_no_part(check, word):
    with pytest.raises(TypeError, match=rf"Nothing\(\) is not a {word}: it has no method"):
        check(Nothing())
    with pytest.raises(TypeError, match=rf"Nothing is a class, and a {word} is an object"):
        check(Nothing)


def test_a_class_is_no_kernel():
    with pytest.raises(TypeError, match="Gaussian is a class, and a kernel is an object"):
        check_kernel(Gaussian, VECTORS)
    with broken("'precomputed'", "kernel", "the Gram matrix is symmetric"):
        check_kernel("precomputed", np.triu(GRAM))
