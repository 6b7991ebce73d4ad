"""Kinematics of the PA-10, against Pinocchio and the Robotics Toolbox.

Both peers take one posture or target a call, so they are called in a loop; that loop is what a
user of theirs writes.
"""

import numpy as np

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.robotics import KinematicChain, inverse_kinematics, pa10

ARM = pa10(unit=1000.0)  # metres, as the peers have it
TOL = 1e-6  # metres and radians


def _postures(n, seed=0):
    return np.random.default_rng(seed).uniform(ARM.lower, ARM.upper, (n, ARM.n_joints))


def _difference(ours, theirs):
    return np.abs(ours - theirs).max()


def _pinocchio():
    try:
        import pinocchio
    except ImportError as missing:
        raise Unavailable("pin is not installed") from missing
    model, parent = pinocchio.Model(), 0
    for i, (twist, length, offset) in enumerate(ARM.dh):
        turn = pinocchio.utils.rpyToMatrix(twist, 0.0, 0.0)
        placement = pinocchio.SE3(turn, np.array([length, 0.0, 0.0]) + offset * turn[:, 2])
        parent = model.addJoint(parent, pinocchio.JointModelRZ(), placement, f"joint {i}")
    return pinocchio, model, model.createData()


def _toolbox():
    try:
        import roboticstoolbox as rtb
    except ImportError as missing:
        raise Unavailable("roboticstoolbox-python is not installed") from missing
    links = [
        rtb.RevoluteMDH(alpha=twist, a=length, d=offset, qlim=[low, high])
        for (twist, length, offset), low, high in zip(ARM.dh, ARM.lower, ARM.upper, strict=True)
    ]
    return rtb.DHRobot(links).ets()


@benchmark(
    "kinematics-forward",
    work="Poses of the last frame for n random postures",
    peer="pin forwardKinematics, in a loop",
    cases=(1_000, 10_000, 100_000),
    quick=(100, 1_000, 10_000),
    unit="postures",
    goal="faster per posture in batches of 10 000",
)
def forward(n):
    Q = _postures(n)
    pinocchio, model, data = _pinocchio()

    def peer():
        poses = np.empty((n, 4, 4))
        for i, q in enumerate(Q):
            pinocchio.forwardKinematics(model, data, q)
            poses[i] = data.oMi[7].homogeneous
        return poses

    return Contest(lambda: ARM.forward(Q), peer, None, _difference)


@benchmark(
    "kinematics-forward-bare",
    work="The same, the peer's poses not read out of its memory",
    peer="pin forwardKinematics, in a loop",
    cases=(1_000, 10_000, 100_000),
    quick=(100, 1_000, 10_000),
    unit="postures",
    goal="faster per posture in batches of 10 000",
)
def forward_bare(n):
    Q = _postures(n)
    pinocchio, model, data = _pinocchio()

    def peer():
        for q in Q:
            pinocchio.forwardKinematics(model, data, q)

    return Contest(lambda: ARM.forward(Q), peer)


@benchmark(
    "kinematics-jacobian",
    work="Geometric Jacobians of the last frame for n random postures",
    peer="pin computeJointJacobians and getJointJacobian, in a loop",
    cases=(1_000, 10_000, 100_000),
    quick=(100, 1_000),
    unit="postures",
    goal="faster per posture in batches of 10 000",
)
def jacobian(n):
    Q = _postures(n)
    pinocchio, model, data = _pinocchio()
    frame = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED

    def peer():
        J = np.empty((n, 6, 7))
        for i, q in enumerate(Q):
            pinocchio.computeJointJacobians(model, data, q)
            J[i] = pinocchio.getJointJacobian(model, data, 7, frame)
        return J

    return Contest(lambda: ARM.jacobian(Q), peer, None, _difference)


@benchmark(
    "kinematics-inverse",
    work="Joint values within the limits for n reachable poses, to a micrometre and a microradian",
    peer="roboticstoolbox ik_LM, in a loop",
    cases=(200, 1_000, 4_000),
    quick=(20, 50, 100),
    unit="targets",
    goal="200 of 200 targets, and faster per target in batches of 1000",
)
def inverse(n):
    poses = ARM.forward(_postures(n, seed=1))
    robot = _toolbox()

    def ours():
        return inverse_kinematics(ARM, poses, tol=TOL).q

    def peer():
        # Its tolerance is for half of the squared error.
        return np.array([robot.ik_LM(T, tol=0.5 * TOL**2)[0] for T in poses])

    def quality(Q):
        away = np.linalg.norm(ARM.forward(Q)[:, :3, 3] - poses[:, :3, 3], axis=1)
        turn = ARM.forward(Q)[:, :3, :3].transpose(0, 2, 1) @ poses[:, :3, :3]
        angle = np.arccos(np.clip((np.trace(turn, axis1=1, axis2=2) - 1) / 2, -1, 1))
        good = (away < 2 * TOL) & (angle < 1e-5) & ARM.within_limits(Q)
        return {"reached": float(good.mean()), "median error (m)": float(np.median(away))}

    return Contest(ours, peer, quality)


