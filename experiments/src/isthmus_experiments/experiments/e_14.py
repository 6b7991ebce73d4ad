"""E-14: writing morphed, re-ordered and handed to an arm."""

import numpy as np

from isthmus.plotting import arm_motion, curves
from isthmus.robotics import concatenate, follow, key_events, morph, segment
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._writing import (
    ARM,
    FIRST,
    SECOND,
    STAND_IN,
    first_posture,
    letter,
    transfer,
    word,
)

SMOOTHNESS = (0.1, 0.01)
WEIGHTS = (-0.5, 0.0, 0.5, 1.0, 1.5)
LIMIT = 1e-5  # of the hand, in millimetres: 1e-8 metres


@experiment(
    "E-14",
    document="[000] 5.4, figures 5.4-5.6",
    title="Writing transfer: two writers, their morphs and an arm that writes",
    published=(
        "Two people write ICAR, recorded with 10 markers. Morphs, caricatures and the re-ordered "
        "IACR are shown and executed on a PA-10 with smoothness 0.1 and 0.01: the smaller "
        "imitates the posture better, with discontinuous joint paths. No values."
    ),
    covers=[
        Covers(
            "000 figure 5.5",
            way="other data",
            why="the recorded writing is not available; generated writing stands in",
        ),
        Covers(
            "000 figure 5.6",
            way="other data",
            why="the recorded writing is not available; generated writing stands in",
        ),
    ],
    quick={"n_steps": 16},
    full={"n_steps": 50},
)
def writing(settings, seed, progress):
    n = settings["n_steps"]
    lines = {w: word(w, "ICAR", n) for w in (FIRST, SECOND)}
    progress(0.0, "letters")
    letters = _letters_row(lines[SECOND], n)
    progress(0.1, "morphs")
    blends = dict(zip(WEIGHTS, _morphs(n, "ICAR"), strict=True))
    reordered = _morphs(n, "IACR")[2]
    moved = {}
    middle = blends[0.5]
    task = transfer(middle, (FIRST.swivel + SECOND.swivel) / 2)
    first = first_posture(task)
    for i, a in enumerate(SMOOTHNESS):
        progress(0.3 + 0.2 * i, f"arm, smoothness {a:g}")
        moved[a] = follow(
            ARM, task.path, posture=task.posture, wanted=task.normals, smoothness=a, start=first
        )
    progress(0.7, "arm, whole path")
    whole = follow(
        ARM,
        task.path,
        posture=task.posture,
        wanted=task.normals,
        smoothness=SMOOTHNESS[0],
        start=first,
        solver="whole",
    )
    return Outcome(
        [
            letters,
            _unit_row(lines, blends),
            _continuity_row("morph of both writers", middle, lines),
            _continuity_row("letters of the morph re-ordered to IACR", reordered, lines),
            _slant_row(blends, n),
            *(_tracking_row(a, path) for a, path in moved.items()),
            _trade_row(moved),
            _whole_row(moved[SMOOTHNESS[0]], whole),
        ],
        [
            Picture(
                "words",
                "Both writers (0 and 1), their mean, and the caricatures of each.",
                lambda: curves(
                    {f"{w:g}": {"": blend.T} for w, blend in blends.items()}, xlabel="mm"
                ),
            ),
            Picture(
                "arm",
                "The arm writes the mean of both writers; the later, the darker.",
                lambda: arm_motion(
                    {f"smoothness {a:g}": ARM.positions(p.q) for a, p in moved.items()},
                    path=task.path,
                    view=(20.0, -160.0),
                ),
            ),
            Picture(
                "joints",
                "Largest movement of a joint from step to step, in radians.",
                lambda: curves(
                    {"": {f"smoothness {a:g}": _steps(p) for a, p in moved.items()}},
                    xlabel="step",
                ),
            ),
        ],
        [
            STAND_IN,
            "Segmentation by key events and templates is our design: the document cites another "
            "paper. The reference point of the elbow's plane is the start of the line as "
            "published; the normal of the finger's plane, which is 0/0 there, is not used.",
        ],
    )


