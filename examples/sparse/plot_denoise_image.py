"""
Removing noise and filling holes in a photograph
================================================

Patches of a picture have codes with few non-zeros over a good dictionary; noise does not. So a
pursuit that stops at the size of the noise leaves the noise behind, and one that sees half of the
pixels of a patch knows the other half. The dictionary is learned by K-SVD from the damaged picture
itself: its atoms are the edges and stripes of this picture, where fixed waves fit any.
"""

import numpy as np
from sklearn.datasets import load_sample_image

from isthmus.plotting import image_grid
from isthmus.sparse import KSVD, dct_dictionary, denoise_image, inpaint_image

truth = load_sample_image("china.jpg").mean(axis=2)[124:220, 246:342]
rng = np.random.default_rng(0)


def titled(name, image):
    return f"{name} {10 * np.log10(255**2 / np.mean((image - truth) ** 2)):.1f} dB"


# %%
# Noise of standard deviation 20
# ------------------------------
#
# Above: the noisy picture, freed of noise by cosine waves, by a learned dictionary, and the
# truth. Below: the same with half of the pixels gone; a missing pixel was first filled by the
# mean of all.

noisy = truth + 20 * rng.normal(size=truth.shape)
missing = rng.random(truth.shape) < 0.5
holes = np.where(missing, np.nan, truth)

rows, captions = [], []
for damaged, repair, options in (
    (noisy, denoise_image, {"sigma": 20}),
    (holes, inpaint_image, {}),
):
    given = np.where(np.isnan(damaged), np.nanmean(damaged), damaged)
    waves = repair(damaged, dictionary="dct", **options)
    learned = repair(damaged, dictionary="ksvd", random_state=0, **options)
    rows.append([given, waves, learned, truth])
    captions.append([titled("given", given), titled("waves", waves), titled("K-SVD", learned)])
    print(", ".join(captions[-1]))

figure = image_grid([[image / 255 for image in row] for row in rows], size=2.1)
for axes, caption in zip(np.reshape(figure.axes, (2, 4)), captions, strict=True):
    for ax, words in zip(axes, [*caption, "truth"], strict=True):
        ax.set_title(words, fontsize=11)

# %%
# What was learned
# ----------------
#
# Thirty-two waves and the thirty-two most used atoms of a dictionary learned from the patches of
# the clean picture.

windows = np.lib.stride_tricks.sliding_window_view(truth, (8, 8)).reshape(-1, 64)
patches = windows[rng.choice(len(windows), 3000, replace=False)]
patches = patches - patches.mean(axis=1, keepdims=True)
model = KSVD(256, n_nonzero=6, max_iter=6, init=dct_dictionary(8, 256), random_state=0)
used = np.count_nonzero(model.fit_transform(patches), axis=0)
learned = model.components_[np.argsort(-used)[:32]]
waves = dct_dictionary(8, 256)[1:][:: 255 // 32][:32]
tiles = [(atom / np.abs(atom).max() + 1).reshape(8, 8) / 2 for atom in [*waves, *learned]]
atoms = image_grid(
    [tiles[i : i + 16] for i in range(0, 64, 16)],
    row_titles=["waves", "", "learned", ""],
    size=0.55,
)
