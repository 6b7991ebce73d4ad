"""Huber's loss in one pass."""

from isthmus._compiled import njit

# Numbers that are summed by themselves: sums of sums are more exact than long ones.
_SUMMED = 4096


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def clip_and_sum(residuals, delta, slopes):
    """Write the slopes of Huber's loss of a vector of residuals; return the sum of the losses."""
    total = 0.0
    for start in range(0, len(residuals), _SUMMED):
        part = residuals[start : start + _SUMMED]
        out = slopes[start : start + _SUMMED]
        value = 0.0
        for i in range(len(part)):
            e = part[i]
            slope = delta if e > delta else e  # what is not a number stays so
            slope = -delta if e < -delta else slope
            out[i] = slope
            value += slope * (e - 0.5 * slope)
        total += value
    return total
