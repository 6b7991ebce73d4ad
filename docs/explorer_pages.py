"""The exported pages that the guide shows: ``python docs/explorer_pages.py FOLDER``."""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from isthmus import explore
from isthmus.datasets import make_faces
from isthmus.features import KernelPCA
from isthmus.manifold import PSOM, UnsupervisedKernelRegression
from isthmus.robotics import KinematicChain


def digits(path: Path) -> None:
    """Digits on a plane."""
    X, y = load_digits(return_X_y=True)
    keep = np.isin(y, (0, 1, 4, 7))
    X, y = X[keep][:300], y[keep][:300]
    model = UnsupervisedKernelRegression(2, random_state=0).fit(X)
    explore(model, X, y, export=path, kind="image:8x8", title="Digits on a plane")


def faces(path: Path) -> None:
    """Faces of one person by pose and light."""
    faces = make_faces(400, 32, n_identities=1, random_state=0)
    model = KernelPCA(4, kernel="linear").fit(faces.X)
    light = np.round(np.degrees(faces.light[:, 0]))
    explore(model, faces.X, light, export=path, title="Faces, coloured by the angle of the light")


def arm(path: Path) -> None:
    """Postures of an arm in the plane, by the place of its hand."""
    chain = KinematicChain([[0.0, 1.0, 0.0], [0.0, 0.8, 0.0]], convention="standard")
    shoulder, elbow = np.linspace(-0.6, 1.6, 7), np.linspace(0.3, 2.4, 7)
    Q = np.array([[a, b] for a in shoulder for b in elbow])
    hand = chain.forward(Q)[:, :2, 3]
    rows = np.hstack([hand, Q])
    model = PSOM(grid=(7, 7)).fit(rows)
    fine = np.array([[a, b] for a in np.linspace(-0.6, 1.6, 15) for b in np.linspace(0.3, 2.4, 15)])
    shown = np.hstack([chain.forward(fine)[:, :2, 3], fine])
    names = ["hand x", "hand y", "shoulder", "elbow"]
    explore(model, shown, export=path, names=names, kind=chain, title="Postures of an arm")


PAGES = {"digits": digits, "faces": faces, "arm": arm}


def write_missing(folder: Path) -> None:
    """Write the pages that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, write in PAGES.items():
        if not (folder / f"{name}.html").exists():
            write(folder / f"{name}.html")


if __name__ == "__main__":
    write_missing(Path(sys.argv[1]))
