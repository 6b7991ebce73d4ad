"""SFA: slow feature analysis on the demonstrations of the lecture."""

import warnings

import numpy as np
from scipy import linalg
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from isthmus.features import SlowFeatureAnalysis
from isthmus.plotting import curves
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

WINDOW = 10


@experiment(
    "SFA",
    document="[002] 1.2 and 1.3, figures 2, 5 and 6",
    title="Slow features: a hidden sine, a driven map, a mixture, and the limits",
    published=(
        "Figure 2: a slow component comes out of two fast inputs. Figure 5: the slowly varying "
        "driving force of a dynamical system is found. Figure 6: mixed sources are separated. "
        "Pictures only, no values; the text has the online algorithm with the shift gamma I - C, "
        "which needs a projection that it does not mention."
    ),
    covers=[
        Covers("002 figure 2", way="claim"),
        Covers("002 figure 5", way="claim"),
        Covers("002 figure 6", way="claim"),
    ],
    quick={"n": 2000, "steps": 4000, "passes": 5},
    full={"n": 2000, "steps": 10_000, "passes": 20},
)
def slow_features(settings, seed, progress):
    progress(0.0, "two fast inputs")
    t = np.linspace(0, 2 * np.pi, settings["n"])
    X = np.column_stack([np.sin(t) + np.cos(11 * t) ** 2, np.cos(11 * t)])
    exact = SlowFeatureAnalysis(1, expansion=2).fit_transform(X)[:, 0]
    progress(0.2, "online")
    online = SlowFeatureAnalysis(
        1, expansion=2, solver="online", max_iter=settings["passes"], random_state=seed
    ).fit_transform(X)[:, 0]
    progress(0.4, "driven logistic map")
    driven = {degree: _driven(settings["steps"], degree) for degree in (1, 2, 3)}
    progress(0.8, "mixture, cosines, classes")
    mixture = _mixture(seed)
    cosine, angle = _cosine_law(seed), _discriminants()

    found = [_agreement(exact, np.sin(t)), _agreement(online, np.sin(t))]
    degrees = [_agreement(*driven[degree][::-1]) for degree in (1, 2, 3)]
    rows = [
        Row(
            "figure 2: correlation with sin t, quadratic",
            "found (picture)",
            found[0],
            "the slow sine, exactly" if found[0] > 1 - 1e-9 else "not exact",
            found[0] > 1 - 1e-9,
        ),
        Row(
            f"figure 2, online without covariances, {settings['passes']} passes",
            "found (text)",
            found[1],
            "approaches the exact answer with the passes" if found[1] > 0.95 else "not found",
            found[1] > 0.95,
        ),
        Row(
            f"figure 5: correlation with the driving force, windows of {WINDOW}",
            "found (picture)",
            f"degree 1: {degrees[0]:.4f}, 2: {degrees[1]:.4f}, 3: {degrees[2]:.4f}",
            "a linear function of the window does not show it, a quadratic one does",
            degrees[1] > 0.99 > degrees[0] and degrees[2] > 0.99,
        ),
        Row(
            "figure 6: smallest correlation with a source, sine and square wave mixed",
            "separated (picture)",
            mixture,
            "sources of different slowness come apart" if mixture > 0.999 else "not separated",
            mixture > 0.999,
        ),
        Row(
            "as many functions as rows: largest deviation from the cosine law",
            None,
            cosine,
            "then the answer does not depend on the data, and fit warns of it",
        ),
        Row(
            "complete graph within classes against discriminants, largest angle (degrees)",
            None,
            angle,
            "the two span the same space",
        ),
    ]
    series, force = driven[3][1], driven[3][0]
    shown = slice(0, len(force), max(1, len(force) // 800))
    return Outcome(
        rows,
        [
            Picture(
                "driven",
                "The driving force of the logistic map (unit variance) and the slowest feature of "
                "degree 3 in windows of the signal it drives.",
                lambda: curves(
                    {
                        "driven logistic map": {
                            "force": (np.arange(len(force))[shown], force[shown]),
                            "slowest feature": (np.arange(len(force))[shown], series[shown]),
                        }
                    },
                    xlabel="step",
                    ylabel="unit variance",
                ),
            )
        ],
        [
            "Online minor components of gamma I - C: with the sample alone deflated, as for "
            "principal components, every direction collapses onto the first. Ours projects the "
            "direction itself; the default method needs neither, since it keeps square roots of "
            "the two covariances.",
            "Figures 3, 4 and 7, of pictures, are those of SFA-pictures.",
        ],
    )


def _agreement(a, b):
    return float(abs(np.corrcoef(a, b)[0, 1]))


def _driven(n, degree):
    """The force in the middle of each window, and the slowest feature, aligned in sign."""
    time = np.arange(n) / n
    force = sum(np.sin(2 * np.pi * f * time) for f in (5, 11, 13))
    signal = np.empty(n)
    signal[0] = 0.6
    for i in range(n - 1):
        signal[i + 1] = (3.6 + 0.13 * force[i]) * signal[i] * (1 - signal[i])
    windows = np.lib.stride_tricks.sliding_window_view(signal, WINDOW)
    slowest = SlowFeatureAnalysis(1, expansion=degree).fit_transform(windows)[:, 0]
    middle = force[WINDOW // 2 - 1 :][: len(slowest)]
    middle = (middle - middle.mean()) / middle.std()
    return middle, slowest * np.sign(slowest @ middle)


def _mixture(seed):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 2 * np.pi, 4000)
    sources = np.column_stack([np.sin(3 * t), np.sign(np.sin(17 * t + 0.3))])
    found = SlowFeatureAnalysis().fit_transform(sources @ rng.normal(size=(2, 2)))
    return min(_agreement(found[:, i], sources[:, i]) for i in range(2))


def _cosine_law(seed):
    n = 100
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it says just what is shown here
        X = np.random.default_rng(seed).normal(size=(n, 2 * n))
        features = SlowFeatureAnalysis(5).fit_transform(X)
    steps = np.arange(1, n + 1) - 0.5
    law = np.sqrt(2) * np.cos(np.pi * np.outer(steps, np.arange(1, 6)) / n)
    signs = np.sign(np.sum(features * law, axis=0))
    return float(np.abs(features * signs - law).max())


def _discriminants():
    X, y = load_iris(return_X_y=True)
    ours = SlowFeatureAnalysis(2, graph="classes").fit(X, y).components_
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).scalings_[:, :2]
    return float(np.degrees(linalg.subspace_angles(ours.T, lda).max()))
