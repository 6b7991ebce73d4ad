"""Lanes in rows of memory, found by an address: for loops that call other loops.

An array that is handed from loop to loop is counted at every call, by an atomic step that takes
longer than the work of a short loop; an address is a number. Rows have eight lanes and begin one
after the other, so that distances between them are constants to the compiler. The caller keeps the
array alive, and **no bounds are checked**.
"""

from typing import Any

import numpy as np
from numba import types

from isthmus.linalg.lanes import LANES, LANES_TYPE, aligned, intrinsic, ir
from isthmus.typing import Array

_ROW_BYTES = LANES * 8


def zero_rows(size: int) -> Array:
    """So many rows of eight zeros, each a line of the cache.

    >>> zero_rows(2).shape
    (2, 8)
    """
    rows = aligned(size, LANES)
    rows.fill(0.0)
    return rows


def address(rows: Array) -> int:
    """Where the first row begins."""
    assert rows.dtype == np.float64
    assert rows.flags.c_contiguous
    return int(rows.ctypes.data)


def _place(builder: Any, start: Any, index: Any, n_bytes: int, kind: Any) -> Any:
    step = builder.mul(index, ir.Constant(ir.IntType(64), n_bytes))
    return builder.inttoptr(builder.add(start, step), ir.PointerType(kind))


@intrinsic
def lanes_at(typing_context: Any, start: Any, row: Any) -> Any:
    """The lanes of a row of the memory that begins at an address."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(LANES_TYPE)
        found = builder.load(_place(builder, args[0], args[1], _ROW_BYTES, kind))
        found.align = 8
        return found

    return LANES_TYPE(types.int64, types.int64), code


@intrinsic
def put_lanes(typing_context: Any, start: Any, row: Any, lanes: Any) -> Any:
    """Write lanes to a row."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(LANES_TYPE)
        builder.store(args[2], _place(builder, args[0], args[1], _ROW_BYTES, kind)).align = 8
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, LANES_TYPE), code


@intrinsic
def number_at(typing_context: Any, start: Any, index: Any) -> Any:
    """A double of an array that begins at an address."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_place(builder, args[0], args[1], 8, ir.DoubleType()))

    return types.float64(types.int64, types.int64), code


@intrinsic
def index_at(typing_context: Any, start: Any, index: Any) -> Any:
    """An int of an array of 32 bits each that begins at an address."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = builder.load(_place(builder, args[0], args[1], 4, ir.IntType(32)))
        return builder.sext(found, ir.IntType(64))

    return types.int64(types.int64, types.int64), code
