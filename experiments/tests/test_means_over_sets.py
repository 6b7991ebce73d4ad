"""A mean over data sets is judged by its own standard error, and not at all from too few sets."""

import pytest
from isthmus_experiments.experiments._ukr import judge_mean


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
