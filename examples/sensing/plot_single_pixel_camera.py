"""
A camera with one pixel
=======================

Mirrors send a random half of the picture to one light sensor, which measures its brightness; then
the mirrors are turned to another half, and so on. A picture of 4096 pixels comes back exactly from
2000 such readings, because few of its wavelet coefficients differ from zero. Least squares, which
does not use that, returns noise from the same readings.
"""

import numpy as np

from isthmus.plotting import image_grid
from isthmus.sensing import SinglePixelCamera, orthonormal_basis

side = 64
y, x = np.mgrid[:side, :side] / side
scene = np.zeros((side, side))
scene[(np.hypot(x - 0.5, y - 0.42) < 0.28)] = 1.0  # a face
scene[(np.hypot(x - 0.4, y - 0.35) < 0.05) | (np.hypot(x - 0.6, y - 0.35) < 0.05)] = 0.0
scene[(y > 0.48) & (y < 0.53) & (np.abs(x - 0.5) < 0.12)] = 0.0
scene[(y > 0.75) & (np.abs(x - 0.5) < 0.35)] = 0.6

coefficients = orthonormal_basis("haar", scene.shape).T @ scene.ravel()
print(f"{np.sum(np.abs(coefficients) > 1e-9)} of {scene.size} Haar coefficients are not zero")

camera = SinglePixelCamera(shape=scene.shape, n_exposures=2000, random_state=0)
readings = camera.measure(scene)
picture = camera.reconstruct(readings)
error = np.linalg.norm(picture - scene) / np.linalg.norm(scene)
print(f"{len(readings)} readings, relative error {error:.0e}")

# %%
# The rows of the patterns are orthogonal, so the least-squares picture is a transpose away.

signed = 2 * readings[1:] - readings[0]
least_squares = np.zeros(scene.shape)
for i, value in enumerate(signed, start=1):
    least_squares += value * (2 * camera.pattern(i) - 1) / scene.size

# %%
# With noise on every reading, 30 dB below their spread, the picture suffers a little.

noise = 10 ** (-30 / 20) * readings[1:].std()
noisy = camera.reconstruct(camera.measure(scene, sigma=noise, random_state=0), sigma=noise)

figure = image_grid(
    [[camera.pattern(1), scene, least_squares, picture, noisy]],
    titles=[
        "one of 2000 patterns",
        "the scene",
        "least squares",
        "basis pursuit",
        "basis pursuit, noisy readings",
    ],
    size=2.0,
)
