"""Whitened patches of natural images, and how well a Gabor function fits an atom."""

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.optimize import least_squares
from sklearn.feature_extraction.image import extract_patches_2d


def natural_images(rng):
    """Grey images and what they are.

    Two photographs come with scikit-learn, for which a reader of JPEG files (Pillow) must be
    there. Where it is not, pictures of overlapping discs of random size and grey stand in: they
    share the edges and the spectrum of natural scenes.
    """
    try:
        from sklearn.datasets import load_sample_images

        images = [image.mean(axis=2) for image in load_sample_images().images]
        return images, "the two photographs that come with scikit-learn"
    except ImportError:
        return [dead_leaves(400, rng) for _ in range(2)], "drawn pictures of overlapping discs"


def dead_leaves(size, rng, n_discs=2500):
    """Overlapping discs, their radii with density falling as the third power."""
    image = np.zeros((size, size))
    rows, columns = np.mgrid[:size, :size]
    for _ in range(n_discs):
        radius = 2.0 / np.sqrt(rng.uniform(4.0 / (size / 3) ** 2, 1.0))
        y, x = rng.uniform(-0.1 * size, 1.1 * size, size=2)
        top, left = (int(max(0, np.floor(c - radius))) for c in (y, x))
        bottom, right = (int(min(size, np.ceil(c + radius))) for c in (y, x))
        box = np.s_[top : max(top, bottom), left : max(left, right)]
        inside = (rows[box] - y) ** 2 + (columns[box] - x) ** 2 < radius**2
        image[box][inside] = rng.normal()
    return gaussian_filter(image, 0.7)


def whitened(image, *, cut=0.39):
    """The image with its spectrum flattened, f exp(-(f/f0)^4), f0 = ``cut`` cycles a pixel."""
    fy = np.fft.fftfreq(image.shape[0])[:, None]
    fx = np.fft.rfftfreq(image.shape[1])
    f = np.hypot(fy, fx)
    flat = np.fft.irfft2(np.fft.rfft2(image) * f * np.exp(-((f / cut) ** 4)), s=image.shape)
    return flat / flat.std()


def patches(images, side, n, seed):
    """``n`` patches of ``side`` × ``side`` pixels, a row each, in random order."""
    each = -(-n // len(images))
    # The frame of an image is not of this world: its opposite sides were made neighbours.
    found = [
        extract_patches_2d(image[4:-4, 4:-4], (side, side), max_patches=each, random_state=seed + i)
        for i, image in enumerate(images)
    ]
    X = np.concatenate(found).reshape(-1, side * side)
    X = np.random.default_rng(seed).permutation(X)[:n]
    return X - X.mean(axis=1, keepdims=True)


def gabor_pair(side, parameters):
    """Two plane waves, a quarter of a period apart, under an oriented Gaussian window."""
    y0, x0, angle, frequency, along, across = parameters
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    u = np.cos(angle) * (x - x0) + np.sin(angle) * (y - y0)
    v = -np.sin(angle) * (x - x0) + np.cos(angle) * (y - y0)
    window = np.exp(-0.5 * ((u / across) ** 2 + (v / along) ** 2))
    wave = 2 * np.pi * frequency * u
    return np.stack([window * np.cos(wave), window * np.sin(wave)]).reshape(2, -1)


def gabor_fit(atom):
    """Share of the variance of an atom that the best Gabor function explains.

    Localised means that two standard deviations of the window, to either side, fit in the patch.
    Amplitude and phase are solved for, the six other numbers sought from the peak of the spectrum.
    """
    side = int(np.sqrt(len(atom)))
    atom = atom / np.linalg.norm(atom)
    image = atom.reshape(side, side)
    spectrum = np.abs(np.fft.fft2(image, s=(32, 32)))[:, :17]
    spectrum[0, 0] = 0.0
    i, j = np.unravel_index(spectrum.argmax(), spectrum.shape)
    fy, fx = np.fft.fftfreq(32)[i], j / 32
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    y0, x0 = (image**2 * y).sum(), (image**2 * x).sum()
    width = np.sqrt((image**2 * ((y - y0) ** 2 + (x - x0) ** 2)).sum() / 2)
    edge = side / 2

    def residual(p):
        waves = gabor_pair(side, p)
        gram = waves @ waves.T + 1e-9 * np.eye(2)
        return np.linalg.solve(gram, waves @ atom) @ waves - atom

    low = np.array([-edge, -edge, -np.inf, 0.0, 0.4, 0.4])
    high = np.array([edge, edge, np.inf, 0.5, side / 4, side / 4])
    start = np.clip([y0, x0, np.arctan2(fy, fx), np.hypot(fy, fx), width, width], low, high)
    start = np.clip(start, low + 1e-6, high - 1e-6)
    return 1.0 - 2 * least_squares(residual, start, bounds=(low, high), max_nfev=40).cost
