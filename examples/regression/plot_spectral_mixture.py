"""
Periods that nobody named
=========================

A series of two waves and some noise is learned up to the dashed line and continued beyond it. A
Gaussian kernel falls back to the mean as soon as the data end. A spectral mixture learns the
frequencies by its likelihood and goes on; its standard deviation says how sure it is.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.kernels import Gaussian, SpectralMixture
from isthmus.plotting import PALETTE, style
from isthmus.regression import GaussianProcess

rng = np.random.default_rng(0)
t = np.linspace(0, 16, 200)[:, None]
truth = np.sin(2 * np.pi * 0.45 * t[:, 0]) + 0.6 * np.sin(2 * np.pi * 1.1 * t[:, 0])
y = truth + 0.15 * rng.normal(size=len(t))
known = t[:, 0] < 10

models = {
    "spectral mixture": GaussianProcess(SpectralMixture(5), n_init=1, random_state=0),
    "Gaussian": GaussianProcess(Gaussian(10.0), n_init=1, random_state=0),
}
for name, model in models.items():
    model.fit(t[known], y[known])
    error = np.sqrt(np.mean((model.predict(t[~known]) - truth[~known]) ** 2))
    print(f"{name}: log likelihood {model.log_marginal_likelihood_:.1f}, error beyond {error:.2f}")

# %%
# The learned components, heaviest first: weight, frequency and its deviation.

mixture = models["spectral mixture"].kernel_
for q in np.argsort(mixture.weights)[::-1][:3]:
    w, mu, sigma = mixture.weights[q], mixture.frequencies[q][0], mixture.deviations[q][0]
    print(f"weight {w:.2f}, frequency {mu:.2f} ± {sigma:.3f}")

# %%
# Both continuations with two standard deviations.

with style():
    figure, axes = plt.subplots(
        2, 1, figsize=(7, 5), sharex=True, sharey=True, layout="constrained"
    )
    for axis, (name, model), color in zip(axes, models.items(), PALETTE, strict=False):
        mean, std = model.predict(t, return_std=True)
        axis.plot(t, truth, color="0.6", lw=1, label="truth")
        axis.plot(t[known], y[known], ".", color="0.3", ms=3)
        axis.plot(t, mean, color=color, label=name)
        axis.fill_between(t[:, 0], mean - 2 * std, mean + 2 * std, color=color, alpha=0.2)
        axis.axvline(10, color="0.5", ls="--", lw=1)
        axis.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    axes[-1].set_xlabel("time")
