"""From a picture to a joint command, and its stages."""

from functools import cache

import numpy as np
from scipy.optimize import least_squares
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import KernelPCA as PlainKernelPCA
from sklearn.neighbors import KNeighborsRegressor

from benchmarks._harness import Contest, benchmark
from isthmus.datasets import make_imitation_scenes
from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian, HistogramIntersection
from isthmus.preimage import ConstrainedPreimage
from isthmus.preimage.vectors.constrained import coordinate_model
from isthmus.reduction import compress
from isthmus.robotics import ImitationModel, PoseFeatures, PoseKernel, pa10

N_PAIRS, N_PICTURES, RANK = 50, 20, 7
PROXIMITY = 0.1


@cache
def _system(n_frames):
    """A fitted model, its short form, and the data it was fitted on."""
    frames = make_imitation_scenes(n_frames, random_state=0)
    pairs = make_imitation_scenes(N_PAIRS, random_state=1)
    features = PoseFeatures(
        80, background=frames.background, skin_pixels=frames.skin_pixels, max_contexts=500
    )
    model = ImitationModel(pa10(), features=features)
    model.fit(pairs.images, pairs.postures, unlabelled=frames.images)
    return model, compress(model, n_frames // 3), pairs


def _direction_error(postures, directions):
    P = pa10().positions(postures)
    reached = np.stack([P[:, 2] / 450, (P[:, 4] - P[:, 2]) / 500], axis=1)
    cosines = np.clip(np.einsum("nkc,nkc->nk", reached, directions), -1, 1)
    return float(np.median(np.degrees(np.arccos(cosines))))


@benchmark(
    "imitation-command",
    work=f"{N_PICTURES} pictures of 100 x 100 pixels, one after another, to joint values",
    peer="the same features, then KernelPCA, PLSRegression and 1-NN of scikit-learn",
    cases=(125, 250, 500),
    quick=(60,),
    unit="frames",
    goal=f"under {10 * N_PICTURES} ms: 10 ms a picture",
    why="both sides share the features; ours ends with a search for a posture within the limits, "
    "the peer with the nearest known one, at a larger error",
)
def command(n_frames):
    model, short, pairs = _system(n_frames)
    new = make_imitation_scenes(N_PICTURES, random_state=2)
    intersection, patterns = HistogramIntersection(), model.x_features_.objects_
    pca = PlainKernelPCA(model.x_features_.n_components_, kernel="precomputed")
    pca.fit(intersection(patterns))
    rows = model.features_.transform(pairs.images)
    outputs = model.y_features_.transform(pairs.postures)
    pls = PLSRegression(RANK, scale=False).fit(pca.transform(intersection(rows, patterns)), outputs)
    nearest = KNeighborsRegressor(1).fit(outputs, pairs.postures)

    def theirs(picture):
        seen = pca.transform(intersection(model.features_.transform(picture), patterns))
        return nearest.predict(pls.predict(seen))

    def one_by_one(predict):
        return np.vstack([predict(new.images[i : i + 1]) for i in range(N_PICTURES)])

    return Contest(
        lambda: one_by_one(short.predict),
        lambda: one_by_one(theirs),
        lambda postures: {"median degrees": _direction_error(postures, new.directions)},
    )


@benchmark(
    "imitation-extractor",
    work="Coordinates of postures from rows of features: fused, a third of 250 patterns",
    peer="our two stages with all patterns",
    cases=(1000, 3000, 10_000),
    quick=(500,),
    goal="3 times faster, the same numbers but for the patterns left out",
)
def extractor(n):
    model, short, _ = _system(250)
    rng = np.random.default_rng(0)
    known = model.x_features_.objects_
    mix = rng.dirichlet(np.ones(3), size=n)
    rows = np.einsum("nk,nkd->nd", mix, known[rng.integers(len(known), size=(n, 3))])
    return Contest(
        lambda: short._coordinates(rows),
        lambda: model.regressor_.predict(model.x_features_.transform(rows)),
        None,
        lambda ours, theirs: float(np.abs(ours - theirs).max() / np.abs(theirs).max()),
    )


@benchmark(
    "imitation-preimage",
    work="Joint values within limits and near a posture, from 13 components",
    peer="scipy.optimize.least_squares for each, with the same Jacobian",
    cases=(10, 100, 1000),
    quick=(10,),
    unit="postures",
    goal="10 times faster in batches of 1000, objective at most equal",
)
def preimage(n):
    arm = pa10()
    rng = np.random.default_rng(0)
    known = rng.uniform(-1, 1, size=(50, 7))
    pca = KernelPCA(0.95, kernel=PoseKernel(arm, base=Gaussian.from_width(450.0))).fit(known)
    start = known[rng.integers(50, size=n)]
    beta = pca.transform(start + 0.3 * rng.normal(size=(n, 7)))
    solver = ConstrainedPreimage(arm, proximity=PROXIMITY, tol=1e-10).fit(known, pca)
    model, root = coordinate_model(pca), np.sqrt(PROXIMITY)

    def theirs():
        found = np.empty((n, 7))
        for i in range(n):
            q0, goal = start[i], beta[i]
            found[i] = least_squares(
                lambda q, q0=q0, goal=goal: np.r_[model(q[None])[0][0] - goal, root * (q - q0)],
                q0,
                lambda q: np.vstack([model(q[None])[1][0], root * np.eye(7)]),
                bounds=(arm.lower, arm.upper),
                ftol=1e-10,
                xtol=1e-10,
                gtol=1e-10,
            ).x
        return found

    def quality(q):
        values = solver.objective(beta, q) + PROXIMITY * np.sum((q - start) ** 2, axis=1)
        return {"mean objective": float(values.mean())}

    return Contest(lambda: solver.solve(beta, start), theirs, quality)
