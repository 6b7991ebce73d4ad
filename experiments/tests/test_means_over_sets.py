"""A mean over data sets is judged by its own standard error, and not at all from too few sets."""

import numpy as np
import pytest
from isthmus_experiments.experiments._ukr import judge_mean, value_row


@pytest.mark.parametrize(
    ("values", "agrees"),
    [
        ([1.0], None),  # one set
        ([1.5], None),
        ([1.04, 1.06], True),  # within a tenth
        ([1.3, 1.3001], False),  # off, and sure of it
        ([1.0, 1.8], None),  # off, but two sets cannot tell
        ([0.6, 1.0, 1.2, 1.6, 1.8], True),  # off by 24 %, which is chance
        ([1.2, 1.21, 1.22, 1.21, 1.2], False),
    ],
)
def test_a_mean_of_one(values, agrees):
    found, words = judge_mean(values, 1.0)
    assert found is agrees
    assert "published value" in words


def test_more_sets_are_not_asked_for_where_they_change_nothing():
    sure = value_row("x", 1.0, 1.0 + 0.001 * np.arange(6))
    unsure = value_row("x", 1.0, [0.6, 1.0, 1.2, 1.6, 1.8])
    assert "more sets would not change it" in sure.verdict
    assert "more sets" not in unsure.verdict
