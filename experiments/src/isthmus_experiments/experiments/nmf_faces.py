"""NMF-faces: parts of faces by non-negative factorisation, whole faces by the others."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from isthmus.datasets import load_cbcl_faces
from isthmus.plotting import image_grid
from isthmus.sparse import NonnegativeFactorization, hoyer_sparseness
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment


@experiment(
    "NMF-faces",
    document="[002] 2.3, figure 9",
    title="Faces: parts by non-negative factorisation, whole faces by the others",
    published=(
        "Non-negative factorisation shows parts of faces, vector quantisation whole faces, "
        "principal components distorted whole faces. Pictures only, no values."
    ),
    covers=[
        Covers("002 figure 9", way="claim"),
    ],
    quick={"n_faces": 400, "n_components": 25, "tol": 1e-3},
    full={"n_faces": 2429, "n_components": 49, "tol": 1e-4},
    needs_data=True,
)
def faces(settings, seed, progress):
    X = load_cbcl_faces().X.astype(float)[: settings["n_faces"]]
    k = settings["n_components"]
    progress(0.0, "non-negative factorisation")
    model = NonnegativeFactorization(k, tol=settings["tol"], random_state=seed).fit(X)
    counts = NonnegativeFactorization(
        k, divergence="kullback-leibler", tol=10 * settings["tol"], random_state=seed
    )
    progress(0.4, "Kullback-Leibler")
    counts.fit(X)
    progress(0.8, "vector quantisation and principal components")
    whole = KMeans(k, n_init=1, random_state=seed).fit(X)
    axes = PCA(k, random_state=seed).fit(X)
    atoms = {
        "Euclidean": model.components_,
        "Kullback-Leibler": counts.components_,
        "quantisation": whole.cluster_centers_,
        "principal": axes.components_,
    }
    sparse = {name: float(np.mean(hoyer_sparseness(A))) for name, A in atoms.items()}
    others = max(sparse["quantisation"], sparse["principal"])
    rows = [
        Row(
            f"mean sparseness of the atoms, {name}",
            "parts",
            sparse[name],
            f"above quantisation ({sparse['quantisation']:.2f}) and principal components "
            f"({sparse['principal']:.2f})"
            if sparse[name] > others
            else "not above the other codes",
            sparse[name] > others,
        )
        for name in ("Euclidean", "Kullback-Leibler")
    ]
    errors = {
        "Euclidean": model.reconstruction_err_,
        "quantisation": np.sqrt(whole.inertia_),
        "principal": np.linalg.norm(X - axes.inverse_transform(axes.transform(X))),
    }
    in_order = errors["principal"] < errors["Euclidean"] < errors["quantisation"]
    rows.append(
        Row(
            "error, Frobenius norm",
            None,
            ", ".join(f"{name} {error:.1f}" for name, error in errors.items()),
            "principal components are the best linear code, quantisation the coarsest"
            if in_order
            else "not in the order of the freedom the codes have",
            bool(in_order),
        )
    )
    return Outcome(
        rows,
        [
            Picture(
                "atoms",
                "Eight atoms of each code, white where they are large; principal components by "
                "their modulus.",
                lambda: image_grid(
                    [[_shown(a) for a in A[:8]] for A in atoms.values()], row_titles=list(atoms)
                ),
            )
        ],
        ["Sparseness after Hoyer: 0 for a flat picture, 1 for a single pixel."],
    )


def _shown(atom):
    return np.abs(atom).reshape(19, 19) / np.abs(atom).max()
