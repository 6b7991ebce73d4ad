"""
A robot arm imitates a person
=============================

A camera sees a person, and a robot arm of seven joints takes the same posture. It has learned this
from forty pairs of a picture and a posture, and from further pictures without postures.
"""

import numpy as np

from isthmus.datasets import make_imitation_scenes
from isthmus.plotting import imitation_strip, style
from isthmus.reduction import compress
from isthmus.robotics import ImitationModel, PoseFeatures, pa10

arm = pa10()
frames = make_imitation_scenes(80, random_state=0)
pairs = make_imitation_scenes(40, random_state=1)

# %%
# What the features see
# ---------------------
#
# The outline of the figure, by points that are spread evenly near its convex hull, and the pixels
# that have the colour of skin. Histograms of both do not change when the person stands
# elsewhere.

features = PoseFeatures(
    40, background=frames.background, skin_pixels=frames.skin_pixels, max_contexts=200
).fit(frames.images)

with style():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(7.2, 5.0), layout="constrained")
    for i, (left, middle, right) in enumerate(axes):
        view = features.view(frames.images[i])
        left.imshow(frames.images[i])
        middle.imshow(view.edges, cmap="Greys")
        middle.plot(*view.outline.T, "o", ms=5, color="#D55E00")
        right.imshow(view.skin, cmap="Greys")
    for ax, title in zip(axes[0], ("picture", "edges and outline", "skin"), strict=True):
        ax.set_title(title)
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
figure

# %%
# Learning and following
# ----------------------
#
# A third of the patterns is enough for the same predictions. The movement below is new.

model = ImitationModel(arm, features=features)
model.fit(pairs.images, pairs.postures, unlabelled=frames.images)
short = compress(model, 27)

movement = make_imitation_scenes(15, motion="raise", random_state=7)
followed = short.predict(movement.images)
print(f"{short.n_points_} of {len(frames.images)} patterns, rank {model.rank_}")


def as_seen(postures):
    """Places of shoulder, elbow, wrist and hand, as the camera would see them."""
    return arm.positions(postures)[:, [0, 2, 4, 6]] @ movement.camera.T


shown = np.arange(0, 8)
imitation_strip(
    movement.images[shown],
    {"robot": as_seen(followed[shown]), "true posture": as_seen(movement.postures[shown])},
)

# %%
# Unknown people
# --------------
#
# Somebody whose skin the model has never seen is not imitated at all: the prediction is the neutral
# posture, and the model says so.

stranger = make_imitation_scenes(1, skin=(0.30, 0.45, 0.30), random_state=3)
print("known:", model.is_known(stranger.images)[0])
print("neutral:", np.allclose(model.predict(stranger.images), model.neutral_))

# sphinx_gallery_thumbnail_number = 2
