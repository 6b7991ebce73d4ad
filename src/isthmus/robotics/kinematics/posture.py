"""Properties of a posture beyond the position of the hand, to imitate or to keep large."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from isthmus._checks import check_int
from isthmus.optimize.levenberg_marquardt import least_squares_rows
from isthmus.robotics.kinematics.chain import KinematicChain
from isthmus.robotics.kinematics.rotations import cross_matrices
from isthmus.typing import Array, IntArray

# posture(q (n, n_joints)) -> values (n, k), derivatives (n, k, n_joints)
Posture: TypeAlias = Callable[[Array], tuple[Array, Array]]


def plane_normals(first: Any, second: Any, reference: Any) -> Array:
    r"""Unit normals of the planes through two points and a reference, shape (n, 3).

    :math:`(a - c) \times (b - c)`, normalised. With the shoulder, the elbow and a point of the
    writing board this describes how the arm is held. Points on one line span no plane and are
    refused.

    Parameters
    ----------
    first, second, reference : array-like of shape (n, 3) or (3,)
        The points a, b and c.

    Returns
    -------
    normals : ndarray of shape (n, 3)

    Examples
    --------
    >>> plane_normals([2, 0, 0], [0, 3, 0], [0, 0, 0])
    array([[0., 0., 1.]])
    """
    a, b, c = (np.atleast_2d(np.asarray(p, dtype=float)) for p in (first, second, reference))
    u = np.cross(a - c, b - c)
    size = np.linalg.norm(u, axis=1, keepdims=True)
    spread = np.linalg.norm(a - c, axis=1) * np.linalg.norm(b - c, axis=1)
    flat = np.flatnonzero(~(size[:, 0] > 1e-12 * spread))
    if len(flat):
        raise ValueError(
            f"plane_normals: the three points of row {flat[0]} lie on one line (or are NaN) and "
            "span no plane. Choose another reference point."
        )
    normals: Array = u / size
    return normals


class PlaneNormal:
    r"""Unit normal of the plane through a joint, a fixed point and a reference.

    With :math:`a = s - c`, :math:`b = p_k(q) - c` and :math:`u = a \times b`,

    .. math::
        e(q) = u / \|u\|, \qquad
        \frac{\partial e}{\partial q} = (I - e e^\top)\, [a]_\times J_k(q) / \|u\|.

    Parameters
    ----------
    chain : KinematicChain
        The arm.
    joint : int
        Index of the frame whose origin is :math:`p_k`; 2 is the elbow of the PA-10.
    point, reference : array-like of shape (3,)
        The fixed point s (for an elbow: the other shoulder) and the reference c.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.robotics import PlaneNormal, pa10
    >>> elbow = PlaneNormal(pa10(), joint=2, point=[0, 300, 0], reference=[600, 0, 200])
    >>> normal, slope = elbow(np.full((1, 7), 0.3))
    >>> normal.round(2), slope.shape
    (array([[0.28, 0.85, 0.43]]), (1, 3, 7))
    """

    __module__ = "isthmus.robotics"

    def __init__(self, chain: KinematicChain, *, joint: int, point: Any, reference: Any) -> None:
        check_int(joint, "joint", self, high=chain.n_joints - 1)
        self.chain, self.joint = chain, joint
        self.point = np.asarray(point, dtype=float).reshape(3)
        self.reference = np.asarray(reference, dtype=float).reshape(3)

    def __call__(self, q: Array) -> tuple[Array, Array]:
        """Normals (n, 3) and derivatives (n, 3, n_joints) of postures (n, n_joints)."""
        J = self.chain.position_jacobians(q)[:, self.joint]
        b = self.chain.positions(q)[:, self.joint] - self.reference
        (A,) = cross_matrices((self.point - self.reference)[None])
        u = b @ A.T  # a x b
        size = np.maximum(np.sqrt(np.sum(u**2, axis=1, keepdims=True)), np.finfo(float).tiny)
        e = u / size
        slope = A @ J / size[:, :, None]
        return e, slope - e[:, :, None] * (e[:, None, :] @ slope)


class Manipulability:
    r"""How freely the hand moves in all directions, :math:`w(q) = \sqrt{\det J J^\top}`.

    J is the Jacobian of the position of the last frame in units of the reach. The measure
    vanishes at singular postures [Yoshikawa1985]_. As a posture term with the wanted value 1, which
    no arm attains, it keeps away from them.

    Parameters
    ----------
    chain : KinematicChain
        The arm.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.robotics import Manipulability, pa10
    >>> measure = Manipulability(pa10())
    >>> measure(np.array([[0, 0, 0, 0.01, 0, 0, 0], [0, 0, 0, 1.2, 0, 0.3, 0]]))[0].round(3)
    array([[0.   ],
           [0.177]])
    """

    __module__ = "isthmus.robotics"

    def __init__(self, chain: KinematicChain) -> None:
        self.chain = chain

    def __call__(self, q: Array) -> tuple[Array, Array]:
        """Measure (n, 1) and derivative (n, 1, n_joints) of postures (n, n_joints)."""
        G = self.chain.jacobian(q)
        J, Z = G[:, :3] / self.chain.length_unit, G[:, 3:]
        # Turning joint k rotates the effect of joint j if k comes first, and else the reverse:
        # dJ_j / dq_k = z_min(j,k) x J_max(j,k)
        n = self.chain.n_joints
        early, late = np.minimum.outer(np.arange(n), np.arange(n)), np.arange(n)
        late = np.maximum.outer(late, late)
        H = np.cross(Z[:, :, early], J[:, :, late], axis=1)  # (n, 3, joint j, joint k)
        M = J @ J.transpose(0, 2, 1)
        w = np.sqrt(np.maximum(np.linalg.det(M), 0.0))
        ridge = 1e-12 * np.trace(M, axis1=1, axis2=2)[:, None, None]
        ridge = np.where(ridge > 0, ridge, 1.0) * np.eye(3)  # of a hand that nothing moves
        slope = w[:, None] * np.einsum("nrj,nrjk->nk", np.linalg.solve(M + ridge, J), H)
        return w[:, None], slope[:, None, :]


def initial_posture(
    chain: KinematicChain,
    terms: Sequence[tuple[Posture, Any, Sequence[int]]],
    *,
    start: Any = None,
    n_init: int = 9,
    random_state: int = 0,
) -> Array:
    r"""A posture with wanted properties, found one group of joints after the other.

    For each term (posture, wanted, joints) in turn :math:`\|f(q) - f_\mathrm{wanted}\|^2` is
    minimised over those joints within their limits while the others are fixed: first the upper arm
    by shoulder and elbow, then the rest by the hand.

    Parameters
    ----------
    chain : KinematicChain
        The arm.
    terms : sequence of (callable, array-like, sequence of int)
        Posture terms such as :class:`PlaneNormal`, their wanted values, indices of the joints to
        move.
    start : array-like of shape (n_joints,), default=None
        Where to start. None: the middle of the joint ranges.
    n_init : int, default=9
        Number of starts for each term; the best result is taken, among equals the closest.
    random_state : int, default=0
        Seed of the starts after the first.

    Returns
    -------
    q : ndarray of shape (n_joints,)

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.robotics import PlaneNormal, initial_posture, pa10, plane_normals
    >>> arm = pa10()
    >>> elbow = PlaneNormal(arm, joint=2, point=[0, 300, 0], reference=[600, 0, 200])
    >>> wanted = plane_normals([0, 300, 0], [350, 60, 270], [600, 0, 200])
    >>> q = initial_posture(arm, [(elbow, wanted, [0, 1])])
    >>> bool(np.allclose(elbow(q[None])[0], wanted))
    True
    """
    check_int(n_init, "n_init", "initial_posture", low=1)
    rng = np.random.default_rng(random_state)
    q = np.array(chain.center if start is None else start, dtype=float)
    for posture, wanted, joints in terms:
        at = list(joints)
        low, high = np.maximum(chain.lower[at], -np.pi), np.minimum(chain.upper[at], np.pi)
        starts = np.vstack([q[at], rng.uniform(low, high, (n_init - 1, len(at)))])
        best = least_squares_rows(
            _of_joints(posture, q.copy(), at),
            starts,
            np.tile(np.ravel(wanted).astype(float), (len(starts), 1)),
            lower=chain.lower[at],
            upper=chain.upper[at],
            max_iter=200,
        )
        # Several postures may fit equally well, such as an elbow on either side of its joint.
        equal = best.error <= best.error.min() * (1 + 1e-6) + 1e-12
        distance = np.where(equal, np.linalg.norm(best.x - q[at], axis=1), np.inf)
        q[at] = best.x[np.argmin(distance)]
    return q


def _of_joints(
    posture: Posture, q: Array, joints: list[int]
) -> Callable[[Array, IntArray], tuple[Array, Array]]:
    """The posture term as a function of some joints, with the others fixed."""

    def values(some: Array, rows: IntArray) -> tuple[Array, Array]:
        Q = np.tile(q, (len(some), 1))
        Q[:, joints] = some
        f, J = posture(Q)
        return f, J[:, :, joints]

    return values
