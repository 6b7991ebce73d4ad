"""What the quick runs of the experiments on sparse codes must show."""

import pytest
from isthmus_experiments import run

IDS = ("SC-pursuit", "SC-ksvd", "SC-codes", "SC-denoise", "SC-inpaint", "SC-classes")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ISTHMUS_DATA", raising=False)
        found = run(list(IDS), quick=True, report=tmp_path_factory.mktemp("report"))
    return {r.experiment.id: r for r in found}


@pytest.mark.parametrize("id", IDS)
def test_quick_run_ends_with_verdicts_and_without_warning(results, id):
    assert results[id].error == ""
    assert results[id].warnings == ()
    assert all(row.verdict for row in results[id].outcome.rows)


@pytest.mark.parametrize("id", ["SC-pursuit", "SC-ksvd", "SC-codes", "SC-inpaint", "SC-classes"])
def test_findings_agree_with_the_document(results, id):
    assert results[id].status == "agrees"


def test_learned_atoms_take_off_more_noise_than_waves(results):
    # The gain asked for holds for a whole photograph; the small busy part of a quick run is below.
    (row,) = [r for r in results["SC-denoise"].outcome.rows if "against waves" in r.quantity]
    assert row.agrees
