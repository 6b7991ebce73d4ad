"""Sparse codes, factorisations and pictures."""

import numpy as np

from isthmus.cli.first_calls.registry import first_call


def _atoms(rng: np.random.Generator) -> np.ndarray:
    D = rng.normal(size=(10, 6))
    return D / np.linalg.norm(D, axis=1, keepdims=True)


@first_call("orthogonal pursuit")
def _pursuit(rng):
    from isthmus.sparse.pursuit.matching import matching_pursuit, orthogonal_matching_pursuit

    X, D = rng.normal(size=(8, 6)), _atoms(rng)
    matching_pursuit(X, D, max_iter=2)
    return orthogonal_matching_pursuit(X, D, n_nonzero=2)


@first_call("K-SVD")
def _ksvd(rng):
    from isthmus.sparse.dictionary.ksvd.estimator import KSVD

    return KSVD(8, n_nonzero=2, max_iter=2, random_state=0).fit(rng.normal(size=(40, 6)))


@first_call("feature-sign search")
def _feature_sign(rng):
    from isthmus.sparse.l1.feature_sign import feature_sign_search

    return feature_sign_search(rng.normal(size=(8, 6)), _atoms(rng), alpha=0.1)


@first_call("dictionary")
def _dictionary(rng):
    from isthmus.sparse.dictionary.learner import SparseDictionary

    X = rng.normal(size=(40, 6))
    return SparseDictionary(8, max_iter=2, random_state=0).fit(X).transform(X)


@first_call("L1 codes")
def _l1_codes(rng):
    from isthmus.sparse.coder import SparseCoder

    return SparseCoder(_atoms(rng), algorithm="coordinate_descent").fit_transform(
        rng.normal(size=(8, 6))
    )


@first_call("denoising")
def _denoising(rng):
    from isthmus.sparse.patches import denoise_image

    image = rng.random((24, 24))
    return denoise_image(image, patch_size=4, n_atoms=25, max_iter=1, random_state=0)


@first_call("inpainting")
def _inpainting(rng):
    from isthmus.sparse.inpainting import inpaint_image

    image = rng.random((24, 24))
    image[rng.random((24, 24)) < 0.3] = np.nan
    return inpaint_image(
        image, dictionary="ksvd", patch_size=4, n_atoms=25, max_iter=1, random_state=0
    )


@first_call("nonnegative factorization")
def _factorization(rng):
    from isthmus.sparse.factorization.estimator import NonnegativeFactorization

    return NonnegativeFactorization(3, random_state=0, max_iter=3).fit(rng.random((30, 8)))


@first_call("nonnegative factorization, other settings")
def _factorization_settings(rng):
    from scipy import sparse

    from isthmus.sparse.factorization.estimator import NonnegativeFactorization

    X = rng.random((30, 8))
    holes = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    stored = sparse.csr_array(np.where(X > 0.5, X, 0.0))
    NonnegativeFactorization(3, random_state=0, max_iter=3).fit(holes)
    NonnegativeFactorization(3, solver="anls", random_state=0, max_iter=3).fit(X)
    return [
        NonnegativeFactorization(3, divergence="kullback-leibler", random_state=0, max_iter=3).fit(
            data
        )
        for data in (X, stored)
    ]


@first_call("convex factorization")
def _convex(rng):
    from isthmus.sparse.factorization.convex import ConvexFactorization

    return ConvexFactorization(3, random_state=0, max_iter=3).fit(rng.random((30, 8)))
