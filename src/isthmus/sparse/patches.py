"""Pictures by sparse codes of their overlapping patches: noise removed."""

from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.utils import check_array, check_random_state

from isthmus.sparse.dictionary.ksvd.estimator import KSVD
from isthmus.sparse.noise import noise_level
from isthmus.sparse.pursuit.matching import orthogonal_matching_pursuit
from isthmus.typing import Array, IntArray

# Rows of patches that are coded at a time, so that memory does not grow with the picture.
_STRIP = 32
# More patches than this teach a dictionary nothing new.
_MAX_TRAIN = 20_000


def dct_dictionary(patch_size: int = 8, n_atoms: int = 256) -> Array:
    r"""Overcomplete cosine dictionary for square patches, one atom per row.

    Outer products of the waves :math:`\cos(\pi ij/m)`, :math:`i<p`, :math:`j<m=\sqrt k`, of zero
    mean but for the first.

    Parameters
    ----------
    patch_size : int, default=8
        Side p of a patch.
    n_atoms : int, default=256
        A square number k.

    Returns
    -------
    ndarray of shape (n_atoms, patch_size**2)
        Rows of unit length; the first is constant.

    Examples
    --------
    >>> from isthmus.sparse import dct_dictionary
    >>> dct_dictionary(8, 121).shape
    (121, 64)
    """
    m = isqrt(n_atoms)
    if m * m != n_atoms or m < 1:
        raise ValueError(
            "The 'n_atoms' parameter of dct_dictionary must be a square number. Got "
            f"{n_atoms!r} instead."
        )
    waves = np.cos(np.pi * np.outer(np.arange(m), np.arange(patch_size)) / m)
    waves[1:] -= waves[1:].mean(axis=1, keepdims=True)
    waves /= np.linalg.norm(waves, axis=1, keepdims=True)
    return np.asarray(np.kron(waves, waves), dtype=float)


