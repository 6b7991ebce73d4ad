"""
One manifold predicts any column from the others
================================================

Unsupervised kernel regression finds a place on a curve or sheet for every row, and a row for every
place. On a noisy spiral one coordinate is enough: the learned curve runs through the noise, and new
points go to the nearest point of it. On digits two coordinates are learned, and with them a digit
of which only the upper half is seen is completed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from isthmus.datasets import distance_to_manifold, make_noisy_spiral
from isthmus.manifold import UnsupervisedKernelRegression
from isthmus.plotting import PALETTE, style

# %%
# A curve through noise. Leaving out each row and its four nearest neighbours, and not the row
# alone, keeps the curve from following the noise.

Y, t = make_noisy_spiral(250, random_state=2)
model = UnsupervisedKernelRegression(1, degree=2, validation=5, random_state=0).fit(Y)
new = make_noisy_spiral(40, spacing="random", random_state=3)[0]
nearest = model.reconstruct(new)
for name, points in (("new points", new), ("their projections", nearest)):
    print(f"{name}: {distance_to_manifold(points, 'spiral').mean():.3f} from the true spiral")

# %%
# Half of each digit is erased; the known pixels come back unchanged, the others are recalled.

digits = load_digits().data
train, seen = digits[:500], digits[1500:1506].copy()
sheet = UnsupervisedKernelRegression(2, random_state=0).fit(train)
halved = seen.copy()
halved[:, 32:] = np.nan
recalled = sheet.complete(halved)

with style():
    figure = plt.figure(figsize=(11, 4.8), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1, 1.25))
    ax = left.subplots()
    ax.scatter(*Y.T, s=9, color="0.75", label="rows")
    places = np.linspace(model.embedding_.min(), model.embedding_.max(), 600)[:, None]
    ax.plot(*model.inverse_transform(places).T, color=PALETTE[0], lw=2, label="learned curve")
    for a, b in zip(new, nearest, strict=True):
        ax.plot(*zip(a, b, strict=True), color=PALETTE[1], lw=1)
    ax.scatter(*new.T, s=14, color=PALETTE[1], label="new rows and their way")
    ax.set(title="One coordinate: place along the curve", aspect="equal", xticks=[], yticks=[])
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=3, fontsize=8)
    panels = right.subplots(3, 6)
    shown = {"seen": halved, "recalled": recalled, "true": seen}
    for row, (name, images) in zip(panels, shown.items(), strict=True):
        for panel, image in zip(row, images, strict=True):
            panel.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
            panel.set(xticks=[], yticks=[])
            panel.set_facecolor("0.9")
        row[0].set_ylabel(name, rotation=0, ha="right", va="center")
    right.suptitle("Two coordinates: the lower half recalled from the upper")
plt.show()
