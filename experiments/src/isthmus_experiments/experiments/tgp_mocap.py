"""TGP-mocap: human poses from image features by twin processes."""

import numpy as np
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor

from isthmus.datasets import load_cmu_mocap
from isthmus.plotting import error_bars
from isthmus.regression import Selection
from isthmus.structured import TwinGaussianProcess
from isthmus_experiments import Covers, Outcome, Picture, Row, draws, experiment
from isthmus_experiments.experiments._kernel_ridge import kernel_ridge
from isthmus_experiments.experiments._twin import (
    NARROW_POWERS,
    NO_KERNEL,
    RIDGE,
    attempt,
    gain,
    learner,
)

CAMERAS = {"all": slice(0, 810), "1": slice(0, 270), "2": slice(270, 540), "3": slice(540, 810)}
# A line of the table: criterion, basis, degrees; errors without and with the map by cameras, mm.
VARIANTS = {
    "KL, powers": ("kl", "monomial", (1, 11)),
    "KL, Gegenbauer": ("kl", "gegenbauer", (1, 5)),
    "HSIC, powers": ("hsic", "monomial", (11, 11)),
    "HSIC, Gegenbauer": ("hsic", "gegenbauer", (11, 11)),
}
HUMANEVA = {
    "KL, powers": {"all": (45.17, 42.88), "1": (34.29, 33.43), "2": (31.99, 31.58),
                   "3": (30.93, 30.49)},
    "KL, Gegenbauer": {"all": (25.40, 0.011), "1": (44.42, 9.63), "2": (44.68, 12.30),
                       "3": (44.35, 0.01)},
    "HSIC, powers": {"all": (172.66, 172.59), "1": (172.66, 173.88), "2": (172.66, 173.88),
                     "3": (172.66, 172.59)},
    "HSIC, Gegenbauer": {"all": (172.66, 172.29), "1": (172.66, 172.28), "2": (172.66, 172.27),
                         "3": (172.66, 172.28)},
}  # fmt: skip
# Mean gains over the actions of each of three people, per cent (tables A.2 to A.5).
PEOPLE = {
    "KL, powers": {"all": (5.74, 5.99, 5.27), "1": (2.49, 2.90, 2.59), "2": (2.09, 1.65, 1.23),
                   "3": (2.44, 1.77, 0.67)},
    "HSIC, Gegenbauer": {"all": (0.08, 0.08, 0.09), "1": (0.08, 0.08, 0.09),
                         "2": (0.24, 0.34, 0.21), "3": (0.23, 0.33, 0.20)},
    "HSIC, powers": {"all": (0.08, 0.08, 0.09), "1": (0.08, 0.11, 0.09), "2": (0.08, 0.11, 0.09),
                     "3": (0.04, 0.06, 0.04)},
    "KL, Gegenbauer": {"all": (99.94, 99.96, 99.96), "1": (76.6, 78.0, 77.8),
                       "2": (76.4, 74.0, 64.8), "3": (99.96, 99.98, 99.97)},
}  # fmt: skip
WHY = "the recordings need a registration; others of the same five actions stand in"


