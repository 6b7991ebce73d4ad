import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.robotics import (
    MovementPrimitive,
    concatenate,
    correspondence,
    key_events,
    map_to_plane,
    morph,
    segment,
)
from isthmus.robotics.movement.morphing_loops import cheapest_path

T = np.linspace(0, 1, 60)[:, None]
LOOP = np.hstack([T + 0.3 * np.sin(6 * T), np.cos(5 * T), T**2])
WAVE = np.hstack([1.3 * T, np.cos(4 * T) + 0.2, 0.5 * T])


def warp(share):
    return T + share * np.sin(np.pi * T) * np.sin(2 * np.pi * T)


def shape_of(t):
    return np.hstack([np.sin(5 * t), np.cos(3 * t)])


def slow_cheapest(costs, slope_costs, smallest):
    """All paths, one by one."""
    n, m = costs.shape

    def rest(i, j):
        if i == n - 1:
            return (costs[i, j], [j]) if j == m - 1 else (np.inf, [j])
        best = (np.inf, [])
        for k, extra in enumerate(slope_costs):
            if j + smallest + k < m:
                value, path = rest(i + 1, j + smallest + k)
                best = min(best, (value + extra, path))
        return best[0] + costs[i, j], [j, *best[1]]

    return rest(0, 0)


@pytest.mark.parametrize("smallest", [0, 1, 2])
def test_dynamic_programme_finds_the_cheapest_of_all_paths(rng, smallest):
    costs, slopes = rng.random((5, 4 * smallest + 5)), rng.random(3)
    value, path = slow_cheapest(costs, slopes, smallest)
    assert np.isfinite(value)
    assert cheapest_path(costs, slopes, smallest).tolist() == path


def test_identical_patterns_correspond_without_shift_or_offset():
    found = correspondence(LOOP, LOOP)
    assert_allclose(found.shift, 0.0, atol=1e-15)
    assert_allclose(found.offset, 0.0, atol=1e-15)


def test_pattern_is_the_warped_reference_plus_the_offset():
    found = correspondence(LOOP, WAVE)
    warped = T[:, 0] + found.shift
    assert (np.diff(warped) > 0).all()
    assert warped[0] == 0.0
    assert_allclose(warped[-1], 1.0)
    there = np.stack([np.interp(warped, T[:, 0], column) for column in LOOP.T], axis=1)
    assert_allclose(there + found.offset, WAVE, atol=1e-14)


def test_warped_copy_differs_in_time_only():
    found = correspondence(shape_of(T), shape_of(warp(0.06)), time_weight=1e-4)
    assert np.abs(found.offset).max() < 0.02
    assert_allclose(T[:, 0] + found.shift, warp(0.06)[:, 0], atol=0.01)


def test_slopes_keep_to_their_bound():
    late = shape_of(T**2)
    found = correspondence(shape_of(T), late, max_slope=1.5)
    slopes = np.diff(T[:, 0] + found.shift) / np.diff(T[:, 0])
    assert slopes.max() <= 1.5 + 1e-9
    assert slopes.min() >= 0.5  # 1 / 1.5, up to the next quarter step


def test_heavy_time_weight_forbids_shifts():
    found = correspondence(shape_of(T), shape_of(warp(0.06)), time_weight=1e6)
    assert_allclose(found.shift, 0.0, atol=1e-12)


def test_lengths_may_differ():
    found = correspondence(shape_of(T), shape_of(T[::2]), time_weight=1e-6)
    assert found.shift.shape == (30,)
    # Every second step ends one step early: the pattern lacks the last 1/59 of the time.
    assert np.abs(found.offset).max() < 0.06


@pytest.mark.parametrize("reference", [0, 1, "mean", LOOP + WAVE])
def test_a_weight_of_one_gives_the_prototype_back(reference):
    for weights, expected in (([1, 0], LOOP), ([0, 1], WAVE)):
        back = morph([LOOP, WAVE], weights, reference=reference)
        assert_allclose(back.trajectory(), expected, atol=1e-12)


def test_average_of_two_does_not_depend_on_their_order_if_the_mean_is_the_reference():
    one = morph([LOOP, WAVE], [0.3, 0.7], reference="mean")
    two = morph([WAVE, LOOP], [0.7, 0.3], reference="mean")
    assert_allclose(one.trajectory(), two.trajectory(), atol=1e-12)


