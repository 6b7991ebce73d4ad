"""The classical counterpart: band-limited signals from equidistant samples."""

from typing import Any

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.typing import Array


def sinc_reconstruct(samples: Any, period: float, times: Any, *, start: float = 0.0) -> Array:
    r"""Value of a band-limited signal at any time, from its samples [Shannon1949]_.

    .. math:: x(t)=\sum_nx(nT)\,\operatorname{sinc}\frac{t-nT}T,\qquad T\le\frac1{2B}

    for a signal without frequencies of :math:`B` and above. A longer period takes each
    frequency :math:`f` for :math:`f\pm1/T`, which no method can undo. The record being finite, the
    error near its ends is that of the terms left out.

    Parameters
    ----------
    samples : array of shape (n,)
    period : float
        Time between two samples, :math:`T`.
    times : array
        Where to evaluate.
    start : float, default=0.0
        Time of the first sample.

    Returns
    -------
    ndarray, of the shape of ``times``

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sensing import sinc_reconstruct
    >>> def signal(t):
    ...     return np.sinc(t / 3) ** 3  # no frequency above 1/2
    >>> n = np.arange(-100, 101)
    >>> t = np.linspace(-5, 5, 50)
    >>> bool(np.abs(sinc_reconstruct(signal(n), 1.0, t, start=-100) - signal(t)).max() < 1e-5)
    True
    """
    values = np.asarray(samples, dtype=np.float64)
    t = np.asarray(times, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"sinc_reconstruct needs a series of samples. Got shape {values.shape}.")
    if not period > 0:
        raise ValueError(
            f"The 'period' of sinc_reconstruct must be a float in (0.0, inf). Got {period!r}."
        )
    places = (t.ravel() - start) / period
    out = np.empty(t.size)
    for rows in block_slices(t.size, len(values)):
        out[rows] = np.sinc(places[rows, None] - np.arange(len(values))) @ values
    return out.reshape(t.shape)
