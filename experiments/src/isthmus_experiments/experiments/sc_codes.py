"""SC-codes: the extreme linear codes beside a sparse one."""

import numpy as np
from scipy.fft import dctn, idctn
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from isthmus.plotting import curves
from isthmus.sparse import KSVD
from isthmus_experiments import Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._natural_images import natural_images, patches

SIDE = 8
N_ATOMS = 128


@experiment(
    "SC-codes",
    document="[002] 2.1 to 2.4",
    title="Distributed, local, fixed and sparse codes of image patches",
    published=(
        "Principal components use all of their few atoms and have the least squared error among "
        "linear codes of that size; vector quantisation uses one atom; waves do not adapt. Sparse "
        "codes over a large learned dictionary lie between the extremes. Words only."
    ),
    quick={"n_patches": 1500, "sizes": (1, 2, 4, 8), "sweeps": 5},
    full={"n_patches": 20_000, "sizes": (1, 2, 4, 8, 16), "sweeps": 20},
)
def run(settings, seed, progress):
    images, words = natural_images(np.random.default_rng(seed))
    n = settings["n_patches"]
    X = patches(images, SIDE, 2 * n, seed)
    X, T = X[:n], X[n:]
    sizes = settings["sizes"]
    energy = np.sum(T**2)

    def left(approximation):
        return float(np.sum((T - approximation) ** 2) / energy)

    progress(0.0, "principal components and waves")
    pca = PCA(max(sizes)).fit(X)
    seen = {name: [] for name in ("components", "waves")}
    lowest = np.argsort(np.add.outer(np.arange(SIDE), np.arange(SIDE)).ravel(), kind="stable")
    errors = {name: [] for name in ("principal components", "lowest waves", "K-SVD")}
    for i, size in enumerate(sizes):
        progress(0.1 + 0.8 * i / len(sizes), f"K-SVD, {size} non-zeros")
        guesses = _by_components(pca, T, size), _by_waves(T, lowest[1 : size + 1])
        errors["principal components"].append(left(guesses[0]))
        errors["lowest waves"].append(left(guesses[1]))
        # Of the patches that the components come from, where their optimality is a theorem.
        seen["components"].append(np.sum((X - _by_components(pca, X, size)) ** 2))
        seen["waves"].append(np.sum((X - _by_waves(X, lowest[1 : size + 1])) ** 2))
        model = KSVD(N_ATOMS, n_nonzero=size, max_iter=settings["sweeps"], random_state=seed).fit(X)
        errors["K-SVD"].append(left(model.inverse_transform(model.transform(T))))
    progress(0.9, "vector quantisation")
    means = KMeans(N_ATOMS, n_init=1, random_state=seed).fit(X)
    local = left(means.cluster_centers_[means.predict(T)])
    pcs, sparse = np.array(errors["principal components"]), np.array(errors["K-SVD"])
    own, low = (np.array(e) / np.sum(X**2) for e in seen.values())
    return Outcome(
        [
            Row(
                "principal components against as many lowest waves: error on their own patches",
                "least of all linear codes",
                _listed(sizes, own, low),
                "never worse" if (own <= low).all() else "worse somewhere",
                bool((own <= low).all()),
            ),
            Row(
                "K-SVD against principal components, equal non-zeros: error",
                "sparse codes adapt to the signal",
                _listed(sizes, sparse, pcs),
                "less at every number of non-zeros"
                if (sparse < pcs).all()
                else "not less everywhere",
                bool((sparse < pcs).all()),
            ),
            Row(
                f"{N_ATOMS} atoms, one non-zero: K-SVD against vector quantisation",
                "a free coefficient generalises a fixed one",
                f"{sparse[0]:.3f} : {local:.3f}",
                "less error" if sparse[0] < local else "no less error",
                bool(sparse[0] < local),
            ),
        ],
        [
            Picture(
                "errors",
                "Share of the energy of test patches that a code of this many numbers leaves.",
                lambda: curves(
                    {"": {name: (sizes, y) for name, y in errors.items()}},
                    xlabel="numbers a patch",
                    ylabel="share of the energy left",
                    marker="o",
                ),
            )
        ],
        [
            f"Patches of {SIDE} x {SIDE} pixels and zero mean from {words}; errors are those of "
            "patches that were not learned from, unless said. A sparse code also has to say which "
            "atoms it uses, which the count of non-zeros does not show."
        ],
    )


def _by_components(pca, X, size):
    return pca.transform(X)[:, :size] @ pca.components_[:size] + pca.mean_


def _by_waves(X, kept):
    """The patches with these waves alone; the constant one is zero, since patches have no mean."""
    waves = dctn(X.reshape(-1, SIDE, SIDE), axes=(1, 2), norm="ortho").reshape(len(X), -1)
    some = np.zeros_like(waves)
    some[:, kept] = waves[:, kept]
    return idctn(some.reshape(-1, SIDE, SIDE), axes=(1, 2), norm="ortho").reshape(len(X), -1)


def _listed(sizes, ours, theirs):
    return ", ".join(f"{s}: {a:.3f} : {b:.3f}" for s, a, b in zip(sizes, ours, theirs, strict=True))