def test_morph_of_two_rhythms_has_the_rhythm_between():
    early, late, even = (shape_of(3 * warp(share)) for share in (0.06, -0.06, 0.0))
    between = morph([early, late], [0.5, 0.5], time_weight=1e-4).trajectory()
    blurred = 0.5 * early + 0.5 * late
    assert np.abs(between - even).max() < 0.35 * np.abs(blurred - even).max()


def test_caricatures_exaggerate_and_time_still_runs_forwards():
    quick = morph([shape_of(T), shape_of(warp(0.07))], [-4.0, 5.0], time_weight=1e-4).trajectory()
    # Coordinates of this movement stay within its range, so time did not run out of [0, 1].
    assert np.isfinite(quick).all()
    flat, high = np.hstack([T, 0 * T]), np.hstack([T, np.sin(np.pi * T)])
    more = morph([flat, high], [-1.0, 2.0]).trajectory()
    assert_allclose(more[:, 1].max(), 2.0, rtol=0.01)


def test_many_weights_give_many_morphs_and_durations_blend():
    a = MovementPrimitive.from_trajectory(LOOP, duration=1.0)
    b = MovementPrimitive.from_trajectory(WAVE, duration=4.0)
    morphs = morph([a, b], [[1, 0], [0.5, 0.5], [3, -2]], n_steps=33)
    assert [len(m.shape) for m in morphs] == [33] * 3
    assert_allclose([m.duration for m in morphs], [1.0, 2.0, 1 / 16])


def test_ends_of_a_morph_are_the_blended_ends():
    middle = morph([LOOP, WAVE], [0.25, 0.75])
    assert_allclose(middle.trajectory()[0], 0.25 * LOOP[0] + 0.75 * WAVE[0])
    assert_allclose(middle.trajectory()[-1], 0.25 * LOOP[-1] + 0.75 * WAVE[-1])


def test_markers_keep_their_axes():
    markers = np.stack([LOOP, WAVE], axis=1)  # steps, markers, coordinates
    assert morph([markers, 2 * markers], [0.5, 0.5]).trajectory().shape == (60, 2, 3)


def test_primitive_is_zero_at_its_ends_and_gives_the_recording_back():
    part = MovementPrimitive.from_trajectory(LOOP)
    assert_array_equal(part.shape[[0, -1]], 0.0)
    assert_allclose(part.trajectory(), LOOP, atol=1e-15)
    assert_allclose(part.trajectory(119)[::2], LOOP, atol=1e-12)
    assert part.duration == 59.0


def test_recording_cut_and_chained_is_the_recording():
    cuts = [LOOP[:21], LOOP[20:41], LOOP[40:]]
    for join in ("translate", "average"):
        assert_allclose(concatenate(cuts, join=join).trajectory(), LOOP, atol=1e-14)


@pytest.mark.parametrize("join", ["translate", "average"])
def test_chained_movements_meet(join):
    whole = concatenate([WAVE, LOOP, WAVE[::-1]], join=join).trajectory()
    assert len(whole) == 3 * 60 - 2
    largest = max(np.abs(np.diff(X, axis=0)).max() for X in (WAVE, LOOP))
    assert np.abs(np.diff(whole, axis=0)).max() < largest + 0.1


def test_translated_elements_keep_their_form():
    whole = concatenate([WAVE, LOOP]).trajectory()
    assert_allclose(whole[59:], LOOP - LOOP[0] + WAVE[-1], atol=1e-14)


def test_segments_of_a_known_sequence_are_found(rng):
    t = np.linspace(0, np.pi, 40)
    rest = (1 - np.cos(t)) / 2  # every element begins and ends at rest
    hop = np.c_[rest, np.sin(np.pi * rest)]
    dip = np.c_[rest, -np.sin(np.pi * rest)]
    dash = np.c_[2 * rest, 0 * rest]
    order = [0, 2, 1, 1, 0]
    line = concatenate([(hop, dip, dash)[k] for k in order]).trajectory()
    noisy = line + 0.002 * rng.normal(size=line.shape)
    found = segment(noisy, [hop, dip, dash], events=key_events(line))
    assert [s.template for s in found] == order
    assert [s.first for s in found] == [0, 39, 78, 117, 156]
    again = concatenate([s.cut(noisy) for s in found], join="average")
    assert_allclose(again.trajectory(), noisy, atol=1e-13)


