"""E-15: what imitation of a posture costs in dexterity."""

import numpy as np

from isthmus.plotting import curves
from isthmus.robotics import Manipulability, dexterity, follow
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._writing import (
    ARM,
    FIRST,
    STAND_IN,
    first_posture,
    transfer,
    word,
)

SMOOTHNESS = 0.01
IMITATION, STANDARD = "imitation", "standard controller"
MEASURES = {
    "distance from the limits": "limit_distance",
    "smallest singular value (mm)": "singularity",
    "condition number": "condition",
    "joint speed (rad per step)": "joint_speed",
}


@experiment(
    "E-15",
    document="[000] 5.5, figures 5.7-5.10",
    title="Dexterity: imitated posture against a standard controller",
    published=(
        "Curves over the written word: the standard controller is farther from the middle of the "
        "joint ranges, but has a larger and steadier smallest singular value, an almost constant "
        "condition number and lower joint speed; imitation passes near singular postures with "
        "peaks of joint speed there. No values."
    ),
    covers=[
        Covers(
            "000 figure 5.7",
            way="other data",
            why="writing and the maker's controller are not available; generated "
            "writing and a stand-in controller",
        ),
        Covers(
            "000 figure 5.8",
            way="other data",
            why="writing and the maker's controller are not available; generated "
            "writing and a stand-in controller",
        ),
        Covers(
            "000 figure 5.9",
            way="other data",
            why="writing and the maker's controller are not available; generated "
            "writing and a stand-in controller",
        ),
        Covers(
            "000 figure 5.10",
            way="other data",
            why="writing and the maker's controller are not available; generated "
            "writing and a stand-in controller",
        ),
    ],
    in_short="the order depends on how the arm is mounted, which is not stated",
    quick={"n_steps": 12},
    full={"n_steps": 50},
)
def compared(settings, seed, progress):
    task = transfer(word(FIRST, "ICAR", settings["n_steps"]), FIRST.swivel)
    first = first_posture(task)
    progress(0.1, IMITATION)
    imitation = follow(
        ARM,
        task.path,
        posture=task.posture,
        wanted=task.normals,
        smoothness=SMOOTHNESS,
        start=first,
    )
    progress(0.5, STANDARD)
    standard = follow(
        ARM,
        task.path,
        posture=Manipulability(ARM),
        wanted=1.0,
        smoothness=SMOOTHNESS,
        start=first,
        max_iter=3,  # a controller takes few steps a time, and goes on at the next
    )
    settled = len(task.path) // 8  # both come from the same posture
    measured = {
        name: dexterity(ARM, path.q)
        for name, path in ((IMITATION, imitation), (STANDARD, standard))
    }
    curve = {
        title: {name: getattr(m, field)[settled:] for name, m in measured.items()}
        for title, field in MEASURES.items()
    }
    low, sigma, kappa, speed = curve.values()
    exact = max(imitation.position_error.max(), standard.position_error.max())
    dip = np.corrcoef(sigma[IMITATION], speed[IMITATION])[0, 1]
    return Outcome(
        [
            _row("mean distance from the middle of the ranges", low, np.mean, np.greater),
            _row("least of the smallest singular value", sigma, np.min, np.greater),
            _row("spread of the smallest singular value", sigma, np.std, np.less),
            _row("spread of the condition number", kappa, np.std, np.less),
            _row("mean joint speed", speed, np.mean, np.less),
            Row(
                "imitation: correlation of singular value and joint speed",
                "speed peaks where the singular value dips",
                dip,
                "fast where it is small" if dip < 0 else "not faster where it is small",
                bool(dip < 0),
            ),
            Row(
                "largest distance of the hand from its path, both (mm)",
                "followed",
                exact,
                "exact" if exact < 1e-5 else "the hand leaves its path",
                bool(exact < 1e-5),
            ),
        ],
        [
            Picture(
                "measures",
                "Measures of dexterity over the word.",
                lambda: curves(
                    {
                        title: {name: (np.arange(len(y)), y) for name, y in by.items()}
                        for title, by in curve.items()
                    },
                    xlabel="step",
                ),
            )
        ],
        [
            STAND_IN,
            "The maker's controller is not available either: one that maximises manipulability "
            "in the null space stands in. The first eighth of the path is left out, where both "
            "leave the same posture.",
            "Which of the two is nearer to the middle of the joint ranges depends on how the arm "
            "is mounted and from which side its first joints reach the elbow. Neither is stated; "
            "begun with the first joint turned half around, the order was the published one.",
            "The distance from the limits is taken from the middle of each range; the printed "
            "formula takes half of the width, which is right only for ranges that begin at 0.",
        ],
    )


def _row(quantity, by, summary, compare):
    """What the published curves say of the standard controller against imitation."""
    standard, imitation = (float(summary(by[name])) for name in (STANDARD, IMITATION))
    holds = bool(compare(standard, imitation))
    order = "larger" if compare is np.greater else "smaller"
    return Row(
        f"{quantity}, standard controller and imitation",
        f"standard controller {order}",
        f"{standard:.4g} and {imitation:.4g}",
        "in the published order"
        if holds
        else "in the other order: it depends on how the arm is mounted, which is not stated",
        holds,
    )
