"""Spectra of pictures and postures, and paths of joints, of the imitation experiment."""

import numpy as np
from scipy.spatial.distance import cdist

from isthmus.features import KernelPCA
from isthmus_experiments import Row

N_PATHS = 20
N_STEPS = 30


def spectrum_rows(rows, x_kernel, postures, y_kernel, X, n_whole):
    """Shares of variance in the published numbers of components.

    ``X`` are the coordinates of the pictures of the pairs; ``n_whole`` the published number of
    frames, without which the number of components says nothing.
    """
    outputs = KernelPCA(None, kernel=y_kernel).fit(postures)
    yield _share_row("postures", outputs, 13, 0.95, whole=len(postures) == 50)
    inputs = KernelPCA(None, kernel=x_kernel).fit(rows)
    yield _share_row("pictures", inputs, 109, 0.95, whole=len(rows) == n_whole)
    spread = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    share = np.cumsum(spread) / spread.sum()
    few = int(np.searchsorted(share, 0.95) + 1)
    yield Row(
        f"directions that hold 95 % of the variance of {len(X)} pairs among the input components",
        "about 13: the pairs are not orthogonal to each other",
        f"{few} of at most {len(X) - 1}",
        "fewer than half of what orthogonal pairs would need"
        if few < (len(X) - 1) / 2
        else "half or more of what orthogonal pairs would need",
        bool(few < (len(X) - 1) / 2),
    )


def _share_row(what, features, n, published, *, whole):
    shares = np.cumsum(features.explained_variance_ratio_)
    at = shares[min(n, len(shares)) - 1]
    shown = ", ".join(f"{k}: {shares[min(k, len(shares)) - 1]:.0%}" for k in (1, 3, 5, 10, 30))
    return Row(
        f"spectrum of the {what}: share of the variance in {n} components",
        f"{published:.0%}",
        f"{at:.1%} ({shown})",
        "within five per cent" if abs(at - published) <= 0.05 else "not within five per cent",
        bool(abs(at - published) <= 0.05) if whole else None,
    )


def path_rows(model, postures, seed):
    """Straight joint paths in kernel components, and paths with way points put in."""
    rng = np.random.default_rng(seed)
    known = model.y_features_.transform(postures)
    bends, straight_gaps, gaps = [], [], []
    for _ in range(N_PATHS):
        start, goal = postures[rng.choice(len(postures), 2, replace=False)]
        line = np.linspace(start, goal, N_STEPS + 1)
        Z = model.y_features_.transform(line)
        lengths = np.linalg.norm(np.diff(Z, axis=0), axis=1).sum()
        bends.append(lengths / np.linalg.norm(Z[-1] - Z[0]))
        straight_gaps.append(cdist(Z, known).min(axis=1).max())
        corrected = model.y_features_.transform(model.path(start, goal, N_STEPS))
        gaps.append(cdist(corrected, known).min(axis=1).max())
    bend = float(np.median(bends))
    yield Row(
        "straight line of joints: its length in kernel components over the distance of its ends",
        "not straight (picture)",
        bend,
        "it bends" if bend > 1.05 else "hardly bends",
        bool(bend > 1.05),
    )
    nearer = float(np.mean(np.array(gaps) <= np.array(straight_gaps) + 1e-9))
    yield Row(
        "farthest from known postures on the way, with way points and straight, medians",
        "nearer with way points (picture)",
        f"{np.median(gaps):.3g} and {np.median(straight_gaps):.3g}",
        f"no farther in {nearer:.0%} of {N_PATHS} paths",
        bool(np.median(gaps) < np.median(straight_gaps)),
    )
