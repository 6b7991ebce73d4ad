import numpy as np
import pytest
from isthmus_experiments import run
from isthmus_experiments.experiments._psom_arm import LIMITS, postures, wrist
from numpy.testing import assert_allclose

from isthmus.datasets import is_available


def test_wrist_of_four_joints_is_the_closed_form():
    q = postures(50, np.random.default_rng(0))
    assert np.all(np.abs(q) <= LIMITS)
    a, b, c, d = q.T
    x, y, z = (
        500 * np.cos(c) * np.sin(d),
        500 * np.sin(c) * np.sin(d),
        450 + 500 * np.cos(d),
    )
    along = np.cos(b) * x + np.sin(b) * z
    expected = np.c_[
        np.cos(a) * along - np.sin(a) * y,
        np.sin(a) * along + np.cos(a) * y,
        np.cos(b) * z - np.sin(b) * x,
    ]
    assert_allclose(wrist(q), expected, atol=1e-9)


def test_only_two_local_cells_of_the_arm_differ_from_the_document(quiet):
    (result,) = run(["PSOM-arm"], quick=True, console=quiet)
    differ = [row.quantity for row in result.outcome.rows if row.agrees is False]
    assert [("local" in q, "Chebyshev" in q) for q in differ] == [(True, True)] * 2


@pytest.mark.parametrize("id", ["PSOM-missing", "PSOM-noise", "PSOM-toys", "PSOM-recall"])
def test_findings_agree_in_a_quick_run(quiet, id):
    (result,) = run([id], quick=True, console=quiet)
    assert result.error == ""
    assert result.status == "agrees"


@pytest.mark.slow
@pytest.mark.skipif(not is_available("oilflow"), reason="needs the oil flow of ISTHMUS_DATA")
def test_flow_regimes_come_apart_on_the_learned_plane(quiet):
    (result,) = run(["PSOM-oil"], quick=True, console=quiet)
    assert result.status == "agrees"
