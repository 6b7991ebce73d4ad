"""A grey photograph with 256 levels, and the measure by which pictures are compared."""

import numpy as np

from isthmus.plotting import image_grid
from isthmus_experiments.experiments._natural_images import natural_images


def photograph(size, seed):
    """A square cut out of the middle of the first image, values in [0, 255], and what it is."""
    images, words = natural_images(np.random.default_rng(seed))
    image = images[0]
    if image.min() < 0 or image.max() <= 1:  # drawn pictures have values of their own
        image = 255 * (image - image.min()) / np.ptp(image)
    top, left = ((n - size) // 2 for n in image.shape)
    return image[top : top + size, left : left + size].copy(), words


def psnr(image, truth):
    """Peak signal to noise ratio in dB, for 256 grey levels."""
    return float(10 * np.log10(255**2 / np.mean((image - truth) ** 2)))


def picture_row(pictures, db):
    """A figure of pictures side by side, each with its ratio in dB where there is one."""
    titles = [f"{name} {db[name]:.1f} dB" if name in db else name for name in pictures]
    return image_grid([[image / 255 for image in pictures.values()]], titles=titles, size=2.2)
