import numpy as np
import pytest

from isthmus.datasets import is_available
from isthmus.reproduce import run
from isthmus.reproduce._measure import mae, ratio, rmse, timed

DATA_FREE = ("E-04", "E-08", "KDE-digits", "KDE-multilabel")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Quick runs, in full with their report, of everything that needs no data folder."""
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ISTHMUS_DATA", raising=False)
        found = run([*DATA_FREE, "KDE-usps"], quick=True, report=folder)
    return {r.experiment.id: r for r in found} | {"page": (folder / "index.html").read_text()}


def finding(result, words):
    (row,) = [row for row in result.outcome.rows if words in row.quantity]
    return row


@pytest.mark.parametrize("id", DATA_FREE)
def test_quick_run_ends_without_failure_or_warning(results, id):
    assert results[id].error == ""
    assert results[id].warnings == ()
    assert results[id].seconds < 30


@pytest.mark.parametrize("id", DATA_FREE)
def test_every_row_has_a_verdict_and_every_picture_is_in_the_page(results, id):
    outcome = results[id].outcome
    assert all(row.verdict for row in outcome.rows)
    if results[id].images:
        assert set(results[id].images) == {p.name for p in outcome.pictures}
        assert all(p.caption in results["page"] for p in outcome.pictures)


def test_experiment_without_its_data_is_skipped(results):
    assert results["KDE-usps"].status == "skipped"


def test_preimages_from_data_are_faster_than_iterative_ones(results):
    # Gradient against fixed point is too close a race for a test on a busy machine.
    assert finding(results["E-08"], "time per query").agrees


def test_learned_faces_are_smoother_than_those_from_three_neighbours(results):
    assert finding(results["E-08"], "roughness").agrees


def test_dependency_estimation_on_digits_beats_neighbour_and_is_no_worse_than_ridge(results):
    assert results["KDE-digits"].status == "agrees"


def test_search_of_training_outputs_loses_to_kernel_ridge_and_free_preimages_do_not(results):
    assert results["KDE-multilabel"].status == "agrees"


def test_outliers_bend_least_squares_but_not_the_laplace_likelihood(results):
    assert results["E-04"].status == "agrees"


@pytest.mark.slow
@pytest.mark.skipif(not is_available("usps"), reason="needs the USPS digits of ISTHMUS_DATA")
def test_kernel_methods_beat_the_nearest_neighbour_on_usps_centres(quiet):
    (result,) = run(["KDE-usps"], quick=True, console=quiet)
    assert result.error == ""
    assert finding(result, "order of the errors").agrees


def test_errors_of_a_constant_offset_are_that_offset():
    assert mae(np.zeros((2, 3)), np.full((2, 3), -0.5)) == 0.5
    assert rmse(np.zeros((2, 3)), np.full((2, 3), -0.5)) == 0.5


def test_timed_repeats_short_calls_and_returns_the_value():
    calls = []
    value, seconds = timed(lambda: calls.append(1) or len(calls), at_least=0.01)
    assert value == len(calls) > 1
    assert 0 <= seconds < 0.01


def test_ratio_is_rounded_to_what_a_time_can_bear():
    assert (ratio(1399.7), ratio(1.234)) == ("1400 : 1", "1.2 : 1")
