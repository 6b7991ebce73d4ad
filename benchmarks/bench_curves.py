"""Principal curves: how near the true curve, how fast, and the projection of new rows."""

import warnings
from importlib import import_module

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.datasets import distance_to_manifold, make_half_circle
from isthmus.manifold import PrincipalCurve

# Of prinpy: of 0.1 to 10 the one that ends nearest to the truth here. At 0.1 it ends in an error,
# and with noise of 0.5, as in the first benchmark, it may not end at all.
TOLERANCE = 0.5
# Of ours, where it is given: about what it chooses by itself.
ALPHA = 1e-6


def _peer(name):
    try:
        return import_module(name)
    except ImportError as missing:
        raise Unavailable(str(missing)) from missing


def _quality(points):
    return {"mean distance from the truth": distance_to_manifold(points, "half_circle").mean()}


@benchmark(
    "curves-spline",
    work="a principal curve of half a circle with noise, and its distance from the truth",
    peer="pcurvepy2.PrincipalCurve",
    cases=(300, 1000, 3000),
    quick=(100, 300),
    goal="nearer to the true curve",
)
def spline(n):
    Y = make_half_circle(n, noise=0.5, random_state=0)[0]
    peer_class = _peer("pcurvepy2").PrincipalCurve

    def ours():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return PrincipalCurve(init="pca", random_state=0).fit(Y).reconstruct(Y)

    def peer():
        model = peer_class(k=3)
        model.fit(Y)
        return np.asarray(model.points)  # of the rows, on its curve

    return Contest(ours, peer, _quality)


@benchmark(
    "curves-local",
    work="a principal curve of half a circle with little noise, smoothness chosen by us, "
    "a tolerance given to the peer",
    peer="prinpy ConstrainedFitter(GreedyFit(), tolerance=0.5), one walk along the rows",
    cases=(300, 1000, 3000),
    quick=(300,),
    goal="nearer to the true curve",
    why="ours fits a curve of every stiffness until the thinnest tube is passed, each by several "
    "projections of all rows; prinpy is given its tolerance and walks once from tangent to tangent",
)
def local(n):
    Y = make_half_circle(n, noise=0.2, random_state=0)[0]
    prinpy = _peer("prinpy.local_curves")

    def ours():
        return PrincipalCurve(init="pca", random_state=0).fit(Y).reconstruct(Y)

    return Contest(ours, lambda: _walk(prinpy, Y), _quality)


def _walk(prinpy, Y):
    fitter = prinpy.ConstrainedFitter(algorithm=prinpy.GreedyFit(), tolerance=TOLERANCE)
    return np.asarray(fitter.fit(Y).project(Y).points, dtype=float)


@benchmark(
    "curves-local-given",
    work="the same with smoothness given to both, ours stopped after two steps",
    peer="prinpy ConstrainedFitter(GreedyFit(), tolerance=0.5), one walk along the rows",
    cases=(300, 1000, 3000),
    quick=(300,),
    goal="a fifth of the speed, nearer to the true curve",
    why="ours projects all rows on a smooth spline, and checks take much of the time of few rows; "
    "prinpy walks once from tangent to tangent",
)
def local_given(n):
    Y = make_half_circle(n, noise=0.2, random_state=0)[0]
    prinpy = _peer("prinpy.local_curves")

    def ours():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = PrincipalCurve(init="pca", alpha=ALPHA, max_iter=2, random_state=0)
            return model.fit(Y).reconstruct(Y)

    return Contest(ours, lambda: _walk(prinpy, Y), _quality)


@benchmark(
    "curves-projection",
    work="projection of rows on a line of 256 segments in 3 columns",
    peer="the formula in plain NumPy",
    cases=(10_000, 20_000, 40_000),
    quick=(1000, 2000),
    goal="5 times",
)
def projection(n):
    rng = np.random.default_rng(0)
    t = np.linspace(0, 6, 300)
    curve = PrincipalCurve(init="pca", alpha=1e-7).fit(np.column_stack([t, np.sin(t), np.cos(t)]))
    Y = np.column_stack([6 * rng.uniform(size=n), rng.normal(size=(n, 2))])
    V, lengths = curve.vertices_, curve.arc_lengths_

    def ours():
        return curve.transform(Y)[:, 0]

    def peer():
        step = np.diff(V, axis=0)
        size = np.sum(step**2, axis=1)
        found = np.empty(n)
        for first in range(0, n, 1000):
            part = Y[first : first + 1000]
            gap = part[:, None] - V[:-1]
            place = np.clip(np.einsum("nkd,kd->nk", gap, step) / size, 0, 1)
            away = np.sum((gap - place[..., None] * step) ** 2, axis=2)
            best = np.argmin(away, axis=1)
            rows = np.arange(len(part))
            found[first : first + 1000] = lengths[best] + place[rows, best] * np.sqrt(size[best])
        return found

    def difference(one, other):
        return float(np.abs(one - other).max())

    return Contest(ours, peer, None, difference)
