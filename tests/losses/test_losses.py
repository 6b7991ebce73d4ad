"""Losses: slopes, limits, stages, shapes, automatic parameters, bad parameters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from isthmus.losses import (
    Absolute,
    Epsilon,
    Huber,
    LogCosh,
    Logistic,
    Loss,
    PseudoHuber,
    Quantile,
    ResidualLoss,
    Squared,
    as_loss,
)
from isthmus.losses.absolute import RootAbsolute, TanhAbsolute
from isthmus.losses.robust import LEAST_COMPILED
from isthmus.losses.spread import LEAST_NUMBERS, robust_spread, weighted_median
from isthmus.losses.spread_loops import select_middles

SHAPES = ["cube", "ball"]
ROBUST = [Huber, PseudoHuber, LogCosh]
# Residuals of five rows of three; none lies at a corner of a loss.
R = np.random.default_rng(3).normal(size=(5, 3)) * np.array([[0.1], [0.5], [1.0], [4.0], [0.01]])
ROWS = np.array([0.05, 0.1, 0.3, 0.2, 0.4])

SMOOTH = [Squared(), RootAbsolute(3.0), TanhAbsolute(3.0)]
SMOOTH += [cls(0.7, shape=shape) for cls in ROBUST for shape in SHAPES]
SMOOTH += [Epsilon(width=0.3, power=2, shape=shape) for shape in SHAPES]
SMOOTH += [Epsilon(width=ROWS, power=2, shape=shape) for shape in SHAPES]
SMOOTH += [Epsilon(width=w, shape=s).stages(0.5)[0] for s in SHAPES for w in (0.3, ROWS)]
SMOOTH += [RootAbsolute(3.0, shape="ball"), Quantile(0.2).stages(0.5)[0]]
KINKED = [Absolute(), Absolute(shape="ball"), Quantile(0.2)]
KINKED += [Epsilon(width=0.3, shape=shape) for shape in SHAPES]


def name(value):
    shape = getattr(value, "shape", None)
    return f"{type(value).__name__}-{shape}" if isinstance(value, Loss) else None


def total(loss, E):
    return loss.row_values(E)[0].sum()


@pytest.mark.parametrize("loss", SMOOTH + KINKED + [cls() for cls in ROBUST], ids=name)
def test_only_a_loss_that_says_so_looks_at_the_spread(loss):
    def looked(spread):
        resolved = loss.resolve(spread)
        return repr((resolved, resolved.stages(spread)))

    if not loss.needs_spread:
        assert looked(0.5) == looked(2.0)
    elif type(loss) in ROBUST:
        assert looked(0.5) != looked(2.0)


class SharperStages:
    def stages(self, spread):
        return tuple(RootAbsolute(a / spread) for a in (1.0, 10.0))


class Sharper(Squared):
    stages = SharperStages.stages


class Sharpest(Sharper):
    pass


class Mixed(SharperStages, Huber):
    pass


class AutoWidth(Huber):
    def resolve(self, spread):
        return Huber(spread)


class Published(Squared):
    def as_published(self):
        return Absolute()


class Renamed(Huber):
    def profile(self, E):
        return super().profile(E)


class Declared(Huber):
    needs_spread = False

    def stages(self, spread):
        return (self, self)


@pytest.mark.parametrize(
    ("loss", "needed"),
    [(cls(), True) for cls in (Sharper, Sharpest, Published)]
    + [(cls(0.5), True) for cls in (Mixed, AutoWidth)]
    + [(Renamed(0.5), False), (Renamed(), True), (Declared(), False)],
)
def test_a_subclass_with_stages_of_its_own_is_given_the_spread(loss, needed):
    assert loss.needs_spread is needed


@pytest.mark.parametrize("weighted", [False, True])
def test_working_outputs_are_clipped_at_three_spreads(weighted, rng):
    Y = rng.standard_cauchy(size=(101, 3))
    Y[:, 2] = np.where(rng.random(101) < 0.8, 1.0, Y[:, 2])  # most are the median: none is far
    middle = np.median(Y, axis=0)
    reach = 3 * 1.4826 * np.median(np.abs(Y - middle), axis=0)
    reach[2] = np.inf
    working = Huber().working_outputs(Y, np.ones(101) if weighted else None)
    assert_array_equal(working, np.clip(Y, middle - reach, middle + reach))


# Slopes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", SMOOTH, ids=name)
def test_slope_is_the_derivative(loss, assert_gradient, rng):
    assert_gradient(lambda E: total(loss, E), lambda E: loss.row_values(E)[1], R, rng)


@pytest.mark.parametrize("loss", SMOOTH + KINKED, ids=name)
def test_slope_is_the_derivative_at_each_residual(loss):
    h = 1e-7 * np.abs(R)
    for j in range(R.shape[1]):
        step = np.zeros_like(R)
        step[:, j] = h[:, j]
        numeric = (loss.row_values(R + step)[0] - loss.row_values(R - step)[0]) / (2 * h[:, j])
        assert_allclose(loss.row_values(R)[1][:, j], numeric, atol=1e-6, rtol=1e-5)


def test_slope_of_the_logistic_loss_is_the_derivative(assert_gradient, rng):
    Y = rng.uniform(size=(5, 3))
    loss = Logistic()
    assert_gradient(
        lambda P: loss.evaluate(Y, P)[0].sum(), lambda P: loss.evaluate(Y, P)[1], R, rng
    )


@pytest.mark.parametrize("loss", SMOOTH + KINKED, ids=name)
def test_predictions_outputs_and_rows_agree_with_residuals(loss):
    Y = np.random.default_rng(0).normal(size=R.shape)
    values, slopes = loss.of_residuals(R)
    by_output = loss.evaluate(Y, Y + R)
    assert_allclose(by_output[0], values, atol=1e-12)
    assert_allclose(by_output[1], slopes, atol=1e-7)
    assert slopes.shape == R.shape
    assert values.shape == ((5,) if loss.shape == "ball" else R.shape)
    assert_allclose(loss.row_values(R)[0], values if values.ndim == 1 else values.sum(axis=1))
    assert_allclose(loss.row_values(R)[1], slopes)
    assert_allclose(loss.summed(R)[0], values.sum())
    assert_array_equal(loss.summed(R)[1], slopes)


# Limits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("cls", ROBUST)
def test_robust_losses_are_half_the_squared_one_near_zero(cls, shape):
    values, slopes = cls(1e9, shape=shape).row_values(R)
    expected, gradient = Squared().row_values(R)
    assert_allclose(values, expected / 2, rtol=1e-12)
    assert_allclose(slopes, gradient / 2, rtol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("cls", ROBUST)
def test_robust_losses_are_absolute_far_from_zero(cls, shape):
    delta = 1e-9
    values, slopes = cls(delta, shape=shape).row_values(R)
    expected, gradient = Absolute(shape=shape).row_values(R)
    assert_allclose(values / delta, expected, atol=1e-8)
    assert_allclose(slopes / delta, gradient, atol=1e-6)


def test_huber_is_the_formula():
    E = np.array([-3.0, -0.5, 0.0, 0.2, 0.7, 2.0])
    delta = 0.7
    expected = np.where(abs(E) <= delta, E**2 / 2, delta * (abs(E) - delta / 2))
    assert_allclose(Huber(delta).of_residuals(E)[0], expected)


def test_log_cosh_and_pseudo_huber_are_their_formulas():
    E = np.linspace(-8, 8, 81)
    assert_allclose(LogCosh(1.3).of_residuals(E)[0], 1.69 * np.log(np.cosh(E / 1.3)), atol=1e-15)
    root = np.sqrt(1 + (E / 1.3) ** 2)
    assert_allclose(PseudoHuber(1.3).of_residuals(E)[0], 1.69 * (root - 1), atol=1e-15)


@pytest.mark.parametrize("cls", [PseudoHuber, LogCosh])
def test_smooth_robust_losses_lie_between_a_bounded_slope_and_huber(cls):
    E = np.linspace(-9, 9, 901)
    values, slopes = cls(0.8).of_residuals(E)
    highest, steepest = Huber(0.8).of_residuals(E)
    assert (values <= highest + 1e-12).all()
    assert (np.abs(slopes) <= np.abs(steepest) + 1e-12).all()
    assert (values >= 0.8 * (np.abs(E) - 0.8)).all()


@pytest.mark.parametrize("cls", ROBUST)
def test_the_largest_residuals_do_not_overflow(cls):
    E = np.array([-1e300, 1e300, 1e-300, 0.0])
    with np.errstate(over="raise", invalid="raise"):
        values, slopes = cls(1.0).of_residuals(E)
    assert_allclose(values, [1e300, 1e300, 0, 0])
    assert_allclose(slopes, [-1, 1, 0, 0], atol=1e-299)


def test_a_tube_without_width_is_absolute_or_squared():
    for shape in SHAPES:
        linear = Epsilon(width=0.0, shape=shape).of_residuals(R)
        assert_allclose(linear[0], Absolute(shape=shape).of_residuals(R)[0])
        assert_allclose(linear[1], Absolute(shape=shape).of_residuals(R)[1])
        squared = Epsilon(width=0.0, power=2, shape=shape).row_values(R)
        assert_allclose(squared[0], Squared().row_values(R)[0])
        assert_allclose(squared[1], Squared().row_values(R)[1])


def test_the_quantile_loss_of_one_half_is_half_the_absolute_one():
    assert_allclose(2 * Quantile(0.5).of_residuals(R)[0], np.abs(R))


@given(st.floats(-5, 5), st.floats(0, 3))
def test_a_tube_is_the_formula(e, width):
    excess = max(abs(e) - width, 0)
    E = np.array([[e]])
    for shape in SHAPES:
        assert_allclose(Epsilon(width=width, shape=shape).row_values(E)[0], excess, atol=1e-150)
        assert_allclose(Epsilon(width=width, power=2, shape=shape).row_values(E)[0], excess**2)


# Stages -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("loss", "gap"),
    [
        (Absolute(), 1.0),
        (Absolute(smoothing="tanh"), 0.2785),
        (Epsilon(width=0.3), 1.0),
        (Quantile(0.2), 0.5),
    ],
    ids=name,
)
def test_stages_come_as_near_to_the_loss_as_they_say(loss, gap, shape):
    if shape == "ball":
        if isinstance(loss, Quantile):
            return  # has no ball
        loss = clone(loss).set_params(shape="ball")
    E = np.linspace(-3, 3, 2001)[:, None]
    true = loss.of_residuals(E)[0]
    spread = 0.5
    for a, stage in zip(loss.sharpness, loss.stages(spread), strict=True):
        difference = np.abs(stage.of_residuals(E)[0] - true).max()
        assert difference <= gap * spread / a * (1 + 1e-9)


@pytest.mark.parametrize("loss", [Squared(), Huber(1.0), LogCosh(1.0), Epsilon(1.0, power=2)])
def test_a_smooth_loss_is_its_only_stage(loss):
    assert loss.stages(0.5) == (loss,)


def test_only_the_absolute_loss_was_published_with_other_stages():
    assert Absolute().as_published() == Absolute(smoothing="tanh")
    assert Huber().as_published() == Huber()


# Invariances ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "loss", [loss for loss in SMOOTH + KINKED if loss.shape == "ball"], ids=name
)
def test_a_ball_does_not_change_when_rows_are_turned(loss):
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    assert loss.rotation_invariant
    values, slopes = loss.of_residuals(R)
    turned, turned_slopes = loss.of_residuals(R @ Q)
    assert_allclose(turned, values, atol=1e-12)
    assert_allclose(turned_slopes, slopes @ Q, atol=1e-12)


def test_squared_is_a_ball_too_and_a_cube_is_not():
    assert Squared().rotation_invariant
    assert not Huber(1.0).rotation_invariant
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    assert not np.allclose(total(Huber(0.1), R), total(Huber(0.1), R @ Q))


@pytest.mark.parametrize(
    "loss", [loss for loss in SMOOTH + KINKED if loss.shape == "ball"], ids=name
)
def test_a_ball_is_flat_at_zero(loss):
    assert_allclose(loss.of_residuals(np.zeros((5, 3)))[1], 0)


PUBLIC = [Squared(), Absolute(), Quantile(0.3), Huber(0.4), PseudoHuber(0.4), LogCosh(0.4)]
PUBLIC += [Epsilon(0.3), Epsilon(0.3, power=2, shape="ball"), Epsilon(ROWS, power=2)]


@pytest.mark.parametrize("loss", PUBLIC, ids=name)
def test_units_change_the_value_by_the_degree(loss):
    unit = 7.0
    scaled = loss.in_units(unit).of_residuals(R / unit)[0]
    assert_allclose(scaled * unit**loss.degree, loss.of_residuals(R)[0], atol=1e-12)


@pytest.mark.parametrize("loss", [Huber(), PseudoHuber(), LogCosh(), Epsilon()], ids=name)
def test_what_is_open_stays_open_in_other_units(loss):
    assert loss.in_units(3.0) == loss


@pytest.mark.parametrize("loss", [Squared(), Absolute(), Huber(0.4), LogCosh(0.4), Epsilon(0.2)])
def test_the_sign_of_a_residual_does_not_matter(loss):
    assert_allclose(loss.of_residuals(-R)[0], loss.of_residuals(R)[0])
    assert_allclose(loss.of_residuals(-R)[1], -loss.of_residuals(R)[1])


# A width for each row -----------------------------------------------------------------------


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_width_for_each_row_is_one_loss_for_each_row(shape, power):
    loss = Epsilon(width=ROWS, power=power, shape=shape)
    alone = [
        Epsilon(width=w, power=power, shape=shape).row_values(r[None])
        for w, r in zip(ROWS, R, strict=True)
    ]
    values, slopes = loss.row_values(R)
    assert_allclose(values, [v[0] for v, _ in alone])
    assert_allclose(slopes, [s[0] for _, s in alone])
    part = slice(1, 4)
    for some in (loss, *loss.stages(0.5)):
        assert_allclose(some.for_rows(part).row_values(R[part])[0], some.row_values(R)[0][part])
    assert Huber().for_rows(part) == Huber()


def test_a_width_for_each_element_is_broadcast():
    table = ROWS[:, None] * np.array([1.0, 2.0, 3.0])
    expected = np.maximum(np.abs(R) - table, 0)
    assert_allclose(Epsilon(width=table).of_residuals(R)[0], expected)
    assert_allclose(
        Epsilon(width=ROWS[:, None]).of_residuals(R)[0], Epsilon(ROWS).of_residuals(R)[0]
    )
    one = Epsilon(width=np.array([[0.1, 0.2, 0.3]]))
    assert_allclose(one.for_rows(slice(2)).of_residuals(R[:2])[0], one.of_residuals(R)[0][:2])


# Automatic parameters -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cls", "parameter"), [(Huber, "delta"), (PseudoHuber, "delta"), (LogCosh, "scale")]
)
def test_automatic_is_1345_thousandths_of_the_spread(cls, parameter):
    assert getattr(cls().resolve(2.0), parameter) == pytest.approx(2.69, rel=1e-12)
    E = np.random.default_rng(0).normal(scale=3.0, size=(20000, 2))
    assert getattr(cls().resolve_from(E), parameter) == pytest.approx(1.345 * 3.0, rel=0.02)
    assert getattr(cls(0.2).resolve(2.0), parameter) == 0.2


def test_automatic_delta_keeps_95_percent_of_the_efficiency():
    E = np.random.default_rng(0).normal(size=400_000)
    slope = Huber().resolve_from(E).of_residuals(E)[1]
    curvature = np.mean(np.abs(E) < Huber().resolve_from(E).delta)
    assert curvature**2 / np.mean(slope**2) == pytest.approx(0.95, abs=0.005)


def test_the_spread_of_a_ball_is_that_of_lengths():
    E = np.array([[3.0, 4.0], [6.0, 8.0], [0.3, 0.4]])
    assert Huber(shape="ball").resolve_from(E).delta == pytest.approx(1.345 * 1.4826 * 5)
    assert Huber().resolve_from(E).delta == pytest.approx(1.345 * 1.4826 * 3.5)


@pytest.mark.parametrize("shape", SHAPES)
def test_weights_count_rows_in_the_spread(shape):
    weights = np.array([2, 1, 0, 3, 1])
    repeated = np.repeat(R, weights, axis=0)
    loss = Huber(shape=shape)
    expected = loss.resolve_from(repeated).delta
    assert loss.resolve_from(R, weights.astype(float)).delta == pytest.approx(expected)


def test_a_share_of_wild_residuals_hardly_moves_what_is_automatic():
    E = np.random.default_rng(0).normal(size=1000)
    clean = Huber().resolve_from(E).delta
    E[:100] = 1e6
    assert clean < Huber().resolve_from(E).delta < 1.3 * clean


def test_residuals_that_vanish_have_a_spread_nonetheless():
    assert robust_spread(np.zeros(5)) == 1.0
    assert robust_spread(np.array([0.0, 0.0, 0.0, 6.0])) == 1.5


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_medians_of_columns_are_those_of_numpy(n):
    Y = np.random.default_rng(n).normal(size=(n, 4))
    Y[:, 1] = np.round(Y[:, 1])
    Y[n // 2, 2], Y[0, 3] = np.inf, np.nan
    assert_array_equal(weighted_median(Y), np.median(Y, axis=0))


@pytest.mark.parametrize("size", [LEAST_COMPILED, LEAST_COMPILED + 4099])
def test_one_pass_of_huber_is_what_numpy_finds(size):
    R = np.random.default_rng(0).normal(size=(size, 1))
    R[:5, 0] = 0.5, -0.5, np.nan, np.inf, -np.inf
    value, slopes = Huber(0.5).summed(R)
    assert np.isnan(value)
    assert_array_equal(slopes, np.clip(R, -0.5, 0.5))
    value, slopes = Huber(0.5).summed(R[5:].copy())
    expected, clipped = Huber(0.5).of_residuals(R[5:])
    assert_allclose(value, expected.sum(), rtol=1e-13)
    assert_array_equal(slopes, clipped)


@pytest.mark.parametrize("n", [130, 601])
def test_medians_found_by_counting_are_those_of_sorted_numbers(n):
    rng = np.random.default_rng(n)
    Y = rng.normal(size=(n, 140))
    Y[:, :20] = rng.integers(-1, 3, size=(n, 20))  # many are equal
    Y[:, 20:40] = rng.standard_cauchy((n, 20)) ** 5
    Y[:, 40:60] = np.exp(100 * Y[:, 40:60])  # too wide for a search by interpolation
    Y[:, 60:80] = np.where(rng.random((n, 20)) < 0.5, np.inf, Y[:, 60:80])
    Y[:, 80:90] = np.where(rng.random((n, 10)) < 0.7, -np.inf, Y[:, 80:90])
    Y[:, 90], Y[:, 91], Y[3, 92] = 5.0, np.arange(n), np.nan
    Y[:, 93:100] *= 1e307
    assert Y.size >= LEAST_NUMBERS
    assert_array_equal(weighted_median(Y), np.median(Y, axis=0))
    columns = np.ascontiguousarray(Y.T[100:])
    lower, upper = np.empty(40), np.empty(40)
    assert select_middles(columns, lower, upper).all()
    in_order = np.sort(columns, axis=1)
    assert_array_equal(lower, in_order[:, (n - 1) // 2])
    assert_array_equal(upper, in_order[:, n // 2])


def test_weighted_median_is_the_median_of_repeated_rows():
    rng = np.random.default_rng(0)
    for n in (4, 5, 12):
        Y, weights = rng.normal(size=(n, 3)), rng.integers(0, 4, n)
        weights[0] = 1
        repeated = np.repeat(Y, weights, axis=0)
        assert_allclose(weighted_median(Y, weights.astype(float)), np.median(repeated, axis=0))


# Names and strangers --------------------------------------------------------------------------


NAMES = [
    "squared",
    "absolute",
    "huber",
    "pseudo_huber",
    "log_cosh",
    "epsilon",
    "quantile",
    "logistic",
]


@pytest.mark.parametrize("word", NAMES)
def test_every_name_is_a_loss_that_resolves_and_clones(word):
    loss = as_loss(word)
    assert isinstance(loss, Loss)
    assert as_loss(loss) is loss
    assert loss.takes_residuals == (word != "logistic") == isinstance(loss, ResidualLoss)
    assert loss.least_squares == (word == "squared")
    assert clone(loss) == loss
    resolved = loss.resolve(1.0)
    assert resolved.resolve(5.0) == resolved


def test_an_unknown_name_is_refused_with_the_nearest_one():
    with pytest.raises(
        ValueError, match=r"must be one of 'squared'.*Got 'hubre' .* mean 'huber'\?"
    ):
        as_loss("hubre")
    with pytest.raises(ValueError, match=r"or a Loss piece. Got <class .*Huber'> instead.$"):
        as_loss(Huber)
    with pytest.raises(ValueError, match="Got 3 instead"):
        as_loss(3)


class Stranger:
    takes_residuals = True

    def evaluate(self, Y, P):
        return (P - Y) ** 4, 4 * (P - Y) ** 3


class StrangeLikelihood:
    def evaluate(self, Y, P):
        return np.exp(P) - Y * P, np.exp(P) - Y


def test_a_class_of_others_becomes_a_piece():
    loss = as_loss(Stranger())
    assert loss.takes_residuals
    assert_allclose(loss.row_values(R)[0], (R**4).sum(axis=1))
    assert_allclose(loss.evaluate(R, 2 * R)[1], 4 * R**3)
    other = as_loss(StrangeLikelihood())
    assert not other.takes_residuals
    assert_allclose(other.evaluate(R, R)[1], np.exp(R) - R)


# Bad parameters -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "error", "message"),
    [
        (Huber(-1.0), ValueError, "'delta' parameter of Huber"),
        (Huber("big"), TypeError, "'delta' parameter of Huber .* Got 'big'"),
        (Huber(shape="egg"), ValueError, "'shape' parameter of Huber .* 'cube', 'ball'. Got 'egg'"),
        (PseudoHuber(0.0), ValueError, "'delta' parameter of PseudoHuber"),
        (LogCosh(np.nan), ValueError, "'scale' parameter of LogCosh"),
        (Epsilon(-0.1), ValueError, "'width' parameter of Epsilon"),
        (Epsilon("wide"), TypeError, "'width' parameter of Epsilon"),
        (Epsilon(np.array([0.1, -1.0])), ValueError, "'width' .* at least 0, all finite"),
        (Epsilon(power=3), ValueError, "'power' parameter of Epsilon .* one of 1, 2. Got 3"),
        (Epsilon(shape="egg"), ValueError, "'shape' parameter of Epsilon"),
        (Absolute(shape="egg"), ValueError, "'shape' parameter of Absolute"),
        (Quantile(1.5), ValueError, "'quantile' parameter of Quantile"),
    ],
    ids=str,
)
def test_wrong_parameters_are_named(loss, error, message):
    with pytest.raises(error, match=message):
        loss.resolve(1.0)
    with pytest.raises(error, match=message):
        loss.resolve_from(R)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (Absolute(sharpness=()), "sharpness.* a list, not empty"),
        (Absolute(smoothing="no"), "one of 'root', 'tanh'. Got 'no'"),
        (Epsilon(0.1, sharpness=[-1.0]), "'sharpness' parameter of Epsilon"),
    ],
)
def test_wrong_stages_are_named(loss, message):
    with pytest.raises(ValueError, match=message):
        loss.stages(1.0)


def test_a_ball_needs_rows():
    with pytest.raises(ValueError, match=r"shape='ball'\) needs residuals of shape \(n, d\)"):
        Huber(1.0, shape="ball").of_residuals(np.ones(3))


def test_the_logistic_loss_needs_shares():
    Logistic().check_outputs(np.array([[0.0, 1.0, np.nan]]))
    with pytest.raises(ValueError, match=r"needs outputs in \[0, 1\]. Got values from -2 to 1"):
        Logistic().check_outputs(np.array([[-2.0, 1.0]]))
