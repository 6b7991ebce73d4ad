"""
A Gaussian process on words
===========================

A Gaussian process needs nothing of its inputs but a kernel, so it can learn from strings. Here
the melting point of short DNA duplexes is computed by a nearest-neighbour rule, a sum over
pairs of adjacent letters, and learned from sixty strands of the letters A, C and G, with noise.
Left: predictions for other strands of these letters, with intervals of 90 %. Right: strands
with more and more of the letter T, which the process has never seen. They are far from the
data, and it says so by its spread.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.kernels import Normalized, Spectrum
from isthmus.plotting import PALETTE, style
from isthmus.regression import GaussianProcess

rng = np.random.default_rng(1)
STEPS = {a + b: e for a, row in zip("ACGT", rng.uniform(5, 11, (4, 4)), strict=True)
         for b, e in zip("ACGT", row, strict=True)}  # fmt: skip


def strand(length, letters="ACGT"):
    return "".join(rng.choice(list(letters), size=length))


def melting(word):
    return np.mean([STEPS[word[i : i + 2]] for i in range(len(word) - 1)]) * 8


known = [strand(rng.integers(10, 20), "ACG") for _ in range(60)]
y = np.array([melting(word) for word in known]) + 0.5 * rng.normal(size=60)
model = GaussianProcess(Normalized(Spectrum(2)), random_state=0).fit(known, y)

# %%
# New strands of the same letters, and strands of which a part is replaced by T.

new = [strand(rng.integers(10, 20), "ACG") for _ in range(60)]
mean, spread = model.predict(new, return_std=True)
truth = np.array([melting(word) for word in new])
low, high = model.predict_interval(new, 0.9)
held = np.mean((low <= truth) & (truth <= high))
print(f"mean error {np.abs(mean - truth).mean():.2f}, {100 * held:.0f} % within the intervals")
shares = np.arange(0, 16, 3)
spreads = [
    model.predict([strand(15 - k, "ACG") + strand(k, "T") for _ in range(40)], return_std=True)[1]
    for k in shares
]

with style():
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 4.4), layout="constrained", width_ratios=(3, 2)
    )
    bars = np.maximum([mean - low, high - mean], 0)
    left.axline((truth.min(), truth.min()), slope=1, color=PALETTE[6], ls="--", lw=1.2)
    left.errorbar(truth, mean, bars, fmt="o", ms=4, lw=1, color=PALETTE[0])
    left.set(xlabel="true value", ylabel="predicted, 90 %", title="Strands that were not seen")
    right.boxplot(spreads, tick_labels=[str(k) for k in shares])
    right.set(xlabel="letters T of 15", ylabel="standard deviation of a prediction")
    right.set_title("Unlike the data, less sure")
