"""Every manifold keeps its contract."""

import numpy as np
import pytest

from isthmus.kernels import Spectrum
from isthmus.manifold import (
    PSOM,
    BaseLatentMap,
    Charting,
    CurvilinearComponents,
    GenerativeTopographicMapping,
    MaximumVarianceUnfolding,
    PrincipalCurve,
    RegularizedPrincipalManifold,
    SammonMapping,
    SmoothPSOM,
    UnsupervisedKernelRegression,
    grid_points,
)
from isthmus.testing import all_estimators, check_latent_map

from .data import CURVE, WORDS, name
from .foreign import Circle, Ellipse

SHEET = grid_points((4, 3))
SURFACE = np.column_stack([SHEET, np.sin(SHEET[:, 0]) * SHEET[:, 1]])
UKR = {"init": "pca", "homotopy": None, "random_state": 0}
MANIFOLDS = [
    (UnsupervisedKernelRegression(1, **UKR), CURVE),
    (UnsupervisedKernelRegression(1, density_kernel="quartic", degree=1, **UKR), CURVE),
    (UnsupervisedKernelRegression(1, n_landmarks=12, **UKR), CURVE),
    (UnsupervisedKernelRegression(2, **UKR), np.repeat(SURFACE, 2, axis=0) + CURVE[:24] / 20),
    (UnsupervisedKernelRegression(1, data_kernel="linear", **UKR), CURVE),
    (UnsupervisedKernelRegression(1, data_kernel=Spectrum(2), **UKR), WORDS),
    (GenerativeTopographicMapping(1, n_nodes=40), CURVE),
    (GenerativeTopographicMapping(1, n_nodes=40, coordinates="mode"), CURVE),
    (GenerativeTopographicMapping(n_nodes=8, coordinates="nearest", init="pca"), SURFACE),
    (PSOM(SURFACE, grid=(4, 3)), SURFACE),
    (PSOM(SURFACE, grid=(4, 3), basis="chebyshev"), SURFACE),
    (PSOM(CURVE, grid=(30,), local=4), CURVE),
    (SmoothPSOM((7,), random_state=0), CURVE),
    (SmoothPSOM((4, 3), smoothness=0.1), SURFACE),
    (PrincipalCurve(random_state=0), CURVE),
    (PrincipalCurve("polygonal", closed=True, random_state=0), CURVE),
    (PrincipalCurve("segments", random_state=0), CURVE),
    (PrincipalCurve("generative", random_state=0), CURVE),
    (Charting(1), CURVE),
    (RegularizedPrincipalManifold(1), CURVE),
    (RegularizedPrincipalManifold(2, regularizer="length", solver="joint", tol=1e-3), SURFACE),
    (SammonMapping(1, random_state=0), CURVE),
    (CurvilinearComponents(1, random_state=0), CURVE),
    (CurvilinearComponents(1, distance="euclidean", n_landmarks=15, random_state=0), CURVE),
    (MaximumVarianceUnfolding(1, random_state=0), CURVE),
    (Circle(), CURVE[:, :2]),
    (Ellipse(), CURVE[:, :2]),
]


@pytest.mark.parametrize(("manifold", "X"), MANIFOLDS, ids=name)
def test_latent_map(manifold, X):
    facts = check_latent_map(manifold, X).facts
    assert "the Jacobian is that of the values" in facts
    complete = isinstance(manifold, BaseLatentMap) and "data_kernel" not in str(manifold)
    assert ("known entries come back unchanged" in facts) == complete


def test_no_manifold_is_left_out():
    manifolds = {e.cls for e in all_estimators() if issubclass(e.cls, BaseLatentMap)}
    assert manifolds <= {type(manifold) for manifold, _ in MANIFOLDS}