def denoise_image(
    image: Any,
    *,
    sigma: float | None = None,
    dictionary: Any = "ksvd",
    patch_size: int = 8,
    n_atoms: int = 256,
    gain: float = 1.15,
    blend: float | None = None,
    max_iter: int = 10,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> Array:
    r"""Remove white noise from a picture by sparse codes of its patches.

    Every overlapping patch, after its mean is subtracted, is coded with as few atoms as leave
    :math:`\|x-cD\|\le p\,g\,\sigma`: noise of that size has no sparse code, the picture has one.
    The reconstructions are averaged with the noisy picture Y,

    .. math:: \hat X=\frac{\lambda Y+\sum_iR_i^\top c_iD}{\lambda+\sum_iR_i^\top R_i},

    where :math:`R_i` cuts patch i out [EladAharon2006]_.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, n_channels)
        In any units; channels are treated one by one.
    sigma : float or None, default=None
        Standard deviation of the noise, in the units of the picture; None estimates it from the
        patches of weakest texture [Liu2013]_.
    dictionary : "ksvd", "dct" or array of shape (n_atoms, patch_size**2), default="ksvd"
        Learned from the noisy patches themselves, fixed waves, or given.
    patch_size : int, default=8
    n_atoms : int, default=256
        Of a dictionary that is not given; a square number.
    gain : float, default=1.15
        The factor g.
    blend : float or None, default=None
        The weight λ of the noisy picture. None takes 30 over ``sigma``, in units in which the
        picture has a range of 255.
    max_iter : int, default=10
        Maximum number of sweeps of K-SVD.
    n_jobs, random_state, verbose :
        As in :class:`KSVD`.

    Returns
    -------
    ndarray of the shape of ``image``

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import denoise_image
    >>> x, y = np.meshgrid(np.arange(32), np.arange(32))
    >>> clean = np.sin(x / 3) * np.cos(y / 4)
    >>> noisy = clean + 0.2 * np.random.default_rng(0).normal(size=clean.shape)
    >>> better = denoise_image(noisy, sigma=0.2, dictionary="dct")
    >>> bool(np.std(better - clean) < 0.5 * np.std(noisy - clean))
    True
    """
    image = check_image(image, patch_size, "denoise_image", gaps=False)
    settings = {
        "sigma": sigma,
        "dictionary": dictionary,
        "patch_size": patch_size,
        "n_atoms": n_atoms,
        "gain": gain,
        "blend": blend,
        "max_iter": max_iter,
        "n_jobs": n_jobs,
        "random_state": random_state,
        "verbose": verbose,
    }
    if image.ndim == 3:
        return map_channels(image, lambda channel: denoise_image(channel, **settings))
    if sigma is None:
        sigma = noise_level(image)
    if not sigma >= 0 or np.isinf(sigma):
        raise ValueError(
            f"The 'sigma' parameter of denoise_image must be in [0, inf). Got {sigma!r} instead."
        )
    if sigma == 0:
        return image.copy()
    tol = gain * sigma * patch_size
    D = find_atoms(dictionary, patch_size, n_atoms, "denoise_image")
    if D is None:
        learned: dict[str, Any] = {"max_iter": max_iter, "n_jobs": n_jobs, "verbose": verbose}
        learned["tol"] = tol
        D = learn_atoms(image, patch_size, n_atoms, random_state, **learned)

    def restore(patches: Array) -> tuple[Array, Array | None]:
        means = patches.mean(axis=1, keepdims=True)
        codes = orthogonal_matching_pursuit(
            patches - means, D, tol=tol, sparse_output=True, n_jobs=n_jobs
        )
        return codes @ D + means, None

    if blend is None:
        blend = 30 / 255 * float(np.ptp(image)) / sigma
    total, weight = average_patches(image, patch_size, restore)
    return (blend * image + total) / (blend + weight)


def average_patches(
    image: Array,
    size: int,
    restore: Callable[[Array], tuple[Array, Array | None]],
    *,
    stride: int = 1,
) -> tuple[Array, Array]:
    """Sums and weights, pixel by pixel, of what ``restore`` makes of every ``stride``-th patch."""
    rows, columns = (_corners(n, size, stride) for n in image.shape)
    windows = sliding_window_view(image, (size, size))
    total, weight = np.zeros_like(image), np.zeros_like(image)
    for top in range(0, len(rows), _STRIP):
        some = rows[top : top + _STRIP]
        strip = windows[np.ix_(some, columns)]
        whole, weights = restore(strip.reshape(-1, size * size))
        w = np.ones(len(whole)) if weights is None else weights
        w = w.reshape(strip.shape[:2])
        whole = whole.reshape(strip.shape)
        for i in range(size):
            for j in range(size):
                target = np.ix_(some + i, columns + j)
                total[target] += w * whole[:, :, i, j]
                weight[target] += w
    return total, weight


def _corners(n: int, size: int, stride: int) -> IntArray:
    """Where patches begin along a side of n pixels; the last one ends with it."""
    return np.unique(np.r_[np.arange(0, n - size + 1, stride), n - size])


def learn_atoms(
    image: Array,
    patch_size: int,
    n_atoms: int,
    random_state: Any,
    *,
    n_train: int = _MAX_TRAIN,
    **options: Any,
) -> Array:
    """Atoms learned from the patches of a picture, from waves on."""
    start = dct_dictionary(patch_size, n_atoms)
    model = KSVD(n_atoms, rule="correlation", init=start, random_state=random_state, **options)
    return model.fit(_training_patches(image, patch_size, n_train, random_state)).components_


def _training_patches(image: Array, size: int, n_train: int, random_state: Any) -> Array:
    """Patches of zero mean, drawn without repetition where there are too many."""
    windows = sliding_window_view(image, (size, size))
    height, width = windows.shape[:2]
    n = min(height * width, n_train)
    chosen = check_random_state(random_state).permutation(height * width)[:n]
    patches = windows[chosen // width, chosen % width].reshape(n, -1)
    return patches - patches.mean(axis=1, keepdims=True)


def find_atoms(dictionary: Any, size: int, n_atoms: int, owner: str) -> Array | None:
    """The dictionary, or None where it is to be learned."""
    if isinstance(dictionary, str):
        if dictionary not in ("ksvd", "dct"):
            raise ValueError(
                f"The 'dictionary' parameter of {owner} must be 'ksvd', 'dct' or an array. Got "
                f"{dictionary!r} instead."
            )
        return dct_dictionary(size, n_atoms) if dictionary == "dct" else None
    D = check_array(dictionary, dtype=np.float64, input_name="dictionary", estimator=owner)
    if D.shape[1] != size * size:
        raise ValueError(
            f"The 'dictionary' parameter of {owner} must have an atom of {size * size} pixels "
            f"(patch_size={size}) in each row. Got shape {D.shape} instead."
        )
    return D


def check_image(image: Any, size: int, owner: str, *, gaps: bool) -> Array:
    image = check_array(
        image,
        dtype=np.float64,
        allow_nd=True,
        ensure_all_finite="allow-nan" if gaps else True,
        input_name="image",
        estimator=owner,
    )
    if image.ndim > 3 or min(image.shape[:2]) < size:
        raise ValueError(
            f"{owner} needs a picture of shape (height, width) or (height, width, n_channels), at "
            f"least {size} pixels (patch_size) high and wide. Got shape {image.shape}."
        )
    if np.isnan(image).all(axis=(0, 1)).any():
        raise ValueError(f"{owner} got a picture or channel without any observed pixel.")
    return image


def map_channels(image: Array, function: Callable[[Array], Array]) -> Array:
    return np.stack([function(channel) for channel in np.moveaxis(image, -1, 0)], axis=-1)