def _morphs(n, text):
    """Each letter morphed by itself, then chained: one word for each weight of the second."""
    weights = [[1 - w, w] for w in WEIGHTS]
    letters = [morph([letter(FIRST, c, n), letter(SECOND, c, n)], weights) for c in text]
    return [concatenate(blends).trajectory() for blends in zip(*letters, strict=True)]


def _letters_row(line, n):
    """Letters of the second writer, found with templates of the first."""
    found = segment(line, [letter(FIRST, c, n) for c in "ICAR"], events=key_events(line))
    text = "".join("ICAR"[s.template] for s in found)
    return Row(
        "ICAR of the second writer cut by templates of the first",
        "letters found",
        text,
        "all letters found" if text == "ICAR" else "read as other letters",
        text == "ICAR",
    )


def _unit_row(lines, blends):
    away = max(
        np.abs(blends[w] - line).max() for w, line in zip((0.0, 1.0), lines.values(), strict=True)
    )
    return Row(
        "largest distance of a morph with weight one from its prototype (mm)",
        None,
        away,
        "the prototype" if away < 1e-9 else "not the prototype",
        bool(away < 1e-9),
    )


def _continuity_row(name, line, lines):
    largest = max(_stride(other) for other in lines.values())
    ratio = _stride(line) / largest
    return Row(
        f"{name}: largest step over that of the writers",
        "continuous",
        ratio,
        "no jump" if ratio < 1.2 else "a jump",
        bool(ratio < 1.2),
    )


def _slant_row(blends, n):
    """Slant of the down stroke of I, measured on morphs and caricatures."""
    slants = []
    for line in blends.values():
        part = line[:n]
        top = int(np.argmax(part[:, 1]))
        stroke = part[top:][part[top:, 1] > 0.3 * part[top, 1]]
        slants.append(np.polyfit(stroke[:, 1], stroke[:, 0], 1)[0])
    rising = bool(np.all(np.diff(slants) > 0))
    return Row(
        f"slant of I for weights {', '.join(f'{w:g}' for w in WEIGHTS)}",
        "caricatures exaggerate",
        ", ".join(f"{s:.2f}" for s in slants),
        "rises with the weight, beyond both writers outside of [0, 1]"
        if rising
        else "does not rise with the weight",
        rising,
    )


def _tracking_row(a, path):
    away = float(path.position_error.max())
    good = away < LIMIT and bool(path.reached.all())
    return Row(
        f"smoothness {a:g}: largest distance of the hand from its path (mm)",
        "followed",
        away,
        "exact" if good else "the hand leaves its path",
        good,
    )


def _trade_row(moved):
    rough, fine = (moved[a] for a in SMOOTHNESS)
    errors = [p.posture_error.mean() for p in (rough, fine)]
    steps = [float(np.abs(np.diff(p.q, axis=0)).max()) for p in (rough, fine)]
    holds = errors[1] < errors[0] and steps[1] > steps[0]
    return Row(
        "posture error and largest joint step (rad), smoothness 0.1 and 0.01",
        "smaller imitates better, less smooth",
        f"{errors[0]:.4f}, {steps[0]:.3f} and {errors[1]:.4f}, {steps[1]:.3f}",
        "the published trade-off" if holds else "not the published trade-off",
        bool(holds),
    )


def _whole_row(steps, whole):
    return Row(
        "smoothness 0.1: objective of the whole path at once over step by step",
        None,
        whole.objective / steps.objective,
        "what a controller that sees ahead would gain",
    )


def _steps(path):
    moves = np.abs(np.diff(path.q, axis=0)).max(axis=1)
    return np.arange(len(moves)), moves


def _stride(line):
    return np.linalg.norm(np.diff(line, axis=0), axis=1).max()
