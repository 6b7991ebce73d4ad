import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from isthmus.robotics import KinematicChain, pa10

TENTHS = np.arange(1, 8) / 10


def elementary(kind, value):
    """A rotation about, or a shift along, x or z."""
    A = np.eye(4)
    if kind.startswith("R"):
        A[:3, :3] = Rotation.from_euler(kind[1], value).as_matrix()
    else:
        A["xyz".index(kind[1]), 3] = value
    return A


def slow_frames(chain, q):
    """The two formulas of the docstring, product by product."""
    frame, frames = chain.base, []
    angles = chain.dh[:, 3] if chain.dh.shape[1] == 4 else np.zeros(chain.n_joints)
    signs = chain.tables()[5].sum(axis=1)
    for j, (twist, length, offset) in enumerate(chain.dh[:, :3]):
        turn = angles[j] + (0 if chain.slides[j] else signs[j] * q[j])
        offset = offset + (signs[j] * q[j] if chain.slides[j] else 0)
        parts = {
            "modified": (("Rx", twist), ("Tx", length), ("Rz", turn), ("Tz", offset)),
            "standard": (("Rz", turn), ("Tz", offset), ("Tx", length), ("Rx", twist)),
        }[chain.convention]
        for kind, value in parts:
            frame = frame @ elementary(kind, value)
        frames.append(frame)
    return np.array(frames)


def differences(function, q, step=1e-6):
    """Central differences along the last axis of the result."""
    columns = [(function(q + h) - function(q - h)) / (2 * step) for h in step * np.eye(len(q))]
    return np.stack(columns, axis=-1)


def test_frames_are_the_products_of_the_formula(chain, rng):
    Q = rng.uniform(-3, 3, (20, chain.n_joints))
    expected = np.array([slow_frames(chain, q) for q in Q])
    assert_allclose(chain.frames(Q), expected, atol=1e-12 * max(1, chain.reach))
    tips = expected[:, -1] @ chain.tool
    assert_allclose(chain.forward(Q), tips, atol=1e-12 * max(1, chain.reach))
    assert_allclose(chain.positions(Q), expected[..., :3, 3], atol=1e-12 * max(1, chain.reach))


def test_pa10_stretched_upwards_stands_1030_millimetres_high():
    assert_allclose(
        pa10().positions(np.zeros(7))[[2, 4, 6]], [[0, 0, 450], [0, 0, 950], [0, 0, 1030]]
    )


def test_pa10_golden_positions():
    expected = [
        [88.954565, 8.925227, 441.029960],
        [355.640441, 93.512468, 855.425474],
        [412.437565, 138.485044, 889.360030],
    ]
    points = pa10().positions(TENTHS)
    assert_allclose(points[[2, 4, 6]], expected, atol=1e-6)
    assert_allclose(points[[0, 1]], 0.0)
    assert_allclose(points[[3, 5]], points[[2, 4]])


def test_pa10_golden_rotation():
    expected = [
        [-0.37846569, -0.59389794, 0.70996405],
        [0.81252124, 0.15423524, 0.56215720],
        [-0.44336548, 0.78961809, 0.42418195],
    ]
    assert_allclose(pa10().forward(TENTHS)[:3, :3], expected, atol=1e-8)


def test_pa10_closed_form(rng):
    Q = rng.uniform(-3, 3, (50, 7))
    R1 = Rotation.from_euler("ZY", Q[:, :2])
    R2 = R1 * Rotation.from_euler("ZY", Q[:, 2:4])
    R3 = R2 * Rotation.from_euler("ZY", Q[:, 4:6])
    up = np.array([0, 0, 1.0])
    elbow = 450 * R1.apply(up)
    wrist = elbow + 500 * R2.apply(up)
    points = pa10().positions(Q)
    assert_allclose(points[:, 2], elbow, atol=1e-9)
    assert_allclose(points[:, 4], wrist, atol=1e-9)
    assert_allclose(points[:, 6], wrist + 80 * R3.apply(up), atol=1e-9)
    turned = (R3 * Rotation.from_euler("z", Q[:, 6:])).as_matrix()
    assert_allclose(pa10().forward(Q)[:, :3, :3], turned, atol=1e-12)


