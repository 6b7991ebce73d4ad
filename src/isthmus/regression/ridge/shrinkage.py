"""James and Stein's shrinkage of many means at once."""

from typing import Any

import numpy as np

from isthmus.typing import Array


def james_stein(
    y: Any,
    *,
    sigma2: float,
    target: float | str = "mean",
    positive_part: bool = True,
    return_factor: bool = False,
) -> Any:
    r"""Estimate several means from one observation each, with a smaller total error than theirs.

    For independent :math:`y_i\sim N(\theta_i,\sigma^2)`, :math:`i=1,\dots,m`,

    .. math:: \hat\theta=c+\Bigl(1-\frac{(m-2)\sigma^2}{\|y-c\|^2}\Bigr)_+(y-c),\qquad
              \hat\theta=\bar y+\Bigl(1-\frac{(m-3)\sigma^2}{\|y-\bar y\|^2}\Bigr)_+(y-\bar y)

    have a smaller expected *total* squared error than :math:`y`, whatever the means are, from
    :math:`m=3` on for a fixed target :math:`c` and from :math:`m=4` on for the grand mean
    [JamesStein1961]_, [EfronMorris1975]_. A single mean may be estimated worse.

    Parameters
    ----------
    y : array of shape (m,)
        At least 3 numbers, 4 for the grand mean.
    sigma2 : float
        Variance of one observation about its mean, which must be known: *not* the spread of the
        ``y``, which would make the factor a constant.
    target : float or "mean", default="mean"
        Where to shrink to.
    positive_part : bool, default=True
        Never shrink beyond the target, which lowers the error further.
    return_factor : bool, default=False
        Return also the factor in brackets.

    Returns
    -------
    estimates : ndarray of shape (m,)
    factor : float
        Only with ``return_factor``.

    Notes
    -----
    The lecture that this follows prints :math:`m-2` for the grand mean too, and claims a gain from
    three observations on. With three and without the positive part the expected error is infinite:
    it contains the mean of :math:`1/\|y-\bar y\|^2`, which diverges in two dimensions.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import james_stein
    >>> hits = np.array([18, 17, 16, 15, 14, 14, 13, 12, 11, 11, 10, 10, 10, 10, 10, 9, 8, 7])
    >>> average = hits / 45
    >>> mean = average.mean()
    >>> shrunk, factor = james_stein(average, sigma2=mean * (1 - mean) / 45, return_factor=True)
    >>> round(factor, 3), round(float(shrunk[0]), 3)
    (0.212, 0.294)
    """
    values = np.asarray(y, dtype=np.float64)
    to_mean = isinstance(target, str)
    if to_mean and target != "mean":
        raise ValueError(
            f"The 'target' of james_stein must be a float or 'mean'. Got {target!r} instead."
        )
    least = 4 if to_mean else 3
    if values.ndim != 1 or len(values) < least:
        raise ValueError(
            f"james_stein needs at least {least} observations to shrink towards "
            f"{'their mean' if to_mean else 'a number'}. Got shape {values.shape}."
        )
    if not np.isfinite(values).all():
        raise ValueError("james_stein needs finite observations. Got NaN or infinity among them.")
    if not (np.isfinite(sigma2) and sigma2 >= 0):
        raise ValueError(
            f"The 'sigma2' of james_stein must be a float in [0.0, inf). Got {sigma2!r} instead."
        )
    center = values.mean() if to_mean else float(target)
    away = values - center
    factor = _factor(away, sigma2, len(values) - (3 if to_mean else 2), positive_part)
    estimates = center + factor * away
    return (estimates, factor) if return_factor else estimates


def _factor(away: Array, sigma2: float, degrees: int, positive_part: bool) -> float:
    square = float(away @ away)
    if square == 0:  # all at the target: nothing to shrink
        return 0.0 if sigma2 else 1.0
    factor = float(1 - degrees * sigma2 / square)
    return max(factor, 0.0) if positive_part else factor
