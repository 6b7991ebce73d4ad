"""
Few coordinates, with one regression behind them or several
===========================================================

Distance correlation reduces eight columns, of which three matter, to a few coordinates; a
regression inside carries new rows to them. The outputs have steps, which a smooth function
cannot follow. The default regression is kernel ridge. ``regressor="stacked"`` mixes it with
kernel ridge in other metrics and with randomised trees, weighted by what each predicts for rows
that were left out. It takes longer, and pays where one kind of regression alone misses the
shape of the map; on scikit-learn's diabetes table, where kernel ridge is enough, it gains
nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeCV

from isthmus.features import DistanceCorrelationReduction
from isthmus.plotting import PALETTE, style

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(1000, 8))
clean = 3.0 * (X[:, 0] > 0.3) + 2.0 * (X[:, 1] * X[:, 2] > 0)
y = clean + 0.5 * rng.normal(size=1000)

# %%
# Two coordinates from 400 rows, and a line through them; the error is that of 600 new rows.

found = {}
for name, inner in {"kernel ridge": None, "stacked": "stacked"}.items():
    reduction = DistanceCorrelationReduction(2, regressor=inner, random_state=0)
    last = RidgeCV().fit(reduction.fit_transform(X[:400], y[:400]), y[:400])
    found[name] = last.predict(reduction.transform(X[400:]))
    print(f"{name}: RMSE {np.sqrt(np.mean((found[name] - y[400:]) ** 2)):.2f} (noise alone: 0.50)")

# %%
# The outputs have four levels. The nearer a cloud is to its dashed line, the better.

with style():
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", sharey=True)
    for ax, (name, values), colour in zip(
        axes, found.items(), (PALETTE[0], PALETTE[5]), strict=True
    ):
        for k, level in enumerate((0.0, 2.0, 3.0, 5.0)):
            there = values[clean[400:] == level]
            ax.plot(k + 0.5 * rng.uniform(-1, 1, len(there)), there, ".", ms=4, color=colour)
            ax.plot([k - 0.4, k + 0.4], [level, level], "--", lw=2, color="#1c2330")
        ax.set_xticks(range(4), ["0", "2", "3", "5"])
        ax.set(title=name, xlabel="true level")
    axes[0].set_ylabel("predicted for new rows")
