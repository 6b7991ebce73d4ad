"""TGP-s-shape: the inverse of an S-shaped curve, and what learned kernels add to a tuned width."""

import numpy as np

from isthmus.datasets import make_s_shape
from isthmus.kernels import Gaussian
from isthmus.plotting import curves
from isthmus.structured import TwinGaussianProcess
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._twin import NAMES, gain, learner
from isthmus_experiments.measure import mae

N_TRAIN = 250
# One output: the minimum over a fine grid is the global one.
GRID = np.linspace(-0.3, 1.3, 401)[:, None]
NOISE = 1e-3
WIDTHS = (1.0, 10.0, 100.0)
PUBLISHED = {
    ("kl", "monomial"): 31.27,
    ("kl", "gegenbauer"): 39.49,
    ("hsic", "monomial"): 22.31,
    ("hsic", "gegenbauer"): 26.06,
}
# Two errors this close count as the same plateau.
PLATEAU = 0.05


@experiment(
    "TGP-s-shape",
    document="[003] 4.4, table 4.6, figure 4.5",
    title="S-shape: learned kernels against a tuned width",
    published=(
        "500 points r = x + 0.3 sin(2 pi x) + noise of deviation 0.05, x predicted from r; "
        "Gaussian kernels with gamma 1 on both sides, degrees up to 11. Gain in MAE over no map, "
        "best of the grid: KL 31.27 %, HSIC 22.31 %, Gegenbauer KL 39.49 %, Gegenbauer HSIC "
        "26.06 %. The split and the noise on the diagonal are not stated, no error itself is, and "
        "no other width was tried."
    ),
    covers=[
        Covers("003 figure 4.5"),
        Covers("003 table 4.6", 4),
    ],
    readings={
        "KL, gegenbauer": (
            "the split and the noise on the diagonal are not stated, and both move the plain "
            "error that the gain is a share of"
        ),
    },
    in_short=(
        "split and noise are not stated; the plain HSIC criterion runs to the end of its grid"
    ),
    quick={"degrees": (1, 3, 11), "n_seeds": 1},
    full={"degrees": (1, 2, 3, 5, 7, 11), "n_seeds": 20},
)
def s_shape(settings, seed, progress):
    degrees = settings["degrees"]
    learned = {key: np.zeros((len(degrees), len(degrees))) for key in PUBLISHED}
    plain = {(c, w): 0.0 for c in NAMES for w in WIDTHS}
    n = settings["n_seeds"]
    for repeat in range(n):
        progress(repeat / n, f"sample {repeat + 1} of {n}")
        task = _task(seed + repeat)
        for criterion, width in plain:
            plain[criterion, width] += _error(task, criterion, width, None) / n
        for (criterion, basis), table in learned.items():
            for i, dx in enumerate(degrees):
                for j, dy in enumerate(degrees):
                    table[i, j] += _error(task, criterion, 1.0, learner(basis, (dx, dy))) / n
    best = {key: np.nanmin(table) for key, table in learned.items()}
    rows = [_gain_row(key, best[key], learned[key][0, 0]) for key in PUBLISHED]
    rows += [_control_row(c, best, plain) for c in NAMES] + [_plateau_row(learned, degrees)]
    return Outcome(
        rows,
        [
            Picture(
                "degrees",
                "Mean absolute error when both degrees are raised together from gamma = 1, and of "
                "plain kernels with gamma = 10 and 100.",
                lambda: _figure(learned, plain, degrees),
            )
        ],
        [
            f"{N_TRAIN} points for training and as many for the test, {n} samples; noise {NOISE:g} "
            "on the diagonals; the criterion is minimised over a grid on [-0.3, 1.3], so every "
            "error is that of the global optimum.",
            "Powers of a Gaussian are narrower Gaussians: what is learned is a sum of the widths "
            "gamma to 11 gamma, with weights that rise with the degree. The control shows what of "
            "the gain is width alone.",
            "Gegenbauer polynomials as published (raw, index 0.51 and 0.52) are no kernels of a "
            "Gaussian in general; with gamma = 1 all values lie near 1 and the Gram matrices "
            "happen to be positive. Degrees at which they are not are left out.",
        ],
    )


def _task(seed):
    X, y = make_s_shape(2 * N_TRAIN, random_state=seed)
    X, y = np.reshape(X, (-1, 1)), np.reshape(y, (-1, 1))
    return X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:]


def _error(task, criterion, width, twin_learner):
    X, Y, new, truth = task
    model = TwinGaussianProcess(
        x_kernel=Gaussian(width),
        y_kernel=Gaussian(width),
        criterion=criterion,
        alpha_x=NOISE,
        alpha_y=NOISE,
        learner=twin_learner,
        candidates=GRID,
    )
    try:
        return mae(truth, model.fit(X, Y).predict(new))
    except ValueError:
        return np.nan  # the learned polynomial is no kernel on these points


def _gain_row(key, best, base):
    criterion, basis = key
    ours = gain(base, best)
    published = PUBLISHED[key]
    return Row(
        f"gain in MAE, {NAMES[criterion]}, {basis}, best of the degrees",
        f"{published:g} %",
        f"{ours:.1f} % ({base:.4f} to {best:.4f})",
        "a gain of the published order"
        if abs(ours - published) < 15
        else "a larger gain: the plain criterion with gamma = 1 runs to the end of the grid"
        if ours > published
        else "a smaller gain",
        bool(abs(ours - published) < 15),
    )


def _control_row(criterion, best, plain):
    ours = min(v for (c, _), v in best.items() if c == criterion)
    width = min(WIDTHS, key=lambda w: plain[criterion, w])
    tuned = plain[criterion, width]
    same = tuned <= (1 + PLATEAU) * ours
    return Row(
        f"{NAMES[criterion]}: MAE of a plain Gaussian, width tuned, against the best learned",
        "not tried",
        f"{tuned:.4f} with gamma = {width:g}, against {ours:.4f}",
        "the width alone reaches what was learned"
        if same
        else "the learned kernel is better than the three widths",
        None,
    )


def _plateau_row(learned, degrees):
    monomial = np.diag(learned["kl", "monomial"])
    falls = bool(np.all(np.diff(monomial) < 0))
    late = abs(monomial[-1] / monomial[-2] - 1) < 0.5 * abs(monomial[1] / monomial[0] - 1)
    return Row(
        "KL, monomial: error as both degrees rise",
        "falls, then saturates",
        ", ".join(f"{d}: {e:.4f}" for d, e in zip(degrees, monomial, strict=True)),
        "falls at every step" + (", less and less" if late else "") if falls else "does not fall",
        falls,
    )


def _figure(learned, plain, degrees):
    panels = {}
    for criterion, name in NAMES.items():
        lines = {
            f"{basis}, learned": (degrees, np.diag(learned[criterion, basis]))
            for basis in ("monomial", "gegenbauer")
        }
        for width in WIDTHS[1:]:
            lines[f"plain, γ = {width:g}"] = (degrees, [plain[criterion, width]] * len(degrees))
        panels[name] = lines
    return curves(panels, xlabel="degree of both polynomials", ylabel="MAE", marker="o")
