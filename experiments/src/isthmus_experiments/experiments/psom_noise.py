"""PSOM-noise: noisy nodes of the arm's map, smoothed."""

import numpy as np

from isthmus.manifold import SmoothPSOM
from isthmus.plotting import curves
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._psom_arm import (
    BOX,
    distances,
    joint_grid,
    postures,
    told,
    wrist,
)

N_NODES, N_TESTS, NOISE, BEST = 8, 1000, 10.0, 0.002
RULES = {
    "gcv": ("no rule", {}),
    "noise": ("no rule", {"noise": NOISE}),
    "discrepancy": ("a rule of thumb, not tried", {"noise": NOISE}),
}


@experiment(
    "PSOM-noise",
    document="[004] 3.3.2 and 3.4, figure 3.9",
    title="Noise of 10 mm on the nodes of the PA-10's map",
    published=(
        "Gaussian noise of 10 mm on all 4096 Chebyshev nodes. The error over the smoothness has a "
        "shallow minimum near 0.002; the gain is below one standard deviation. A curve only."
    ),
    covers=[
        Covers("004 figure 3.9", way="claim"),
    ],
    quick={"smoothness": (0.0, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016), "choose": False},
    full={
        "smoothness": (0.0, 0.00025, 0.0005, 0.001, 0.0015, 0.002, 0.003, 0.004, 0.008, 0.016),
        "choose": True,
    },
)
def noise(settings, seed, progress):
    rng = np.random.default_rng(seed)
    truth = wrist(joint_grid(N_NODES, "chebyshev"))
    noisy = truth + NOISE * rng.normal(size=truth.shape)
    joints = postures(N_TESTS, rng)

    def error(smoothness, **more):
        model = SmoothPSOM((N_NODES,) * 4, smoothness=smoothness, bounds=BOX, **more)
        model.fit_nodes(noisy)
        return distances(model.inverse_transform(joints), joints), model.smoothness_

    path = {}
    for i, lam in enumerate(settings["smoothness"]):
        progress(i / len(settings["smoothness"]) / 2, f"smoothness {lam:g}")
        path[lam] = error(lam)[0]
    means = {lam: float(e.mean()) for lam, e in path.items()}
    best = min(means, key=means.get)
    gain = means[0.0] - means[best]
    rows = [
        Row(
            "smoothness of least error",
            f"about {BEST}",
            f"{best:g}",
            "within a factor of 2" if BEST / 2 <= best <= 2 * BEST else "elsewhere",
            bool(BEST / 2 <= best <= 2 * BEST),
        ),
        Row(
            "error without smoothing, and at the minimum",
            "a gain below one standard deviation",
            f"{told(path[0.0])}, {told(path[best])}",
            "a gain below one standard deviation"
            if 0 < gain < path[0.0].std()
            else f"a gain of {gain:.1f} mm",
            bool(0 < gain < path[0.0].std()),
        ),
    ]
    if settings["choose"]:
        for k, (rule, (published, more)) in enumerate(RULES.items()):
            progress(0.5 + k / 6, f"smoothness by {rule}")
            errors, lam = error(rule, **more)
            rows.append(
                Row(
                    f'chosen from the noisy nodes alone, smoothness="{rule}"',
                    published,
                    f"{lam:.2g}: {told(errors)}",
                    f"{errors.mean() / means[best]:.2f} times the least error of the curve",
                )
            )
    shown = [lam for lam in means if lam > 0]
    return Outcome(
        rows,
        [
            Picture(
                "errors",
                "Mean error of the wrist over the smoothness; the line is the map through the "
                "noisy nodes themselves.",
                lambda: curves(
                    {
                        "10 mm of noise on 4096 nodes": {
                            "smoothed": (shown, [means[lam] for lam in shown]),
                            "not smoothed": (shown, [means[0.0]] * len(shown)),
                        }
                    },
                    xlabel="smoothness",
                    ylabel="error in mm",
                    log="x",
                    marker="o",
                ),
            )
        ],
        ["Joints in radians and positions in millimetres: the smoothness depends on both units."],
    )
