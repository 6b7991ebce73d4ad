"""
Conditional quantiles without another fit
=========================================

The weights of a smoother hold the whole conditional distribution. The quantile loss is decoded as a
weighted quantile of the training outputs, so the noise may be skewed and change along the way.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.losses import Quantile
from isthmus.plotting import PALETTE, style
from isthmus.preimage import MinimumRiskPreimage
from isthmus.structured import DependencyEstimator

rng = np.random.default_rng(0)


def draw(x):
    """Outputs whose noise is skewed and grows with the input."""
    return np.sin(x[:, 0]) + (0.1 + 0.15 * x[:, 0]) * (rng.exponential(size=len(x)) - 1)


x = rng.uniform(0, 6, size=(500, 1))
y = draw(x)

model = DependencyEstimator(loss=Quantile(0.5)).fit(x, y)
new = np.linspace(0, 6, 200)[:, None]
weights = model.regressor_.weights(model.transform_inputs(new))
LEVELS = (0.1, 0.5, 0.9)
curves = {q: MinimumRiskPreimage(Quantile(q)).fit(y).solve(weights) for q in LEVELS}

# %%
# One fit, three decodings of the same weights; they cannot cross.

with style():
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    ax.scatter(x[:, 0], y, s=6, color="#9aa4b2")
    for colour, (q, curve) in zip(PALETTE, curves.items(), strict=False):
        ax.plot(new[:, 0], curve, color=colour, label=f"quantile {q}")
    ax.set(xlabel="x", ylabel="y")
    ax.legend()

fresh = draw(new)
inside = (curves[0.1] <= fresh) & (fresh <= curves[0.9])
print(f"between the outer two: {inside.mean():.0%} (80 % expected)")
plt.show()
