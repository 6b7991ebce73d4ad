"""Every kernel keeps its contract, composed ones on the objects they compare."""

import inspect

import numpy as np
import pytest

import isthmus.kernels
from isthmus.kernels import (
    ARD,
    Columns,
    Constant,
    Convolution,
    Delta,
    DirectSum,
    DistanceKernel,
    DTWKernel,
    Exponential,
    FisherKernel,
    FunctionKernel,
    GammaExponential,
    Gaussian,
    GlobalAlignment,
    HistogramIntersection,
    Kernel,
    Laplacian,
    Linear,
    MarginalizedGraph,
    MarginalizedSequence,
    Matern,
    NeuralNetwork,
    NGrams,
    Normalized,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    SpectralMixture,
    Spectrum,
    SpectrumRepair,
    Subsequence,
    Tensor,
    Transformed,
    WeightedDegree,
)
from isthmus.robotics import PoseKernel, pa10
from isthmus.series import HiddenMarkovModel, edit_matrix
from isthmus.testing import check_kernel

from .data import ANGLES, GRAM, MOLECULES, NETWORKS, PAIRS, SERIES, VECTORS, WORDS, name
from .foreign import CosineKernel


def letters(word):
    return list(word)


def shared_letters(a, b):
    return float(len(set(a) & set(b)))


KERNELS = [
    *(
        (kernel, VECTORS)
        for kernel in (
            Linear(),
            Polynomial(2),
            Polynomial(3),
            Polynomial(3, coef0=0.0, gamma=0.5),
            Exponential(0.7),
            Gaussian(1.3),
            Gaussian(width_factor=0.5),
            Laplacian(),
            HistogramIntersection(),
            NeuralNetwork(2.0, bias=0.5),
            Matern(0.5, length_scale=0.7),
            Matern(1.5),
            Matern(1.2, length_scale=0.7),
            Matern(np.inf),
            RationalQuadratic(0.8, length_scale=0.5),
            GammaExponential(1.4),
            SpectralMixture(3),
            ARD(Gaussian()),
            ARD(Linear()),
            ARD(RationalQuadratic(0.8) * Matern(2.5)),
            Normalized(Polynomial(2)),
            Columns(Linear(), stop=1) + Columns(Gaussian(1.3), start=1),
            Linear() + Gaussian(2.0),
            Gaussian(0.5) + Gaussian(2.0),
            Gaussian(0.5) * Polynomial(2),
            2.0 * Gaussian(1.0) + 1.0,
            (Linear() + 0.5 * Gaussian(1.0)) * Gaussian(0.3),
            Transformed(Gaussian(), (0.5, 0.0, 0.5)),
            Transformed(Normalized(Linear()), (0.3, 0.3, 0.4), basis="gegenbauer"),
            Constant(2.0),
            Delta(),
            FunctionKernel(np.inner, on_vectors=True),
            SpectrumRepair(Gaussian(1.0)),
            "cosine",
            CosineKernel(),
        )
    ),
    (Precomputed(), GRAM),
    (2.0 * Precomputed(), GRAM),
    (Precomputed(GRAM), np.arange(30)),
    (Normalized(Precomputed(GRAM)), np.arange(3, 28)),
    (PoseKernel(pa10()), ANGLES),
    (PoseKernel(pa10(), base="gaussian"), ANGLES),
    *(
        (kernel, WORDS)
        for kernel in (
            Delta(),
            Spectrum(2),
            Subsequence(2),
            Subsequence(2, position_decay=0.6),
            Normalized(Subsequence(2)),
            NGrams(2),
            Normalized(NGrams(3, position=1.0, ends=False)),
            WeightedDegree(2),
            WeightedDegree(2, shift=3),
            MarginalizedSequence(0.3, position_decay=0.5),
            MarginalizedSequence(0.3),
            MarginalizedSequence(0.3) + Spectrum(1),
            Spectrum(1) * Delta() + 1.0,
            Transformed(Normalized(Spectrum(2)), (0.5, 0.5)),
            FisherKernel(HiddenMarkovModel(2, alphabet="abc", random_state=0)),
            FunctionKernel(shared_letters, pairwise_calls=True),
            Convolution(Delta(), decompose=letters),
            SpectrumRepair(DistanceKernel(edit_matrix, gamma=0.3), method="flip"),
        )
    ),
    *(
        (kernel, SERIES)
        for kernel in (
            GlobalAlignment(),
            GlobalAlignment(0.5, triangle=4),
            SpectrumRepair(DTWKernel()),
            SpectrumRepair(DTWKernel(), method="square"),
        )
    ),
    (MarginalizedGraph(0.3), MOLECULES),
    (Normalized(MarginalizedGraph(0.3)), NETWORKS),
    (Tensor((Gaussian(), Delta())), PAIRS),
    (DirectSum((Linear(), Delta())), PAIRS),
]
# Similarities whose Gram matrices may have negative eigenvalues.
INDEFINITE = [
    (DTWKernel(), SERIES),
    (DistanceKernel(edit_matrix, gamma=0.3), WORDS),
    (DistanceKernel(edit_matrix, form="squared"), WORDS),
]


@pytest.mark.parametrize(("kernel", "objects"), KERNELS, ids=name)
def test_kernel(kernel, objects):
    assert len(check_kernel(kernel, objects).facts) >= 15


@pytest.mark.parametrize(("kernel", "objects"), INDEFINITE, ids=name)
def test_similarity(kernel, objects):
    facts = check_kernel(kernel, objects, positive=False).facts
    assert "no eigenvalue of the Gram matrix is negative" not in facts


def classes_within(kernel):
    found = {type(kernel)}
    for value in vars(kernel).values() if isinstance(kernel, Kernel) else ():
        for part in value if isinstance(value, tuple) else (value,):
            found |= classes_within(part) if isinstance(part, Kernel) else set()
    return found


def test_no_kernel_is_left_out():
    public = [getattr(isthmus.kernels, name) for name in isthmus.kernels.__all__]
    kernels = {
        thing
        for thing in [*public, PoseKernel]
        if inspect.isclass(thing) and issubclass(thing, Kernel) and not inspect.isabstract(thing)
    }
    assert kernels <= set().union(*(classes_within(k) for k, _ in KERNELS + INDEFINITE))


@pytest.mark.parametrize(
    ("kernel", "facts"),
    [
        (
            Gaussian(1.0),
            ["its gradient is that of its values", "radial_weights is minus the slope"],
        ),
        (Linear(), ["inner products of explicit_features", "inverse_inner_product gives"]),
        (Gaussian(1.0), ["squared_distances_from gives", "parameter_gradient is the gradient"]),
        (ARD(Gaussian()), ["a stationary kernel is the same for shifted vectors"]),
    ],
)
def test_what_is_declared_is_verified(kernel, facts):
    found = "\n".join(check_kernel(kernel, VECTORS).facts)
    assert all(fact in found for fact in facts)


def test_what_is_not_declared_is_not():
    assert not any("gradient" in fact for fact in check_kernel(Delta(), VECTORS).facts)
