"""Lent memory: two borrowers never share it, and little of it is kept."""

import numpy as np

from isthmus.linalg import scratch as module
from isthmus.linalg.scratch import scratch


def test_two_borrowers_have_two_buffers_and_the_next_one_of_them():
    with scratch(3, 4) as outer, scratch(12) as inner:
        assert outer.shape == (3, 4)
        assert not np.shares_memory(outer, inner)
    with scratch(5) as again:
        assert np.shares_memory(again, outer) or np.shares_memory(again, inner)


def test_large_or_many_buffers_go_back():
    with scratch(module._LARGEST + 1) as large:
        pass
    with scratch(1) as a, scratch(1) as b, scratch(1) as c, scratch(1) as d, scratch(1) as e:
        assert not any(np.shares_memory(large, x) for x in (a, b, c, d, e))
    assert len(module._free) <= module._KEPT


def test_a_buffer_comes_back_after_an_error():
    held = len(module._free)
    try:
        with scratch(7):
            raise KeyError
    except KeyError:
        pass
    assert len(module._free) == max(held, 1)