@experiment(
    "TGP-mocap",
    document="[003] 4.4, tables 4.5, 4.6, A.2, A.3, A.4 and A.5, on other recordings",
    title="Image features to poses (CMU in place of HumanEva) by twin processes",
    published=(
        "HumanEva-I, gradient histograms of three cameras to 60 joint coordinates in mm, KL: "
        "45.17 to 42.88 with learned powers (1, 11) for all cameras, 34.29 to 33.43, 31.99 to "
        "31.58 and 30.93 to 30.49 for single ones. HSIC: 172.66 for every set of cameras, gains "
        "below 0.3 %. Gegenbauer polynomials: 25.40 to 0.011. Five actions of three people (one "
        "lacks one), and the mean of each; one model is trained on all of them."
    ),
    covers=[
        Covers("003 table 4.5", way="other data", why=WHY),
        Covers("003 table 4.6", 8, way="other data", why=WHY),
        *(Covers(f"003 table A.{k}", way="other data", why=WHY) for k in (2, 3, 4, 5)),
    ],
    readings={
        "HSIC, powers": (
            "the published errors of this criterion are 172.66 whatever the cameras, so there it "
            "answers the same pose everywhere and powers can change nothing; here it answers by "
            "its inputs, and powers act as a narrower width, for better or worse"
        ),
        "KL, powers": NARROW_POWERS,
    },
    in_short=(
        "other recordings; powers of a Gaussian are narrower Gaussians: they repair a width "
        "that is too wide, and ours is tuned"
    ),
    quick={"n_train": 150, "n_test": 60, "max_rows": 60, "n_cameras": 1},
    full={"n_train": 1400, "n_test": 560, "max_rows": 500, "n_cameras": 4},
    draws={"n_cameras": 4},
    needs_data=True,
)
def mocap(settings, seed, progress):
    data = load_cmu_mocap()
    train, test = _halves(data.sequence, settings, np.random.default_rng(seed))
    cells = _cells(data)[test]
    joints = np.float64(data.Y).reshape(-1, 20, 3)
    Y = (joints - joints[:, :1]).reshape(len(joints), -1)  # relative to the hip
    # Rows are in order, so that folds in one piece keep sequences together.
    few = {"cv": Selection(KFold(3), max_rows=settings["max_rows"])}
    names = list(CAMERAS)

    def draw(i):
        X = np.float64(data.X)[:, CAMERAS[names[i]]]
        found = _poses(X[train], Y[train], X[test], few)
        return {name: _errors(Z, Y[test], cells) for name, Z in found.items()}

    done = draws(draw, settings["n_cameras"], progress)
    errors = dict(zip(names, done, strict=False))
    actions = [str(name) for name in data.action_names]
    rows = [row for cameras, e in errors.items() for row in _camera_rows(cameras, e, actions)]
    overall = {c: {n: v[0] for n, v in e.items() if v is not None} for c, e in errors.items()}
    rows.append(_not_credible(overall))
    return Outcome(
        rows,
        [
            Picture(
                "errors",
                "Mean distance of a joint, mm.",
                lambda: error_bars({f"camera {c}, mm": e for c, e in overall.items()}),
            )
        ],
        [
            "HumanEva needs a registration. The recordings of the CMU data base have the same "
            "actions; their features are gradient histograms of drawn silhouettes, and are clean. "
            "Joints are taken relative to the hip. As is usual with HumanEva, the first half of "
            "every recording is for training and the second for testing. There are three people "
            "for each action (two who throw), not always the same: the first, second and third "
            "of each action stand for the three of the document. Sizes are not comparable.",
            "A published error of 0.011 mm is a hundred times below what motion capture resolves; "
            "test targets must have entered the optimisation, or the error was scaled. Here a "
            "test holds that predictions do not change with the test targets.",
        ],
    )


