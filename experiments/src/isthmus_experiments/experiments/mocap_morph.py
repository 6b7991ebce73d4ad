"""MOCAP-morph: the walk between the walks of two people."""

import numpy as np
from scipy.signal import find_peaks

from isthmus.datasets import load_cmu_mocap
from isthmus.plotting import movement_strip
from isthmus.robotics import MovementPrimitive, correspondence, morph
from isthmus.robotics.movement.primitive import resample
from isthmus_experiments import Outcome, Picture, Row, experiment

SEQUENCES = {"first": "08_01", "second": "35_01"}
FRAME_SECONDS = 4 / 120
BONES = [
    *((0, 2), (2, 3), (3, 4), (4, 19), (3, 5), (5, 6), (6, 7), (3, 8), (8, 9), (9, 10)),
    *((0, 11), (11, 12), (12, 13), (13, 14), (0, 15), (15, 16), (16, 17), (17, 18)),
]
LEFT_FOOT, RIGHT_FOOT, HIPS = 13, 17, 0
WEIGHTS = (-0.5, 0.0, 0.5, 1.0, 1.5)


@experiment(
    "MOCAP-morph",
    document="[000] 5.2.1 on CMU motion capture",
    title="Morph between the walks of two people",
    published=(
        "Morphs between recorded movements look like movements, and weights beyond [0, 1] give "
        "caricatures; shown for writing. No values, and no recordings of walks."
    ),
    quick={"n_frames": 40},
    full={"n_frames": 120},
    needs_data=True,
)
def walks(settings, seed, progress):
    data = load_cmu_mocap()
    people = [_stride(data, name, settings["n_frames"]) for name in SEQUENCES.values()]
    progress(0.4, "morphs")
    blends = dict(zip(WEIGHTS, morph(people, [[1 - w, w] for w in WEIGHTS]), strict=True))
    tracks = [person.trajectory() for person in people]
    middle, plain = blends[0.5].trajectory(), sum(tracks) / 2
    shift = correspondence(*(t - t[0] for t in tracks)).shift
    back = max(
        np.abs(blends[w].trajectory() - t).max() for w, t in zip((0.0, 1.0), tracks, strict=True)
    )
    lengths = [_bone_lengths(t).mean(axis=0) for t in tracks]
    bones = [_bone_error(t, sum(lengths) / 2) for t in (*tracks, middle, plain)]
    swing = [_swing(t) for t in (*tracks, middle, *(blends[w].trajectory() for w in (-0.5, 1.5)))]
    seconds = [blends[w].duration for w in WEIGHTS]
    ordered = bool(np.all(np.diff(seconds) < 0) or np.all(np.diff(seconds) > 0))
    body = bool(bones[2] < 0.02 and bones[2] < bones[3])
    between = min(swing[:2]) <= swing[2] <= max(swing[:2])
    return Outcome(
        [
            Row(
                "largest distance of a morph with weight one from the recording (mm)",
                "the recording",
                back,
                "the recording" if back < 1e-9 else "not the recording",
                bool(back < 1e-9),
            ),
            Row(
                "mean deviation of the bones of the mean walk from the mean bones, relative; "
                "frames averaged without matching",
                "looks like a body",
                f"{bones[2]:.4f}; {bones[3]:.4f}",
                "bones keep their lengths within 2 %, and better than without matching"
                if body
                else "bones shrink, or as much as without matching",
                body,
            ),
            Row(
                "distance between the feet, largest, of both people and the mean walk (mm)",
                "a walk between both",
                ", ".join(f"{s:.0f}" for s in swing[:3]),
                "between both" if between else "not between both",
                bool(between),
            ),
            Row(
                f"duration for weights {', '.join(f'{w:g}' for w in WEIGHTS)} (s)",
                "caricatures exaggerate",
                ", ".join(f"{s:.2f}" for s in seconds),
                "goes on beyond both people" if ordered else "not in order",
                ordered,
            ),
            Row(
                "largest shift in time between the two walks, share of the stride",
                None,
                float(np.abs(shift).max()),
                "what matching in time takes out before forms are blended",
            ),
        ],
        [
            Picture(
                "strip",
                "One stride, seen from the side. Rows: caricature of the first person, the first, "
                "the mean, the second, caricature of the second.",
                lambda: movement_strip(
                    {f"{w:g}": _from_the_side(b.trajectory()) for w, b in blends.items()},
                    BONES,
                    n_frames=8,
                ),
            )
        ],
        [
            "Joint positions of one stride of each person (CMU motion capture, sequences "
            f"{' and '.join(SEQUENCES.values())}), the hips kept in place, from one widest step "
            "with the left foot ahead to the next.",
            "Positions are blended, not angles: nothing but the correspondence keeps bones from "
            "shrinking.",
        ],
    )


def _stride(data, sequence, n_frames):
    """One stride of a recording, walking along z with the hips in place."""
    track = data.Y[data.sequence == sequence].reshape(-1, 20, 3).astype(float)
    forward = track[-1, HIPS] - track[0, HIPS]
    angle = np.arctan2(forward[0], forward[2])
    c, s = np.cos(angle), np.sin(angle)
    track = track @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    track[:, :, [0, 2]] -= track[:, [HIPS]][:, :, [0, 2]]
    ahead = track[:, LEFT_FOOT, 2] - track[:, RIGHT_FOOT, 2]
    peaks, _ = find_peaks(ahead, prominence=0.5 * np.ptp(ahead))
    if len(peaks) < 2:
        raise ValueError(f"Sequence {sequence} holds no whole stride.")
    first, last = peaks[:2]
    part = resample(track[first : last + 1], np.linspace(0, 1, n_frames))
    return MovementPrimitive.from_trajectory(part, duration=(last - first) * FRAME_SECONDS)


def _bone_lengths(track):
    a, b = np.array(BONES).T
    return np.linalg.norm(track[:, a] - track[:, b], axis=2)


def _bone_error(track, lengths):
    return float(np.mean(np.abs(_bone_lengths(track) / lengths - 1)))


def _swing(track):
    return float(np.linalg.norm(track[:, LEFT_FOOT] - track[:, RIGHT_FOOT], axis=1).max())


def _from_the_side(track):
    return track[:, :, [2, 1]]
