"""PSOM-oil: flow regimes of an oil pipeline on a plane learned by PSOM+."""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier

from isthmus.datasets import load_oilflow
from isthmus.manifold import Annealing, SmoothPSOM
from isthmus.plotting import PALETTE, new_figure, style
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment


@experiment(
    "PSOM-oil",
    document="[004] 4.6.4, figure 4.14",
    title="Oil flow: three regimes on a learned plane",
    published=(
        "12 measurements, 12 by 12 nodes, 5 cycles for each smoothness 10 * 0.8^k, stopped where "
        "the projection error of held-out data rises, at step 42. The three regimes come apart far "
        "better than on the principal plane. A picture only."
    ),
    needs_data=True,
    covers=[
        Covers("004 figure 4.14", way="claim"),
    ],
    quick={"n": 200, "n_cycles": 1},
    full={"n": 1000, "n_cycles": 5},
)
def oil(settings, seed, progress):
    data = load_oilflow()
    n = settings["n"]
    X, y = data.X_train[:n], data.y_train[:n]
    annealing = Annealing(10.0 * n / 1000, n_cycles=settings["n_cycles"], patience=1)
    model = SmoothPSOM((12, 12), annealing=annealing)
    progress(0.1, "annealing")
    model.fit(X, X_valid=data.X_valid[:n])
    progress(0.8, "projecting the test set")
    planes = {
        "PCA": PCA(2).fit(X),
        "PSOM+": model,
    }
    latent = {name: plane.transform(data.X_test[:n]) for name, plane in planes.items()}
    test = data.y_test[:n]
    wrong = {
        name: 1 - KNeighborsClassifier(1).fit(plane.transform(X), y).score(latent[name], test)
        for name, plane in planes.items()
    }
    error = {
        "PCA": float(np.mean(np.sum((_planar(planes["PCA"], data.X_test[:n])) ** 2, axis=1))),
        "PSOM+": -model.score(data.X_test[:n]),
    }
    steps = len(model.history_)
    rows = [
        Row(
            "wrong regime of the nearest training row on the plane, test set",
            "regimes apart on PSOM+, not on PCA",
            f"PSOM+ {wrong['PSOM+']:.1%}, PCA {wrong['PCA']:.1%}",
            "less than half of PCA's"
            if wrong["PSOM+"] < wrong["PCA"] / 2
            else "not less than half of PCA's",
            bool(wrong["PSOM+"] < wrong["PCA"] / 2),
        ),
        Row(
            "squared distance of the test set to the manifold",
            "not published",
            f"PSOM+ {error['PSOM+']:.4f}, PCA {error['PCA']:.4f}",
            "PSOM+ is nearer" if error["PSOM+"] < error["PCA"] else "PCA is nearer",
            bool(error["PSOM+"] < error["PCA"]),
        ),
        Row(
            "step at which the held-out error rises",
            42,
            steps,
            f"smoothness {model.smoothness_:.2g} is kept; the document's stop used another set",
        ),
    ]
    return Outcome(
        rows,
        [
            Picture(
                "planes",
                "The test set on the principal plane and on the learned one; colours are flow "
                "regimes, which neither was told.",
                lambda: _figure(latent, test, wrong),
            )
        ],
        [
            "The document stops on its test set; here the validation set stops, and the test set "
            "is only looked at.",
        ],
    )


def _planar(pca, X):
    return pca.inverse_transform(pca.transform(X)) - X


def _figure(latent, labels, wrong):
    with style():
        figure = new_figure(9.0, 4.2)
        axes = figure.subplots(1, 2)
        for ax, (name, Z) in zip(axes, latent.items(), strict=True):
            for k in range(3):
                ax.plot(
                    *Z[labels == k].T, ".", color=PALETTE[k], markersize=4, label=f"regime {k + 1}"
                )
            ax.set(title=f"{name}: {wrong[name]:.1%} wrong neighbours", xticks=[], yticks=[])
        axes[0].legend(fontsize=9, markerscale=2, loc="upper right")
    return figure
