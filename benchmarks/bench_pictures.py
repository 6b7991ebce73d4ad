"""Pictures with missing pixels, against biharmonic interpolation and our own pursuit."""

import numpy as np
from scipy.sparse import diags_array, eye_array, kron
from scipy.sparse.linalg import splu
from sklearn.datasets import load_sample_image

from benchmarks._harness import Contest, benchmark
from isthmus.sparse import inpaint_image

SIZE = 256
CASES = tuple(
    f"{picture}, {gaps}"
    for picture in ("china", "flower")
    for gaps in ("30 % missing", "50 % missing", "80 % missing", "scratches", "squares of 12")
)


def _picture(name):
    return load_sample_image(f"{name}.jpg").mean(axis=2)[100 : 100 + SIZE, 200 : 200 + SIZE]


def _gaps(kind):
    rng = np.random.default_rng(0)
    if "%" in kind:
        return rng.random((SIZE, SIZE)) < float(kind.split()[0]) / 100
    gaps = np.zeros((SIZE, SIZE), dtype=bool)
    if kind == "scratches":
        for start, slope in zip(rng.integers(0, SIZE, 25), rng.normal(size=25), strict=True):
            for j in range(SIZE):
                row = int(start + slope * (j - SIZE // 2))
                if 0 <= row < SIZE - 3:
                    gaps[row : row + 4, j] = True
        return gaps
    for i, j in rng.integers(0, SIZE - 12, size=(60, 2)):
        gaps[i : i + 12, j : j + 12] = True
    return gaps


def _second_differences(n):
    middle = np.full(n, -2.0)
    middle[[0, -1]] = -1.0
    return diags_array([np.ones(n - 1), middle, np.ones(n - 1)], offsets=[-1, 0, 1])


def biharmonic(image):
    """Gaps such that the Laplacian of the Laplacian vanishes in them; one sparse factorisation."""
    gaps = np.isnan(image).ravel()
    height, width = image.shape
    laplacian = kron(_second_differences(height), eye_array(width)) + kron(
        eye_array(height), _second_differences(width)
    )
    squared = (laplacian @ laplacian).tocsr()[gaps]
    x = image.ravel().copy()
    known = squared[:, ~gaps] @ x[~gaps]
    matrix = squared[:, gaps].tocsc()
    factor = splu(matrix, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    x[gaps] = np.clip(factor.solve(-known), np.nanmin(image), np.nanmax(image))
    return x.reshape(image.shape)


def _contest(case, peer):
    name, kind = case.split(", ")
    truth, gaps = _picture(name), _gaps(kind)
    holes = np.where(gaps, np.nan, truth)

    def quality(filled):
        return {"PSNR": float(10 * np.log10(255**2 / np.mean((filled - truth) ** 2)))}

    return Contest(lambda: inpaint_image(holes), lambda: peer(holes), quality)


@benchmark(
    "inpaint-biharmonic",
    work=f"inpaint_image with default settings, photographs of {SIZE} x {SIZE} pixels",
    peer="biharmonic interpolation, SciPy's sparse LU of the symmetric system",
    cases=CASES,
    quick=CASES[1:2],
    unit="picture and gaps",
    goal="half its speed at a higher PSNR",
)
def inpaint_biharmonic(case):
    return _contest(case, biharmonic)


@benchmark(
    "inpaint-dictionary",
    work="the same work",
    peer="ourselves with dictionary='ksvd': pursuits of the observed pixels, as published",
    cases=("china, 50 % missing", "flower, 50 % missing"),
    quick=("china, 80 % missing",),
    unit="picture and gaps",
    goal="10 times as fast at a higher PSNR",
)
def inpaint_dictionary(case):
    return _contest(case, lambda holes: inpaint_image(holes, dictionary="ksvd", random_state=0))
