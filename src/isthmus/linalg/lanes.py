"""Eight doubles side by side, for compiled loops in which no vector forms by itself.

The compiler turns long loops over one array into vector instructions. It does not where loops are
short, or where it cannot tell that two arrays are apart: triangular systems of few rows, small
blocks of columns. There these functions say it: a value of eight lanes is loaded from an array,
computed with and stored, whatever the machine makes of it (one register, two or four). They can be
called from compiled loops alone, and **check no bounds**: eight numbers from ``start`` on must be
there.
"""

from typing import Any

import numpy as np
from numba import extending, types
from numba.core import cgutils

from isthmus.typing import Array

# numba has no types of its own.
intrinsic: Any = extending.intrinsic
primitive: Any = extending.models.PrimitiveModel
tools: Any = cgutils
ir: Any = tools.ir  # of llvmlite, as numba has it
LANES = 8
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_INDEX = ir.IntType(32)
# a b + c may be rounded once.
_CONTRACT = ("contract",)


def aligned(n: int, m: int) -> Array:
    """An empty matrix whose rows each begin a line of the cache, if m is a multiple of eight.

    A register is then loaded from one line of the cache; from two it takes twice as long.

    >>> aligned(2, 8).shape
    (2, 8)
    """
    memory = np.empty(n * m + LANES)
    start = -memory.__array_interface__["data"][0] // memory.itemsize % LANES
    return memory[start : start + n * m].reshape(n, m)


class LanesType(types.Type):
    """The numba type of eight doubles."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


LANES_TYPE = LanesType()


@extending.register_model(LanesType)
class _LanesModel(primitive):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _place(context: Any, builder: Any, kind: Any, array: Any, *index: Any) -> Any:
    """Address of an entry: an index for each axis, the last one contiguous."""
    held = context.make_array(kind)(context, builder, array)
    place = held.data
    if kind.ndim > 1:
        steps = tools.unpack_tuple(builder, held.strides)
        offset = builder.mul(index[0], steps[0])
        place = tools.pointer_add(builder, place, offset)
    return builder.bitcast(builder.gep(place, [index[-1]]), _VECTOR.as_pointer())


def _spread(builder: Any, number: Any) -> Any:
    """A number in all lanes."""
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    one = builder.insert_element(undefined, number, ir.Constant(_INDEX, 0))
    mask = ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES)
    return builder.shuffle_vector(one, undefined, mask)


@intrinsic
def load(typing_context: Any, array: Any, start: Any) -> Any:
    """``array[start : start + 8]`` of a vector."""
    return LANES_TYPE(array, types.intp), _load


@intrinsic
def load_row(typing_context: Any, array: Any, row: Any, start: Any) -> Any:
    """``array[row, start : start + 8]`` of a matrix; a view of the row would be counted."""
    return LANES_TYPE(array, types.intp, types.intp), _load


def _load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    found = builder.load(_place(context, builder, signature.args[0], *args))
    found.align = 8
    return found


@intrinsic
def store(typing_context: Any, array: Any, start: Any, lanes: Any) -> Any:
    """Write to ``array[start : start + 8]``."""
    return types.void(array, types.intp, LANES_TYPE), _store


@intrinsic
def store_row(typing_context: Any, array: Any, row: Any, start: Any, lanes: Any) -> Any:
    """Write to ``array[row, start : start + 8]``."""
    return types.void(array, types.intp, types.intp, LANES_TYPE), _store


def _store(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    place = _place(context, builder, signature.args[0], *args[:-1])
    builder.store(args[-1], place).align = 8
    return context.get_dummy_value()


@intrinsic
def store_turned(
    typing_context: Any, array: Any, row: Any, start: Any,
    a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any,
) -> Any:  # fmt: skip
    """Write eight lanes as columns: to ``array[row : row + 8, start : start + 8]``."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (held, row, start), lanes = args[:3], list(args[3:])
        # Lanes half of eight, of four and of two apart change places.
        for width in (4, 2, 1):
            for i in (i for i in range(LANES) if not i & width):
                first, second = lanes[i], lanes[i + width]
                for place, own in ((i, 0), (i + width, width)):
                    order = [(j & ~width | own) + (LANES if j & width else 0) for j in range(LANES)]
                    mask = ir.Constant(ir.VectorType(_INDEX, LANES), order)
                    lanes[place] = builder.shuffle_vector(first, second, mask)
        for i, turned in enumerate(lanes):
            at = builder.add(row, ir.Constant(row.type, i))
            place = _place(context, builder, signature.args[0], held, at, start)
            builder.store(turned, place).align = 8
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, *[LANES_TYPE] * LANES), code


@intrinsic
def fetch_row(typing_context: Any, array: Any, row: Any, start: Any) -> Any:
    """Ask for the line of the cache with ``array[row, start]``, which need not be there."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        fetch = tools.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        place = builder.bitcast(_place(context, builder, signature.args[0], *args), byte)
        # To be read, to stay in the nearest cache, as data.
        builder.call(fetch, [place, *(ir.Constant(number, kind) for kind in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), code


@intrinsic
def spread(typing_context: Any, number: Any) -> Any:
    """A number in all lanes."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _spread(builder, args[0])

    return LANES_TYPE(types.float64), code


@intrinsic
def scaled(typing_context: Any, number: Any, lanes: Any) -> Any:
    """The number times the lanes."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fmul(_spread(builder, args[0]), args[1])

    return LANES_TYPE(types.float64, LANES_TYPE), code


@intrinsic
def more(typing_context: Any, lanes: Any, number: Any, others: Any) -> Any:
    """Lanes + number · others."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        product = builder.fmul(_spread(builder, args[1]), args[2], flags=_CONTRACT)
        return builder.fadd(args[0], product, flags=_CONTRACT)

    return LANES_TYPE(LANES_TYPE, types.float64, LANES_TYPE), code