def test_pa10_in_the_standard_convention_is_the_same_arm(rng):
    Q = rng.uniform(-3, 3, (50, 7))
    twists = np.radians([-90, 90, -90, 90, -90, 90, 0])
    dh = np.column_stack([twists, np.zeros(7), [0, 0, 450, 0, 500, 0, 80]])
    standard = KinematicChain(dh, "standard")
    assert_allclose(standard.positions(Q), pa10().positions(Q), atol=1e-10)
    assert_allclose(standard.forward(Q), pa10().forward(Q), atol=1e-10)
    assert_allclose(standard.jacobian(Q), pa10().jacobian(Q), atol=1e-10)


def test_the_last_joint_of_the_pa10_moves_no_point(rng):
    q = rng.uniform(-3, 3, 7)
    assert_allclose(pa10().positions(q), pa10().positions(q + np.eye(7)[6]), atol=1e-10)


def test_unit_scales_lengths_and_base_height_lifts():
    q = TENTHS
    assert_allclose(pa10(unit=1000.0).positions(q) * 1000, pa10().positions(q))
    lifted = pa10(base_height=315.0).positions(q) - pa10().positions(q)
    assert_allclose(lifted, np.tile([0, 0, 315.0], (7, 1)), atol=1e-10)


def test_position_jacobians_match_differences(chain, rng):
    q = rng.uniform(-3, 3, chain.n_joints)
    expected = differences(chain.positions, q)
    assert_allclose(chain.position_jacobians(q), expected, atol=1e-7 * max(1, chain.reach))


def test_geometric_jacobian_matches_differences(chain, rng):
    q = rng.uniform(-3, 3, chain.n_joints)
    D = differences(chain.forward, q)
    R = chain.forward(q)[:3, :3]
    J = chain.jacobian(q)
    assert_allclose(J[:3], D[:3, 3], atol=1e-7 * max(1, chain.reach))
    for j in range(chain.n_joints):
        spin = D[:3, :3, j] @ R.T  # the cross matrix of the angular velocity
        assert_allclose(J[3:, j], [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-7)


@pytest.mark.parametrize(
    ("angles", "coordinates"),
    [
        ("rpy", lambda R: R.as_euler("xyz")),
        ("zyz", lambda R: R.as_euler("ZYZ")),
        ("rotation_vector", lambda R: R.as_rotvec()),
    ],
)
def test_analytic_jacobian_matches_differences(chain, angles, coordinates, rng):
    q = rng.uniform(-0.4, 0.4, chain.n_joints) + 0.5

    def outputs(q):
        pose = chain.forward(q)
        return np.r_[pose[:3, 3], coordinates(Rotation.from_matrix(pose[:3, :3]))]

    J = chain.analytic_jacobian(q, angles=angles)
    assert_allclose(J, differences(outputs, q), atol=1e-6 * max(1, chain.reach))


def test_rotation_vector_coordinates_are_smooth_at_the_identity():
    J = pa10().analytic_jacobian(np.full(7, 1e-6), angles="rotation_vector")
    assert_allclose(J, pa10().jacobian(np.full(7, 1e-6)), atol=1e-4)


def test_analytic_jacobian_refuses_an_orientation_without_derivative():
    with pytest.raises(ValueError, match=r"'zyz' have no derivative .* posture 1"):
        pa10().analytic_jacobian(np.array([TENTHS, np.zeros(7)]), angles="zyz")


def test_one_posture_gives_results_without_the_first_axis():
    chain = pa10()
    q = TENTHS
    for name in ("frames", "forward", "positions", "jacobian", "position_jacobians"):
        method = getattr(chain, name)
        assert_allclose(method(q), method(q[None])[0])
    assert chain.within_limits(q)
    assert chain.within_limits(np.array([q, 10 * q])).tolist() == [True, False]
    assert chain.frames(np.empty((0, 7))).shape == (0, 7, 4, 4)


def test_many_postures_have_the_jacobians_of_each(rng):
    chain, Q = pa10(), rng.uniform(-3, 3, (2100, 7))  # more than two blocks
    some = [0, 1023, 1024, 2099]
    for name in ("jacobian", "position_jacobians"):
        method = getattr(chain, name)
        assert_allclose(method(Q)[some], [method(Q[i]) for i in some], rtol=1e-13)


def test_no_point_is_beyond_reach(chain, rng):
    Q = rng.uniform(-3, 3, (200, chain.n_joints))
    away = np.linalg.norm(chain.positions(Q) - chain.base[:3, 3], axis=-1)
    assert away.max() <= chain.reach * (1 + 1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"convention": "craig"}, "one of 'modified', 'standard'. Got 'craig'"),
        ({"lower": [0, 1], "upper": [1, -1]}, r"lower\[1\] = 1 and upper\[1\] = -1"),
        ({"lower": [0.0, np.nan]}, r"lower\[1\] = nan"),
        ({"lower": [0.0]}, r"each of the 2 joints. Got shape \(1,\)"),
        ({"base": np.eye(3)}, r"shape \(4, 4\). Got shape \(3, 3\)"),
        ({"base": 2 * np.eye(4)}, "rigid motion"),
    ],
)
def test_a_wrong_chain_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        KinematicChain([[0, 1, 0], [0, 1, 0]], **options)


