import numpy as np
import pytest
from isthmus_experiments import run
from isthmus_experiments.experiments._arm import ARM, ELBOW, TIP
from isthmus_experiments.experiments._partial_least_squares import pls_coefficients
from isthmus_experiments.measure import mae, ratio, rmse, timed
from sklearn.cross_decomposition import PLSRegression

from isthmus.datasets import is_available

DATA_FREE = (
    "LPR-degrees",
    "LPR-sine",
    "UKR-bowl",
    "UKR-defaults",
    "UKR-half-circle",
    "UKR-half-circle-degrees",
    "UKR-roll-degrees",
    "UKR-roll-losses",
    "UKR-spiral-degrees",
    "UKR-spiral-ends",
    "UKR-spiral-landmarks",
    "UKR-spiral-left-out",
    "UKR-spiral-losses",
    "UKR-spiral-starts",
    "UKR-spiral-steps",
    "UKR-spiral-tubes",
    "UKR-triangle",
    "PSOM-arm",
    "PSOM-bowl",
    "PSOM-curves",
    "PSOM-missing",
    "PSOM-noise",
    "PSOM-random",
    "PSOM-recall",
    "PSOM-toys",
    "CORE-ball",
    "CURVES-followed",
    "CORE-machine",
    "CORE-further",
    "E-10",
    "E-12",
    "E-13",
    "E-16",
    "SFA",
    "SFA-pictures",
    "E-01",
    "E-02",
    "E-04",
    "E-05",
    "E-06",
    "E-08",
    "E-14",
    "E-15",
    "GP-posterior",
    "GP-parameters",
    "GP-optima",
    "GP-covariances",
    "GP-calibration",
    "KDE-digits",
    "KDE-multilabel",
    "DEP-measures",
    "RED-diabetes",
    "RED-planted",
    "RED-solvers",
    "SERIES-kernels",
    "SERIES-lag",
    "SERIES-classes",
    "SERIES-windows",
)
NEED_DATA = (
    "IMITATION-mocap",
    "E-03",
    "E-07",
    "KDE-usps",
    "PSOM-oil",
    "UKR-digits",
    "UKR-digits-kernel",
    "UKR-oil",
    "UKR-two",
    "UKR-two-tubes",
    "RED-boston",
    "RED-music",
    "RED-blog",
    "RED-ct",
    "RED-uji",
    "MOCAP-morph",
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Quick runs, in full with their report, of everything that needs no data folder."""
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ISTHMUS_DATA", raising=False)
        found = run([*DATA_FREE, *NEED_DATA], quick=True, report=folder)
    return {r.experiment.id: r for r in found} | {"page": (folder / "index.html").read_text()}


def finding(result, words):
    (row,) = [row for row in result.outcome.rows if words in row.quantity]
    return row


@pytest.mark.parametrize("id", DATA_FREE)
def test_quick_run_ends_without_failure_or_warning(results, id):
    assert results[id].error == ""
    assert results[id].warnings == ()


@pytest.mark.parametrize("id", DATA_FREE)
def test_every_row_has_a_verdict_and_every_picture_is_in_the_page(results, id):
    outcome = results[id].outcome
    assert all(row.verdict for row in outcome.rows)
    if results[id].images:
        assert set(results[id].images) == {p.name for p in outcome.pictures}
        assert all(p.caption in results["page"] for p in outcome.pictures)


@pytest.mark.parametrize("id", NEED_DATA)
def test_experiment_without_its_data_is_skipped(results, id):
    assert results[id].status == "skipped"


@pytest.mark.parametrize(
    "id", ["GP-posterior", "GP-parameters", "GP-optima", "GP-covariances", "GP-calibration"]
)
def test_gaussian_processes_do_what_the_figures_show(results, id):
    assert results[id].status == "agrees"


def test_learned_faces_are_smoother_than_those_from_three_neighbours(results):
    assert finding(results["E-08"], "roughness").agrees


def test_dependency_estimation_on_digits_beats_neighbour_and_is_no_worse_than_ridge(results):
    assert results["KDE-digits"].status == "agrees"


def test_search_of_training_outputs_loses_to_kernel_ridge_and_linear_outputs_do_not(results):
    # Learned and gradient pre-images are level with kernel ridge at the few rows of a quick run.
    assert finding(results["KDE-multilabel"], "among training outputs").agrees
    assert finding(results["KDE-multilabel"], "linear output kernel").agrees


def test_geodesics_descend_and_beat_only_a_short_step_of_back_projection(results):
    assert finding(results["E-01"], "never rises").agrees
    assert finding(results["E-01"], "back-projection, short").agrees
    assert not finding(results["E-01"], "back-projection, right").agrees


def test_limited_rank_beats_partial_least_squares_on_collinear_inputs(results):
    # With noise of variance 1 and few kappas the most collinear inputs weigh too much.
    assert finding(results["E-02"], "variance 0.1").agrees


def test_limited_rank_generalises_better_than_ridge_on_inverse_kinematics(results):
    for penalty in ("0.01", "0.1"):
        assert finding(results["E-05"], f"penalty {penalty}: training errors").agrees
        assert finding(results["E-05"], f"penalty {penalty}: test error, limited").agrees


def test_one_wild_joint_value_bends_partial_least_squares_but_not_the_absolute_loss(results):
    assert results["E-06"].status == "agrees"


def test_imitation_fuses_exactly_and_features_stay_with_the_posture(results):
    for words in ("fused extractor", "unknown skin colour", "50% of the patterns"):
        assert finding(results["E-13"], words).agrees
    assert not finding(results["E-13"], "(95 %), linear base").agrees
    assert results["E-16"].status == "agrees"


def test_outliers_bend_least_squares_but_not_the_laplace_likelihood(results):
    assert results["E-04"].status == "agrees"


@pytest.mark.slow
@pytest.mark.skipif(not is_available("usps"), reason="needs the USPS digits of ISTHMUS_DATA")
def test_kernel_methods_beat_the_nearest_neighbour_on_usps_centres(quiet):
    (result,) = run(["KDE-usps"], quick=True, console=quiet)
    assert result.error == ""
    assert finding(result, "order of the errors").agrees


@pytest.mark.slow
@pytest.mark.skipif(not is_available("faces_cbcl"), reason="needs the faces of ISTHMUS_DATA")
def test_a_stream_takes_strong_noise_off_faces(quiet):
    (result,) = run(["E-03"], quick=True, console=quiet)
    assert result.error == ""
    assert finding(result, "variance 0.01: RMSE of the noisy image").agrees
    assert finding(result, "variance 0.01: RMSE of the exact stream").agrees


@pytest.mark.slow
@pytest.mark.skipif(not is_available("usps"), reason="needs the USPS digits of ISTHMUS_DATA")
def test_limited_rank_is_better_than_ridge_cut_to_the_rank_on_usps(quiet):
    (result,) = run(["E-07"], quick=True, console=quiet)
    assert result.error == ""
    assert finding(result, "lower half, [-1, 1]: limited rank over ridge cut").agrees
    assert finding(result, "lower half, [-1, 1]: partial least squares").agrees


def test_partial_least_squares_from_moments_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8)) * np.exp(-np.arange(8) / 4)
    Y = X @ rng.normal(size=(8, 5)) + 0.1 * rng.normal(size=(60, 5))
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    for rank, F in enumerate(pls_coefficients(X, Y, 5), start=1):
        peer = PLSRegression(rank, scale=False, tol=1e-14, max_iter=10_000).fit(X, Y)
        np.testing.assert_allclose(F, peer.coef_, atol=1e-5)


def test_arm_reaches_the_known_points():
    points = 100 * ARM.positions(np.arange(1, 8) / 10)  # mm
    np.testing.assert_allclose(points[ELBOW], [88.954565, 8.925227, 441.029960], atol=1e-5)
    np.testing.assert_allclose(points[TIP], [412.437565, 138.485044, 889.360030], atol=1e-5)


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