@intrinsic
def less(typing_context: Any, lanes: Any, number: Any, others: Any) -> Any:
    """Lanes - number · others."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        product = builder.fmul(_spread(builder, args[1]), args[2], flags=_CONTRACT)
        return builder.fsub(args[0], product, flags=_CONTRACT)

    return LANES_TYPE(LANES_TYPE, types.float64, LANES_TYPE), code


@intrinsic
def more_products(typing_context: Any, lanes: Any, first: Any, second: Any) -> Any:
    """Lanes + first · second, lane by lane."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        product = builder.fmul(args[1], args[2], flags=_CONTRACT)
        return builder.fadd(args[0], product, flags=_CONTRACT)

    return LANES_TYPE(LANES_TYPE, LANES_TYPE, LANES_TYPE), code


@intrinsic
def less_products(typing_context: Any, lanes: Any, first: Any, second: Any) -> Any:
    """Lanes - first · second, lane by lane: in one step, even if the product is used elsewhere."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        add = tools.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{LANES}f64")
        return builder.call(add, [builder.fneg(args[1]), args[2], args[0]])

    return LANES_TYPE(LANES_TYPE, LANES_TYPE, LANES_TYPE), code


@intrinsic
def products(typing_context: Any, first: Any, second: Any) -> Any:
    """First · second, lane by lane."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fmul(args[0], args[1])

    return LANES_TYPE(LANES_TYPE, LANES_TYPE), code


@intrinsic
def quotients(typing_context: Any, first: Any, second: Any) -> Any:
    """First / second, lane by lane."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fdiv(args[0], args[1])

    return LANES_TYPE(LANES_TYPE, LANES_TYPE), code


@intrinsic
def moduli(typing_context: Any, lanes: Any) -> Any:
    """The moduli of the lanes."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        found = tools.get_or_insert_function(builder.module, kind, f"llvm.fabs.v{LANES}f64")
        return builder.call(found, args)

    return LANES_TYPE(LANES_TYPE), code


@intrinsic
def roots(typing_context: Any, lanes: Any) -> Any:
    """The square roots of the lanes."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        found = tools.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{LANES}f64")
        return builder.call(found, args)

    return LANES_TYPE(LANES_TYPE), code


@intrinsic
def reciprocal_roots(typing_context: Any, lanes: Any) -> Any:
    """One over the square roots of lanes between 1e-36 and 1e36, to the last two bits.

    An estimate in single precision, for which processors have an instruction, takes a third of the
    time of roots and divisions; a step of third order then makes 22 bits more than 53. Times the
    lanes themselves these are the roots.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (x,), short = args, ir.VectorType(ir.FloatType(), LANES)
        kind = ir.FunctionType(short, [short])
        root = tools.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{LANES}f32")
        found = builder.call(root, [builder.fptrunc(x, short)], fastmath=("fast",))
        found = builder.fdiv(ir.Constant(short, [1.0] * LANES), found, flags=("fast",))
        y, flags = builder.fpext(found, _VECTOR), {"flags": _CONTRACT}
        one, half, last = (ir.Constant(_VECTOR, [c] * LANES) for c in (1.0, 0.5, 0.375))
        # y (1 - r)^(-1/2) = y (1 + r/2 + 3r²/8 + ...) with r = 1 - x y²
        r = builder.fsub(one, builder.fmul(builder.fmul(x, y), y, **flags), **flags)
        share = builder.fadd(half, builder.fmul(last, r, **flags), **flags)
        return builder.fadd(y, builder.fmul(builder.fmul(y, r), share, **flags), **flags)

    return LANES_TYPE(LANES_TYPE), code


@intrinsic
def where_larger(typing_context: Any, first: Any, second: Any, then: Any, other: Any) -> Any:
    """``then`` in the lanes where first > second, in the rest ``other``."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[2], args[3])

    return LANES_TYPE(LANES_TYPE, LANES_TYPE, LANES_TYPE, LANES_TYPE), code


@intrinsic
def total(typing_context: Any, lanes: Any) -> Any:
    """The sum of the lanes, in pairs."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        sums = args[0]
        for width in (4, 2, 1):
            sums = builder.fadd(sums, _turned(builder, sums, width))
        return builder.extract_element(sums, ir.Constant(_INDEX, 0))

    return types.float64(LANES_TYPE), code


@intrinsic
def larger_modulus(typing_context: Any, lanes: Any, others: Any) -> Any:
    """The larger of the lanes and the moduli of others, lane by lane."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        known, found = args
        moduli = builder.select(
            builder.fcmp_ordered("<", found, ir.Constant(_VECTOR, [0.0] * LANES)),
            builder.fneg(found),
            found,
        )
        return builder.select(builder.fcmp_ordered(">", moduli, known), moduli, known)

    return LANES_TYPE(LANES_TYPE, LANES_TYPE), code


@intrinsic
def largest(typing_context: Any, lanes: Any) -> Any:
    """The largest of the lanes."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        known = args[0]
        for width in (4, 2, 1):
            other = _turned(builder, known, width)
            known = builder.select(builder.fcmp_ordered(">", other, known), other, known)
        return builder.extract_element(known, ir.Constant(_INDEX, 0))

    return types.float64(LANES_TYPE), code


def _turned(builder: Any, lanes: Any, width: int) -> Any:
    """Lanes moved by ``width`` places, around the end."""
    order = [(i + width) % LANES for i in range(LANES)]
    mask = ir.Constant(ir.VectorType(_INDEX, LANES), order)
    return builder.shuffle_vector(lanes, ir.Constant(_VECTOR, ir.Undefined), mask)