@pytest.mark.parametrize("dh", [[], [1, 2, 3], [[1, 2]], [[1, 2, np.nan]]])
def test_a_wrong_table_is_refused(dh):
    with pytest.raises(ValueError, match="'dh'"):
        KinematicChain(dh)


@pytest.mark.parametrize("q", [np.zeros(6), np.zeros((2, 8)), 0.0, np.zeros((1, 1, 7))])
def test_a_wrong_number_of_joints_is_refused(q):
    with pytest.raises(ValueError, match=r"\(n, 7\) or \(7,\)"):
        pa10().forward(q)


def test_nan_joint_values_and_units_are_refused():
    with pytest.raises(ValueError, match="'q' contains NaN"):
        pa10().forward(np.full(7, np.nan))
    with pytest.raises(ValueError, match="'unit' parameter"):
        pa10(unit=0.0)
    with pytest.raises(ValueError, match="'angles' parameter"):
        pa10().analytic_jacobian(TENTHS, angles="euler")


def test_limits_are_given_once_in_either_form():
    dh = [[0, 1, 0], [0, 1, 0]]
    rows = KinematicChain(dh, limits=[[-1, 2], [-3, 4]])
    np.testing.assert_array_equal(rows.lower, [-1, -3])
    np.testing.assert_array_equal(rows.upper, [2, 4])
    np.testing.assert_array_equal(KinematicChain(dh, limits=[1, 2]).lower, [-1, -2])
    with pytest.raises(ValueError, match="takes its limits once"):
        KinematicChain(dh, limits=[1, 2], lower=[0, 0])
    with pytest.raises(ValueError, match=r"'limits' parameter of KinematicChain.*Got shape \(3,\)"):
        KinematicChain(dh, limits=[1, 2, 3])


def test_degrees_and_another_order_of_columns_are_noticed():
    with pytest.raises(ValueError, match="are the angles in degrees"):
        KinematicChain([[90, 0, 450], [-90, 0, 0]])
    with pytest.raises(ValueError, match="columns in another order"):
        KinematicChain([[450, 0, np.pi / 2], [0, 100, 0]])
    with pytest.warns(UserWarning, match="If the limits are in degrees"):
        KinematicChain([[0, 1, 0]], limits=[170])


def test_jacobian_in_the_frame_of_the_tool(chain, rng):
    Q = rng.uniform(-1, 1, (5, chain.n_joints))
    R = chain.forward(Q)[:, :3, :3]
    there, here = chain.jacobian(Q, frame="tool"), chain.jacobian(Q)
    for rows in (slice(0, 3), slice(3, 6)):
        assert_allclose(R @ there[:, rows], here[:, rows], atol=1e-12 * max(1, chain.reach))
    one = chain.jacobian(Q[0], frame="tool")
    assert_allclose(one, there[0], atol=1e-12 * max(1, chain.reach))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"joints": "RX"}, "'joints' .* 2 letters"),
        ({"joints": "R"}, "'joints' .* 2 letters"),
        ({"joints": ["R", "P"]}, "'joints' .* 2 letters"),
        ({"joints": "RP"}, "limits of joints that slide"),
        ({"flip": [True]}, "'flip' .* 2 values"),
        ({"flip": [0, 1]}, "'flip' .* 2 values"),
        ({"tool": np.eye(3)}, "'tool' .* shape .4, 4."),
        ({"tool": 2 * np.eye(4)}, "'tool' .* not a rotation"),
    ],
)
def test_joints_and_tools_that_are_none(parameters, message):
    with pytest.raises(ValueError, match=message):
        KinematicChain([[0, 1, 0], [0, 1, 0]], **parameters)