def _model(name):
    """One of the toolbox's own arms, with its limits, as our chain and as the peer has it."""
    try:
        import roboticstoolbox as rtb
    except ImportError as missing:
        raise Unavailable("roboticstoolbox-python is not installed") from missing
    robot = getattr(rtb.models.DH, name)()
    limits = np.tile([-np.pi, np.pi], (robot.n, 1))  # where the model has none: a full turn
    own = np.array([link.qlim if link.qlim is not None else (0, 0) for link in robot.links])
    limits = np.where((own[:, :1] < own[:, 1:]), own, limits)
    slides = [link.isprismatic for link in robot.links]
    table = [
        [link.alpha, link.a, link.offset, link.theta]
        if link.isprismatic
        else [link.alpha, link.a, link.d, link.offset]
        for link in robot.links
    ]
    chain = KinematicChain(
        table,
        "modified" if robot.mdh else "standard",
        joints="".join("P" if slide else "R" for slide in slides),
        limits=limits,
    )
    turns, moves = (
        (rtb.RevoluteMDH, rtb.PrismaticMDH) if robot.mdh else (rtb.RevoluteDH, rtb.PrismaticDH)
    )
    links = [
        moves(alpha=twist, a=length, offset=offset, theta=angle, qlim=list(pair))
        if slide
        else turns(alpha=twist, a=length, d=offset, offset=angle, qlim=list(pair))
        for (twist, length, offset, angle), pair, slide in zip(table, limits, slides, strict=True)
    ]
    return chain, rtb.DHRobot(links).ets()


# All its arms of six joints and more; one joint of the Stanford slides, and two of the P8.
MODELS = ("Ball", "Baxter", "Coil", "Hyper", "Hyper3d", "IRB140", "Jaco", "KR5", "LWR4", "Mico",
          "Panda", "Puma560", "Sawyer", "UR10", "UR3", "UR5", "Stanford", "P8")  # fmt: skip


def _reached(chain, poses):
    def quality(Q):
        found = chain.forward(Q)
        away = np.linalg.norm(found[:, :3, 3] - poses[:, :3, 3], axis=1) / chain.reach
        turned = np.abs(found[:, :3, :3] - poses[:, :3, :3]).max(axis=(1, 2))
        good = (away < 1e-5) & (turned < 1e-5) & chain.within_limits(Q)
        return {"reached": float(good.mean())}

    return quality


def _model_contest(name, n_init, n_searches, n=200):
    chain, robot = _model(name)
    poses = chain.forward(
        np.random.default_rng(0).uniform(chain.lower, chain.upper, (n, chain.n_joints))
    )
    start = chain.center

    def ours():
        return inverse_kinematics(chain, poses, n_init=n_init, tol=1e-7).q

    def peer():
        searches = {"q0": start, "slimit": n_searches, "tol": 1e-12}
        return np.array([robot.ik_LM(T, **searches)[0] for T in poses])

    return Contest(ours, peer, _reached(chain, poses))


@benchmark(
    "kinematics-models-start",
    work="200 reachable poses of each of the peer's own arms, from the middle of the ranges alone",
    peer="roboticstoolbox ik_LM, one search",
    cases=MODELS,
    quick=("UR5", "Panda"),
    unit="targets",
    goal="as many reached on every arm, limits kept; of the others we look for the closest "
    "posture, where the peer gives up",
)
def models_start(name):
    return _model_contest(name, 1, 1)


@benchmark(
    "kinematics-models",
    work="The same with the default number of starts",
    peer="roboticstoolbox ik_LM, 100 searches",
    cases=MODELS,
    quick=("UR5", "Panda"),
    unit="targets",
    goal="as many reached on every arm, limits kept, and faster",
)
def models(name):
    return _model_contest(name, 31, 100)


@benchmark(
    "kinematics-slides",
    work="Poses and Jacobians, in the frame of the tool, of an arm with a joint that slides",
    peer="roboticstoolbox fkine and jacobe, one posture a call (as its arms are used)",
    cases=(100, 1_000, 10_000),
    quick=(100,),
    unit="postures",
    goal="the same, faster",
)
def slides(n):
    chain, robot = _model("Stanford")
    Q = np.random.default_rng(0).uniform(chain.lower, chain.upper, (n, chain.n_joints))

    def ours():
        return np.concatenate([chain.forward(Q)[:, :3], chain.jacobian(Q, frame="tool")[:, :3]], 2)

    def peer():
        found = [(robot.fkine(q).A[:3], robot.jacobe(q)) for q in Q]
        return np.array([np.concatenate([T, J[:3]], axis=1) for T, J in found])

    return Contest(ours, peer, None, _difference)
