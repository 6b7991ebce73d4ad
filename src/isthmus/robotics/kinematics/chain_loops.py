"""Compiled walks along a kinematic chain, many postures in one call.

A frame is stored as its three axes x, y, z and its origin p, all in base coordinates: a rotation
about one of its own axes only mixes the other two, so a joint costs a few dozen products.
"""

from isthmus._compiled import njit


@njit(nogil=True)
def fill_frames(cosines, sines, offsets, table, modified, base, last_only, frames):
    """Write the frame after every joint, or after the last one only, into ``frames``.

    ``table`` has a row cos(twist), sin(twist), length, offset per joint; the angles of ``cosines``
    and ``sines`` and the ``offsets``, shape (n, n_joints), are those of the postures, with the
    constant part of each joint.
    ``frames`` has shape (n, n_joints, 4, 4), or (n, 1, 4, 4) with ``last_only``.
    """
    n, n_joints = cosines.shape
    for i in range(n):
        x0, x1, x2 = base[0, 0], base[1, 0], base[2, 0]
        y0, y1, y2 = base[0, 1], base[1, 1], base[2, 1]
        z0, z1, z2 = base[0, 2], base[1, 2], base[2, 2]
        p0, p1, p2 = base[0, 3], base[1, 3], base[2, 3]
        for j in range(n_joints):
            ca, sa, a, d = table[j, 0], table[j, 1], table[j, 2], offsets[i, j]
            c, s = cosines[i, j], sines[i, j]
            if modified:  # Rot_x(twist) Trans_x(length) Rot_z(q) Trans_z(offset)
                y0, z0 = ca * y0 + sa * z0, ca * z0 - sa * y0
                y1, z1 = ca * y1 + sa * z1, ca * z1 - sa * y1
                y2, z2 = ca * y2 + sa * z2, ca * z2 - sa * y2
                p0 += a * x0 + d * z0
                p1 += a * x1 + d * z1
                p2 += a * x2 + d * z2
            x0, y0 = c * x0 + s * y0, c * y0 - s * x0
            x1, y1 = c * x1 + s * y1, c * y1 - s * x1
            x2, y2 = c * x2 + s * y2, c * y2 - s * x2
            if not modified:  # Rot_z(q) Trans_z(offset) Trans_x(length) Rot_x(twist)
                p0 += a * x0 + d * z0
                p1 += a * x1 + d * z1
                p2 += a * x2 + d * z2
                y0, z0 = ca * y0 + sa * z0, ca * z0 - sa * y0
                y1, z1 = ca * y1 + sa * z1, ca * z1 - sa * y1
                y2, z2 = ca * y2 + sa * z2, ca * z2 - sa * y2
            if last_only and j < n_joints - 1:
                continue
            frame = frames[i, 0 if last_only else j]
            frame[0, 0], frame[1, 0], frame[2, 0], frame[3, 0] = x0, x1, x2, 0.0
            frame[0, 1], frame[1, 1], frame[2, 1], frame[3, 1] = y0, y1, y2, 0.0
            frame[0, 2], frame[1, 2], frame[2, 2], frame[3, 2] = z0, z1, z2, 0.0
            frame[0, 3], frame[1, 3], frame[2, 3], frame[3, 3] = p0, p1, p2, 1.0


@njit(nogil=True, inline="always")
def _fill_column(hinge, motion, u, v, w, column):
    """Velocity of a point at (u, v, w) from a joint, for one unit of its value.

    ``motion`` is how far the joint turns about, and how far it slides along, the z axis of
    ``hinge``.
    """
    turn, slide = motion[0], motion[1]
    column[0] = turn * (hinge[1, 2] * w - hinge[2, 2] * v) + slide * hinge[0, 2]
    column[1] = turn * (hinge[2, 2] * u - hinge[0, 2] * w) + slide * hinge[1, 2]
    column[2] = turn * (hinge[0, 2] * v - hinge[1, 2] * u) + slide * hinge[2, 2]


@njit(nogil=True)
def fill_position_jacobians(frames, modified, base, motions, jacobians):
    """Column j of J_k is the velocity of origin k when joint j moves."""
    n, n_joints = frames.shape[:2]
    for i in range(n):
        for j in range(n_joints):
            # The axis of a joint is the z axis of its own frame, or of the frame before it.
            hinge = frames[i, j] if modified else (frames[i, j - 1] if j > 0 else base)
            for k in range(n_joints):
                if k < j:
                    for r in range(3):
                        jacobians[i, k, r, j] = 0.0
                    continue
                u = frames[i, k, 0, 3] - hinge[0, 3]
                v = frames[i, k, 1, 3] - hinge[1, 3]
                w = frames[i, k, 2, 3] - hinge[2, 3]
                _fill_column(hinge, motions[j], u, v, w, jacobians[i, k, :, j])


@njit(nogil=True, inline="always")
def fill_jacobians(frames, modified, base, motions, tool, jacobians):
    """Geometric Jacobian of the tool: linear velocity above angular velocity."""
    n, n_joints = frames.shape[:2]
    for i in range(n):
        end = frames[i, n_joints - 1]
        for j in range(n_joints):
            hinge = frames[i, j] if modified else (frames[i, j - 1] if j > 0 else base)
            u = end[0, 3] - hinge[0, 3]
            v = end[1, 3] - hinge[1, 3]
            w = end[2, 3] - hinge[2, 3]
            for k in range(3):
                u += end[0, k] * tool[k, 3]
                v += end[1, k] * tool[k, 3]
                w += end[2, k] * tool[k, 3]
            _fill_column(hinge, motions[j], u, v, w, jacobians[i, :, j])
            for r in range(3):
                jacobians[i, 3 + r, j] = motions[j, 0] * hinge[r, 2]
