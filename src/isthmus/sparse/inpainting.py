"""Pictures with missing pixels, filled by sparse codes of their overlapping patches."""

from typing import Any

import numpy as np

from isthmus._checks import check_int
from isthmus.sparse.patches import (
    average_patches,
    check_image,
    dct_dictionary,
    find_atoms,
    learn_atoms,
    map_channels,
)
from isthmus.sparse.pursuit.matching import orthogonal_matching_pursuit
from isthmus.sparse.shrinkage import fill_by_shrinkage
from isthmus.typing import Array

# Thresholds, and sweeps of K-SVD, where their number is not given.
N_ROUNDS, N_SWEEPS = 20, 10
# Patches without noise for each atom that is learned from them.
TRAIN_PER_ATOM = 12
# The first guess for a dictionary looks at every patch of this many, along either side.
COARSE = 2


def inpaint_image(
    image: Any,
    *,
    dictionary: Any = None,
    patch_size: int = 8,
    n_atoms: int = 256,
    n_nonzero: int = 8,
    tol: float | None = None,
    max_iter: int | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> Array:
    r"""Fill missing pixels by sparse codes of the observed ones.

    By default a first guess, from coarser and coarser pictures, is improved in rounds: overlapping
    patches are written in cosine waves, :math:`c=Tx`, small coefficients are removed, what is left
    is averaged into the gaps, and the threshold falls [Guleryuz2006]_,

    .. math:: x\leftarrow x_\text{observed}\quad\text{and}\quad\frac{\sum_iw_iR_i^\top
              T^\top h_\theta(TR_ix)}{\sum_iw_iR_i^\top1}\ \text{in the gaps},\qquad
              w_i=\frac1{\|h_\theta(TR_ix)\|_0},

    where :math:`h_\theta` keeps what exceeds :math:`\theta`, and :math:`R_i` cuts patch i out.
    The thresholds, from coarse to fine, are multiples of the differences of observed neighbours.

    With a ``dictionary`` every overlapping patch is coded by its observed pixels, with atoms
    restricted to them and rescaled, and decoded by the whole atoms; the values of overlapping
    patches at a missing pixel are averaged, each patch weighted by its observed share. Holes larger
    than a patch are filled from their rim inwards. This is the published way, and slower. Observed
    pixels come back unchanged.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, n_channels)
        ``nan`` marks missing pixels; channels are treated one by one.
    dictionary : None, "ksvd", "dct" or array of shape (n_atoms, patch_size**2), default=None
        None for thresholds; ``"ksvd"`` fills by waves first and learns from the filled patches.
    patch_size : int, default=8
    n_atoms : int, default=256
        Of a dictionary that is not given; a square number.
    n_nonzero : int, default=8
        Maximum number of atoms of a patch; never more than a quarter of its observed pixels. For
        dictionaries, like the next one.
    tol : float or None, default=None
        Root mean square error, in the units of the picture, at which the observed pixels of a patch
        are represented well enough.
    max_iter : int or None, default=None
        Number of thresholds, 20 by default, or maximum number of sweeps of K-SVD, 10 by default.
    n_jobs, random_state, verbose :
        As in :class:`KSVD`; for dictionaries.

    Returns
    -------
    ndarray of the shape of ``image``

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import inpaint_image
    >>> x, y = np.meshgrid(np.arange(32), np.arange(32))
    >>> clean = np.sin(x / 6) * np.cos(y / 7)
    >>> holes = np.where(np.random.default_rng(0).random(clean.shape) < 0.5, np.nan, clean)
    >>> filled = inpaint_image(holes)
    >>> bool(np.std(filled - clean) < 0.03)
    True
    """
    image = check_image(image, patch_size, "inpaint_image", gaps=True)
    if max_iter is not None:
        check_int(max_iter, "max_iter", "inpaint_image", low=1)
    settings = {
        "dictionary": dictionary,
        "patch_size": patch_size,
        "n_atoms": n_atoms,
        "n_nonzero": n_nonzero,
        "tol": tol,
        "max_iter": max_iter,
        "n_jobs": n_jobs,
        "random_state": random_state,
        "verbose": verbose,
    }
    if image.ndim == 3:
        return map_channels(image, lambda channel: inpaint_image(channel, **settings))
    if not np.isnan(image).any():
        return image
    if dictionary is None:
        rounds = N_ROUNDS if max_iter is None else max_iter
        return fill_by_shrinkage(image, patch_size=patch_size, n_rounds=rounds)
    D = find_atoms(dictionary, patch_size, n_atoms, "inpaint_image")
    if D is None:
        # Good enough to learn from: few of the overlapping patches, by waves.
        waves = dct_dictionary(patch_size, n_atoms)
        first = _fill_holes(image, waves, patch_size, n_nonzero, tol, n_jobs, stride=COARSE)
        D = learn_atoms(
            first,
            patch_size,
            n_atoms,
            random_state,
            n_nonzero=min(n_nonzero, n_atoms),
            n_train=TRAIN_PER_ATOM * n_atoms,
            max_iter=N_SWEEPS if max_iter is None else max_iter,
            n_jobs=n_jobs,
            verbose=verbose,
        )
    return _fill_holes(image, D, patch_size, n_nonzero, tol, n_jobs)


def _fill_holes(
    image: Array,
    D: Array,
    patch_size: int,
    n_nonzero: int,
    tol: float | None,
    n_jobs: int | None,
    *,
    stride: int = 1,
) -> Array:
    """The picture with its gaps filled by the codes of patches, from the rim inwards."""

    def restore(patches: Array) -> tuple[Array, Array | None]:
        return _filled_patches(patches, D, n_nonzero, tol, n_jobs)

    filled = image
    while (gaps := np.isnan(filled)).any():
        total, weight = average_patches(filled, patch_size, restore, stride=stride)
        reached = gaps & (weight > 0)
        filled = np.where(reached, total / np.where(weight > 0, weight, 1.0), filled)
    return filled


def _filled_patches(
    patches: Array, D: Array, n_nonzero: int, tol: float | None, n_jobs: int | None
) -> tuple[Array, Array]:
    """Whole patches from their observed pixels, and how much of each was observed."""
    n_observed = np.sum(~np.isnan(patches), axis=1)
    means = np.nansum(patches, axis=1) / np.maximum(n_observed, 1)
    whole = np.broadcast_to(means[:, None], patches.shape).copy()
    # Patches without a gap have nothing to say about one.
    to_code = (n_observed > 0) & (n_observed < patches.shape[1])
    # With few pixels to go by, many atoms would fit them by chance.
    limits = np.clip(n_observed // 4, 1, n_nonzero)
    for limit in np.unique(limits):
        rows = np.flatnonzero((limits == limit) & to_code)
        if len(rows) == 0:
            continue
        codes = orthogonal_matching_pursuit(
            patches[rows] - means[rows, None],
            D,
            n_nonzero=int(limit),
            tol=None if tol is None else tol * np.sqrt(n_observed[rows]),
            sparse_output=True,
            n_jobs=n_jobs,
        )
        whole[rows] += codes @ D
    return whole, n_observed / patches.shape[1]
