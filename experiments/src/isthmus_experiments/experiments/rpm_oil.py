"""RPM-oil: flow regimes of an oil pipeline on sheets over a box."""

import warnings

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier

from isthmus.datasets import load_oilflow
from isthmus.manifold import GenerativeTopographicMapping, RegularizedPrincipalManifold
from isthmus.plotting import PALETTE, new_figure, style
from isthmus_experiments import Outcome, Picture, Row, experiment


@experiment(
    "RPM-oil",
    document="[004] 2.6.1, 2.6.2 and 4.6.4",
    title="Oil flow: three regimes on a regularised sheet and on a topographic map",
    published=(
        "Generative topographic mapping and regularised principal manifolds have been applied to "
        "these data by their authors; the document refers to them and prints neither picture nor "
        "number. Three regimes, two intrinsic dimensions."
    ),
    needs_data=True,
    quick={"n": 150},
    full={"n": 1000},
)
def oil_sheets(settings, seed, progress):
    data, n = load_oilflow(), settings["n"]
    X, y = data.X_train[:n], data.y_train[:n]
    X_test, y_test = data.X_test[:n], data.y_test[:n]
    methods = {
        "PCA": PCA(2),
        "regularised sheet": RegularizedPrincipalManifold(2, random_state=seed),
        "topographic map": GenerativeTopographicMapping(2, random_state=seed),
    }
    latent, wrong, lost = {}, {}, {}
    for k, (name, model) in enumerate(methods.items()):
        progress(k / len(methods), name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X)
        latent[name] = model.transform(X_test)
        nearest = KNeighborsClassifier(1).fit(model.transform(X), y)
        wrong[name] = 1 - nearest.score(latent[name], y_test)
        back = model.inverse_transform(latent[name])
        lost[name] = float(np.sum((back - X_test) ** 2) / np.sum((X_test - X.mean(axis=0)) ** 2))
    rows = []
    for name in list(methods)[1:]:
        apart = wrong[name] < wrong["PCA"] / 2
        rows.append(
            Row(
                f"wrong regime of the nearest training row, test set: {name}",
                "not printed",
                f"{wrong[name]:.1%}, PCA {wrong['PCA']:.1%}",
                "less than half of PCA's" if apart else "not less than half of PCA's",
                bool(apart),
            )
        )
    rows += [
        Row(
            f"share of the variance of the test set lost: {name}",
            "not printed",
            f"{lost[name]:.1%}, PCA {lost['PCA']:.1%}",
            "less than PCA" if lost[name] < lost["PCA"] else "not less than PCA",
            bool(lost[name] < lost["PCA"]),
        )
        for name in list(methods)[1:]
    ]
    return Outcome(
        rows,
        [
            Picture(
                "sheets",
                "The test set on three planes; colours are flow regimes, which none was told.",
                lambda: _figure(latent, y_test, wrong),
            )
        ],
        ["All methods have their defaults; PSOM-oil has the same measure for PSOM+."],
    )


def _figure(latent, labels, wrong):
    with style():
        figure = new_figure(12.0, 4.0)
        axes = figure.subplots(1, len(latent))
        for ax, (name, Z) in zip(axes, latent.items(), strict=True):
            for k in range(3):
                ax.plot(
                    *Z[labels == k].T, ".", color=PALETTE[k], markersize=4, label=f"regime {k + 1}"
                )
            ax.set(title=f"{name}: {wrong[name]:.1%} wrong neighbours", xticks=[], yticks=[])
        axes[0].legend(fontsize=9, markerscale=2)
    return figure
