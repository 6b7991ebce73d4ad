"""Powers of two for compiled loops, in which the library's exponential keeps vectors from forming.

They can be called from compiled loops alone.
"""

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from isthmus._compiled import njit

# Exponents are cut off here, for powers that a double has.
LEAST, MOST = -1000.0, 1000.0
# Chebyshev's series of 2^x for |x| <= 1/2 in powers of x: no farther off than rounding.
C = (
    1.0,
    0.69314718055995,
    0.24022650695910158,
    0.05550410866444768,
    0.009618129107587253,
    0.0013333558230170627,
    0.00015403530463727982,
    1.5252657257186041e-05,
    1.3215432534254118e-06,
    1.020869083593037e-07,
    7.074194562613105e-09,
)


def _bitcast(context: Any, bits: Any) -> Any:
    """The double that has the bits of an integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


_float_of_bits: Any = intrinsic(_bitcast)


@njit(fastmath=True, inner=True)
def power_of_two(x):
    r"""The power :math:`2^x` without a branch; ``x`` is negative but for rounding."""
    x = min(max(x, LEAST), MOST)
    whole = np.int32(x - 0.5)
    f = x - whole
    p = C[10]
    p = p * f + C[9]
    p = p * f + C[8]
    p = p * f + C[7]
    p = p * f + C[6]
    p = p * f + C[5]
    p = p * f + C[4]
    p = p * f + C[3]
    p = p * f + C[2]
    p = p * f + C[1]
    p = p * f + C[0]
    return p * _float_of_bits((np.int64(whole) + 1023) << 52)
