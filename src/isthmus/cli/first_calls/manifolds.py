"""Manifolds and bodies."""

import numpy as np

from isthmus.cli.first_calls.registry import first_call


@first_call("manifold fit")
def _manifold(rng):
    from isthmus.manifold.ukr.estimator import UnsupervisedKernelRegression

    X = rng.normal(size=(60, 3))
    model = UnsupervisedKernelRegression(1, random_state=0, max_iter=3).fit(X)
    return model.transform(X)


@first_call("manifold of many rows")
def _many_rows(rng):
    from isthmus.manifold.ukr.estimator import UnsupervisedKernelRegression

    X = rng.normal(size=(150, 3))
    return UnsupervisedKernelRegression(1, random_state=0, max_iter=3).fit(X)


@first_call("projection on a manifold")
def _projection(rng):
    return _ends(rng, 0)


@first_call("projection on a manifold of local lines")
def _projection_on_lines(rng):
    return _ends(rng, 1)


def _ends(rng, degree):
    """Ends of searches; the map is not learned, which compiles other loops."""
    from isthmus.manifold.ukr.map import WHOLE_ROWS, KernelMap
    from isthmus.manifold.ukr.search import FEW_CENTRES
    from isthmus.smoothers import density_kernel
    from isthmus.smoothers.local_polynomial import LocalSmoother

    X, Y = rng.uniform(size=(FEW_CENTRES, 2)), rng.normal(size=(FEW_CENTRES, 3))
    found = KernelMap(X, Y, LocalSmoother(density_kernel("quartic"), degree), 1e-3, X, Y)
    return found.search_rows(Y, None, X, WHOLE_ROWS)


@first_call("step of a manifold")
def _step(rng):
    """Of rows that are their own centres; landmarks have other loops."""
    from isthmus.losses import Squared
    from isthmus.manifold.ukr.objective import reconstruction_error
    from isthmus.smoothers import density_kernel
    from isthmus.smoothers.local_polynomial import LocalSmoother

    X, Y = 5.0 * rng.uniform(size=(150, 2)), rng.normal(size=(150, 3))
    return reconstruction_error(X, None, Y, Y, LocalSmoother(density_kernel("quartic")), Squared())


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
    return model.fit(X)


@first_call("ranks of neighbours")
def _ranks(rng):
    from isthmus.manifold.measures.ranks import coranking_matrix, neighborhood_scores

    X = rng.normal(size=(12, 3))
    coranking_matrix(X, X[:, :2])
    return neighborhood_scores(X, X[:, :2])


@first_call("principal curves")
def _curves(rng):
    from isthmus.manifold.curves.estimator import PrincipalCurve

    X = rng.normal(size=(40, 2)) * (3.0, 1.0)
    return [
        PrincipalCurve(method=method, random_state=0).fit(X).transform(X)
        for method in ("spline", "polygonal", "segments")
    ]


@first_call("embeddings of distances")
def _embeddings(rng):
    from isthmus.manifold.embedding.curvilinear import CurvilinearComponents
    from isthmus.manifold.embedding.sammon import SammonMapping

    X = rng.normal(size=(20, 3))
    SammonMapping(2, max_iter=2).fit(X)
    return CurvilinearComponents(2, max_iter=2, random_state=0).fit(X)


@first_call("PSOM")
def _psom(rng):
    from isthmus.manifold.psom.estimator import PSOM

    X = rng.normal(size=(9, 4))
    return PSOM(X.reshape(3, 3, 4)).fit(X).transform(X)


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