def test_written_line_comes_out_upright_scaled_and_at_its_start(rng):
    letters = np.c_[np.linspace(0, 5, 50), np.sin(np.linspace(0, 9, 50))]
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn[:, 2] = np.cross(turn[:, 0], turn[:, 1])
    written = np.c_[letters, np.zeros(50)] @ turn.T + [3, 1, 2]
    u, v = np.array([0.0, -1, 0]), np.array([0, 0, 1.0])
    board = map_to_plane(written, [600, 100, 300], u, v, scale=20, towards=turn[:, 2])
    there = board.points(written)
    assert_allclose(there[0], [600, 100, 300])
    lengths = np.linalg.norm(np.diff(written, axis=0), axis=1)
    assert_allclose(np.linalg.norm(np.diff(there, axis=0), axis=1), 20 * lengths)
    assert_allclose(there[:, 0], 600.0)
    flat = np.c_[there @ u, there @ v] / 20
    moved, plain = flat - flat[0], letters - letters[0]
    # Up to the tilt of the principal direction the letters are as they were, not mirrored.
    inner, outer = np.sum(moved * plain), moved[:, 0] @ plain[:, 1] - moved[:, 1] @ plain[:, 0]
    assert_allclose(np.hypot(inner, outer), np.sum(plain**2))
    assert inner > abs(outer)
    assert_allclose(board.directions(turn[:, 2]), np.cross(u, v), atol=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda X: correspondence(X, LOOP),
        lambda X: correspondence(LOOP, X),
        lambda X: morph([X, LOOP], [0.5, 0.5]),
        MovementPrimitive.from_trajectory,
        lambda X: concatenate([LOOP, X]),
        key_events,
        lambda X: segment(X, [LOOP]),
        lambda X: map_to_plane(X, np.zeros(3), [1, 0, 0], [0, 1, 0]),
    ],
)
def test_nan_and_empty_trajectories_are_refused(call):
    broken = LOOP.copy()
    broken[7, 1] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity at step 7"):
        call(broken)
    for short in (np.empty((0, 3)), LOOP[:1], np.empty((5, 0))):
        with pytest.raises(ValueError, match="at least 2 steps"):
            call(short)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: morph([LOOP, WAVE], [0.5, 0.6]), "sum to 1"),
        (lambda: morph([LOOP, WAVE], [1.0]), r"each of the 2 prototypes. Got weights of shape"),
        (lambda: morph([], []), "each of the 0 prototypes"),
        (lambda: morph([LOOP, WAVE[:, :2]], [0.5, 0.5]), "same coordinates"),
        (lambda: morph([LOOP, WAVE], [0.5, 0.5], reference=2), r"int in \[0, 1\]. Got 2"),
        (lambda: morph([LOOP, WAVE], [0.5, 0.5], reference="median"), "'mean' or a"),
        (lambda: morph([LOOP, WAVE], [0.5, 0.5], n_steps=1), r"'n_steps' .* \[2, inf\)"),
        (lambda: correspondence(LOOP, WAVE[:, :2]), "same coordinates"),
        (lambda: correspondence(LOOP, WAVE, max_slope=0.5), r"\[1.0, inf\). Got 0.5"),
        (lambda: correspondence(LOOP, WAVE, time_weight=-1.0), "'time_weight' parameter"),
        (lambda: concatenate([]), "at least one movement"),
        (lambda: concatenate([LOOP], join="glue"), "'translate', 'average'. Got 'glue'"),
        (lambda: concatenate([LOOP, WAVE[:, :2]]), "same coordinates"),
        (lambda: MovementPrimitive.from_trajectory(LOOP, duration=0.0), "'duration'"),
        (lambda: MovementPrimitive.from_trajectory(LOOP).trajectory(1), "n_steps=1"),
        (lambda: segment(LOOP, []), "coordinates of the recording. Got none"),
        (lambda: segment(LOOP, [WAVE[:5]]), "larger max_stretch"),
        (lambda: segment(LOOP, [WAVE], events=[0]), "two or more steps"),
        (lambda: map_to_plane(T @ np.ones((1, 3)), np.zeros(3), [1, 0, 0], [0, 1, 0]), "one line"),
        (lambda: map_to_plane(LOOP, np.zeros(3), [1, 0, 0], [2, 0, 0]), "different directions"),
        (lambda: map_to_plane(LOOP, np.zeros(3), [1, 0, 0], [0, 1, 0], scale=0.0), "'scale'"),
    ],
)
def test_wrong_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
