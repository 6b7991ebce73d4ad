"""E-16: pose features of two postures, photographed at many places."""

import numpy as np
from sklearn.metrics import pairwise_distances

from isthmus.features import KernelPCA
from isthmus.kernels import HistogramIntersection
from isthmus.plotting import curves
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._imitation import STAND_IN, pose_features, scenes

# Height of the upper arm, turn, bend of the elbow, turn of the forearm: degrees.
POSTURES = {"arm low": (30.0, 15.0, 20.0, 0.0), "arm raised": (115.0, 15.0, 60.0, 0.0)}
STILL = {"shift": 0.0, "scale": 0.0, "lighting": 0.0, "noise": 0.0}
VIEWS = {
    "place": {**STILL, "shift": 0.10},
    "size": {**STILL, "scale": 0.15},
    "light": {**STILL, "lighting": 0.15},
    "noise": {**STILL, "noise": 0.01},
    "all of them": {"shift": 0.10, "scale": 0.15, "lighting": 0.15, "noise": 0.01},
}


@experiment(
    "E-16",
    document="[000] 6.3.2, figure 6.11",
    title="Pose features stay with the posture, not with the place of the person",
    published=(
        "Features of two postures photographed at several positions in the room stay separated and "
        "vary little. Curves only, no values."
    ),
    covers=[
        Covers(
            "000 figure 6.11",
            way="other data",
            why="the snapshots are not available; drawn scenes stand in",
        ),
    ],
    quick={"frames": 60, "views": 10, "words": 30, "contexts": 150},
    full={"frames": 300, "views": 60, "words": 80, "contexts": 2000},
)
def invariance(settings, seed, progress):
    progress(0.0, "codebook")
    frames = scenes(settings["frames"], seed, 0)
    features = pose_features(frames, settings["words"], settings["contexts"], seed)
    pca = KernelPCA(2, kernel=HistogramIntersection()).fit(features.fit_transform(frames.images))
    rows, shown = [], {}
    for i, (what, view) in enumerate(VIEWS.items()):
        progress(0.3 + 0.7 * i / len(VIEWS), what)
        seen = {
            name: features.transform(_views(angles, settings["views"], seed, i, view).images)
            for name, angles in POSTURES.items()
        }
        rows.append(_row(what, *seen.values()))
        shown[what] = {name: _ordered(pca.transform(found)) for name, found in seen.items()}
    panels = {what: shown[what] for what in ("place", "light", "all of them")}
    return Outcome(
        rows,
        [
            Picture(
                "coordinates",
                "First kernel component of the features of two postures, over the views in "
                "increasing order: the gap is what tells them apart.",
                lambda: curves(panels, xlabel="view", ylabel="first component", marker="o"),
            )
        ],
        [
            STAND_IN,
            "Distances are those of the kernel, d² = sum |p - q| over the three histograms of mass "
            "one each, so at most 6. A shift by whole pixels changes nothing at all (a test holds "
            "it); what is left here comes from the sampling of edges by pixels, which moves single "
            "edgels between bins, and from skin near the colour threshold.",
        ],
    )


def _views(angles, n, seed, number, view):
    return scenes(n, seed, number + 1, angles=np.tile(np.radians(angles), (n, 1)), **view)


def _row(what, low, raised):
    both = np.vstack([low, raised])
    D, n = pairwise_distances(both, metric="cityblock"), len(low)
    within = max(D[:n, :n].max(), D[n:, n:].max())
    between = D[:n, n:].min()
    return Row(
        f"changing {what}: squared distance of the same posture, and of the two",
        "small variation, well separated",
        f"at most {within:.2f}; at least {between:.2f}",
        f"separated: the two are {between / max(within, 1e-12):.1f} times as far apart"
        if between > within
        else "some views of one posture are as far apart as the two",
        bool(between > within),
    )


def _ordered(coordinates):
    return np.arange(len(coordinates)), np.sort(coordinates[:, 0])
