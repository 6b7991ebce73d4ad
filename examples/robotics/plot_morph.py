"""
Blending two movements, and exaggerating them
=============================================

Two people wave. The second does it with the elbow higher, more widely and in another rhythm.
Every frame of one is matched with one of the other; then places and times are blended. The row
in the middle is neither of them and still a wave; rows outside exaggerate what is special about one
of them. The curves show how far out the hand is: the morph waves about as widely as they do and
between their rhythms, while in the plain mean of the frames the waves of both partly cancel.
"""

import numpy as np

from isthmus.plotting import curves, movement_strip
from isthmus.robotics import morph

SHOULDER, NECK, HEAD, HIPS = (0.0, 0.0), (-20.0, 5.0), (-20.0, 32.0), (-20.0, -50.0)


def waver(height, swing, rhythm, n=120):
    """Shoulder, elbow, hand and body of someone who waves, from the front."""
    s = np.linspace(0, 1, n)
    s = s + rhythm * np.sin(2 * np.pi * s)
    raised = np.sin(np.pi * np.clip(1.6 * s, 0, 0.5)) * np.sin(
        np.pi * np.clip(1.6 * (1 - s), 0, 0.5)
    )
    upper = np.radians(-80 + (height + 80) * raised)
    fore = upper + np.radians(10 + 75 * raised) + swing * raised * np.sin(8 * np.pi * s)
    elbow = 30 * np.c_[np.cos(upper), np.sin(upper)]
    hand = elbow + 28 * np.c_[np.cos(fore), np.sin(fore)]
    still = np.tile([HIPS, NECK, HEAD, SHOULDER], (n, 1, 1))
    return np.concatenate([still, elbow[:, None], hand[:, None]], axis=1)


small, wide = waver(-10, 0.7, 0.045), waver(10, 0.9, -0.045)
weights = (-0.5, 0.0, 0.5, 1.0, 1.5)
blends = {
    w: m.trajectory()
    for w, m in zip(weights, morph([small, wide], [[1 - w, w] for w in weights]), strict=True)
}

# %%
# Time runs to the right.
bones = [(0, 1), (1, 2), (1, 3), (3, 4), (4, 5)]
names = (
    "caricature of the first",
    "the first",
    "between",
    "the second",
    "caricature of the second",
)
figure = movement_strip(dict(zip(names, blends.values(), strict=True)), bones, n_frames=9)

# %%
# How far out the hand is.
time = np.linspace(0, 1, 120)
second = curves(
    {
        "people and morph": {
            "the first": (time, small[:, 5, 0]),
            "the second": (time, wide[:, 5, 0]),
            "between": (time, blends[0.5][:, 5, 0]),
        },
        "plain mean of frames": {
            "the first": (time, small[:, 5, 0]),
            "the second": (time, wide[:, 5, 0]),
            "between": (time, (small + wide)[:, 5, 0] / 2),
        },
    },
    xlabel="time",
    ylabel="place of the hand, sideways",
)