def _halves(sequence, settings, rng):
    """Rows of the first and of the second half of every recording, as many as asked for."""
    late = np.zeros(len(sequence), dtype=bool)
    for name in np.unique(sequence):
        rows = np.flatnonzero(sequence == name)
        late[rows[len(rows) // 2 :]] = True
    return tuple(
        np.sort(rng.permutation(np.flatnonzero(half))[: settings[size]])
        for half, size in ((~late, "n_train"), (late, "n_test"))
    )


def _cells(data):
    """The cell of every row in a table of three people (of each action) by five actions."""
    person = np.empty(len(data.action), dtype=int)
    for action in range(5):
        own = data.action == action
        person[own] = np.searchsorted(np.unique(data.subject[own]), data.subject[own])
    return 5 * person + data.action


def _errors(Z, truth, cells):
    """Mean distance of a joint over all rows, then by person and action; None if not computed."""
    if Z is None:
        return None
    away = np.linalg.norm((Z - truth).reshape(len(Z), -1, 3), axis=2).mean(axis=1)
    parts = [away[cells == k] for k in range(15)]
    return [float(away.mean()), *(float(p.mean()) if len(p) else None for p in parts)]


def _poses(X, Y, new, few):
    found = {
        "mean pose": np.repeat(Y.mean(axis=0)[None], len(new), axis=0),
        "1-nearest neighbour": KNeighborsRegressor(1).fit(X, Y).predict(new),
        RIDGE: kernel_ridge().fit(X, Y).predict(new),
    }
    for criterion in ("kl", "hsic"):
        plain = TwinGaussianProcess(criterion=criterion, **few)
        found[f"{criterion.upper()}, no map"] = plain.fit(X, Y).predict(new)
    for name, (criterion, basis, degrees) in VARIANTS.items():
        model = TwinGaussianProcess(criterion=criterion, learner=learner(basis, degrees), **few)
        found[name] = attempt(model, X, Y, new)
    return found


def _camera_rows(cameras, errors, actions):
    ours, ridge = errors["KL, no map"][0], errors[RIDGE][0]
    base = HUMANEVA["KL, powers"][cameras][0]
    yield Row(
        f"camera {cameras}: joint error, twin process and kernel ridge",
        f"{base:g}; not tried",
        f"{ours:.1f}; {ridge:.1f} mm",
        "the twin process is better" if ours < ridge else "kernel ridge is better",
        None,
    )
    for name, (criterion, _, degrees) in VARIANTS.items():
        yield from _gain_rows(cameras, name, criterion, degrees, errors, actions)


def _gain_rows(cameras, name, criterion, degrees, errors, actions):
    before, after = HUMANEVA[name][cameras]
    text = f"camera {cameras}: gain by {name} {degrees}, widths tuned with them"
    published = f"{gain(before, after):.1f} % ({before:g} to {after:g})"
    plain, mapped = errors[f"{criterion.upper()}, no map"], errors[name]
    if mapped is None:
        yield Row(text, published, "no process", NO_KERNEL, False)
        return
    yield Row(
        text,
        published,
        f"{gain(plain[0], mapped[0]):.1f} % ({plain[0]:.1f} to {mapped[0]:.1f})",
        "a gain" if mapped[0] < plain[0] else "no gain over a plain process of the best width",
        bool(mapped[0] < plain[0]) if after < before else bool(mapped[0] >= plain[0]),
    )
    for person in range(3):
        yield _person_row(cameras, name, person, plain[1:], mapped[1:], actions)


def _person_row(cameras, name, person, plain, mapped, actions):
    """Gains of one person, action by action, and their mean, as in the tables of the appendix."""
    own = slice(5 * person, 5 * person + 5)
    gains = {
        a: gain(p, m)
        for a, p, m in zip(actions, plain[own], mapped[own], strict=True)
        if p is not None and m is not None
    }
    mean = float(np.mean(list(gains.values()))) if gains else np.nan
    is_kl = name.startswith("KL")
    agrees = mean > 0 if is_kl else abs(mean) <= 1
    words = ("a gain in the mean", "no gain in the mean")
    return Row(
        f"camera {cameras}: gain by {name}, person {person + 1}, mean and by action",
        f"{PEOPLE[name][cameras][person]:g} %",
        f"{mean:.1f} %; " + ", ".join(f"{a} {g:+.1f} %" for a, g in gains.items()),
        words[0 if mean > 0 else 1]
        if is_kl
        else ("within one per cent, as published" if agrees else "more than one per cent"),
        bool(agrees) if gains else None,
    )


def _not_credible(errors):
    smallest = min(min(e.values()) for e in errors.values())
    return Row(
        "smallest error of all",
        "0.011 mm",
        f"{smallest:.1f} mm",
        "the published value is far below what motion capture resolves and is not credible",
        smallest < 1,
    )
