"""Exponential functions of eight doubles side by side, for compiled loops."""

from typing import Any

from isthmus.linalg.lanes import LANES, LANES_TYPE, intrinsic, ir, tools

_VECTOR, _BITS = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(ir.IntType(64), LANES)
# Below this the exponential is smaller than any number of full precision: it counts as zero.
_LEAST = -707.0
# Added to a number, this rounds it to an integer, which is then in the last bits.
_ROUNDING = 1.5 * 2.0**52
# log 2 in two parts, of which the first has zeros at its end: exact times any exponent.
_HIGH, _LOW = float.fromhex("0x1.62e42fefa0000p-1"), float.fromhex("0x1.cf79abc9e3b3ap-40")
# (e^r - 1 - r) / r² on |r| <= log(2) / 2 to 2e-17, as a Chebyshev sum in powers of r.
_POWERS = (
    0.5000000000000001,
    0.1666666666666667,
    0.04166666666662413,
    0.008333333333326018,
    0.0013888888917212379,
    0.00019841269875367075,
    2.4801521297249476e-05,
    2.755725466120736e-06,
    2.762008807748901e-07,
    2.5105521586532867e-08,
)


def _all(number: float) -> Any:
    return ir.Constant(_VECTOR, [number] * LANES)


@intrinsic
def decays(typing_context: Any, lanes: Any) -> Any:
    r"""The exponentials :math:`e^{\min(x,0)}` of the lanes, to the last bit or two.

    With :math:`x=k\log2+r` it is :math:`2^ke^r`: a polynomial, to whose exponent k is added.
    Below -707, where that exponent would end, the value is zero.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        fused = tools.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{LANES}f64")

        def more(a: Any, b: Any, c: Any) -> Any:  # a b + c
            return builder.call(fused, [a, b, c])

        (x,) = args
        x = builder.select(builder.fcmp_ordered(">", x, _all(0.0)), _all(0.0), x)
        vanishes = builder.fcmp_ordered("<", x, _all(_LEAST))
        unknown = builder.fcmp_unordered("uno", x, x)
        shifted = more(x, _all(1.4426950408889634), _all(_ROUNDING))
        k = builder.fsub(shifted, _all(_ROUNDING))
        r = more(k, _all(-_LOW), more(k, _all(-_HIGH), x))
        q = _all(_POWERS[-1])
        for c in _POWERS[-2::-1]:
            q = more(q, r, _all(c))
        p = builder.fadd(more(builder.fmul(r, r), q, r), _all(1.0))
        exponent = builder.shl(builder.bitcast(shifted, _BITS), ir.Constant(_BITS, [52] * LANES))
        found = builder.bitcast(builder.add(builder.bitcast(p, _BITS), exponent), _VECTOR)
        return builder.select(unknown, x, builder.select(vanishes, _all(0.0), found))

    return LANES_TYPE(LANES_TYPE), code
