"""Compiled recursions of the marginalised kernels."""

import numpy as np

from isthmus._compiled import njit


@njit
def _largest(starts):
    largest = 0
    for i in range(starts.shape[0] - 1):
        largest = max(largest, starts[i + 1] - starts[i])
    return largest


@njit
def _sequence_pair(a, b, q, c, near, D, S):
    """Sum of near(|i - j|) D(i, j), D(i, j) = [a_i = b_j] (q + c D(i+1, j+1)), over all pairs."""
    n = b.shape[0]
    D[: n + 1] = 0.0  # D[j] holds D(i, j), and until it is overwritten D(i+1, j)
    S[:n] = 0.0  # sums down the columns, so that the loop runs in vector registers
    for i in range(a.shape[0] - 1, -1, -1):
        symbol = a[i]
        for j in range(n):
            value = q + c * D[j + 1] if b[j] == symbol else 0.0
            D[j] = value
            S[j] += near[abs(i - j)] * value
    total = 0.0
    for j in range(n):
        total += S[j]
    return total / (a.shape[0] * n)


@njit(nogil=True)
def sequence_gram(x, x_starts, x_stop, z, z_starts, z_stop, near, rows, symmetric, K):
    """Fill rows of ``K`` with the kernel of sequences, one after another in ``x`` and ``z``.

    ``near[r]`` is what two walks count that start r places apart.
    """
    longest = _largest(z_starts)
    D, S = np.empty(longest + 1), np.empty(longest + 1)
    for i in rows:
        a = x[x_starts[i] : x_starts[i + 1]]
        for j in range(i if symmetric else 0, K.shape[1]):
            b = z[z_starts[j] : z_starts[j + 1]]
            q = x_stop[i] * z_stop[j]
            c = (1.0 - x_stop[i]) * (1.0 - z_stop[j])
            K[i, j] = _sequence_pair(a, b, q, c, near, D, S)
            if symmetric:
                K[j, i] = K[i, j]


@njit
def sequence_diagonal(x, starts, stop, near, diagonal):
    """Fill ``diagonal`` with the kernel of each sequence with itself."""
    for i in range(diagonal.shape[0]):
        a = x[starts[i] : starts[i + 1]]
        D, S = np.empty(a.shape[0] + 1), np.empty(a.shape[0] + 1)
        diagonal[i] = _sequence_pair(a, a, stop[i] ** 2, (1.0 - stop[i]) ** 2, near, D, S)


ALL, UPPER, OWN = range(3)  # parts of a Gram matrix

# Tables of pairs of nodes are flat, row by row, and arcs are read in place: array slices would take
# numba many times as long to compile.


@njit
def _step(u, y, Y, mask, n, m, x, a, a_stop, z, b, b_stop):
    """One step of both walks: y = mask o sum_e P_e u P_e'^T, edge label by edge label.

    The product graph is never formed: for each label the second walk steps (into ``Y``), then the
    first one, whole rows at a time. Arcs ``a`` to ``a_stop`` of ``x`` and ``b`` to ``b_stop`` of
    ``z`` are sorted by their label.
    """
    # Unsigned indices need no check whether they count from the end.
    size, width = np.uintp(n * m), np.uintp(m)
    x_from, x_to, x_edge, x_weight = x[4], x[5], x[6], x[7]
    z_from, z_to, z_edge, z_weight = z[4], z[5], z[6], z[7]
    for k in range(size):
        y[k] = 0.0
    while a < a_stop and b < b_stop:
        label = x_edge[a]
        if label < z_edge[b]:
            a += 1
            continue
        if label > z_edge[b]:
            b += 1
            continue
        b_end = b
        while b_end < b_stop and z_edge[b_end] == label:
            b_end += 1
        for k in range(size):
            Y[k] = 0.0
        for row in range(np.uintp(0), size, width):
            for e in range(b, b_end):
                Y[row + z_from[e]] += z_weight[e] * u[row + z_to[e]]
        while a < a_stop and x_edge[a] == label:
            into, out_of, weight = x_from[a] * width, x_to[a] * width, x_weight[a]
            for j in range(width):
                y[into + j] += weight * Y[out_of + j]
            a += 1
        b = b_end
    for k in range(size):
        y[k] *= mask[k]


@njit(inline="always")
def _solve_fixed_point(u, y, Y, r, mask, n, m, x, a, a_stop, z, b, b_stop, tol, max_iter):
    """Iterate u = r + T u from u = r; the change shrinks by (1 - stop)^2 per sweep."""
    scale = 0.0
    for k in range(n * m):
        u[k] = r[k]
        scale = max(scale, abs(r[k]))
    for _ in range(max_iter):
        _step(u, y, Y, mask, n, m, x, a, a_stop, z, b, b_stop)
        change = 0.0
        for k in range(n * m):
            new = r[k] + y[k]
            change = max(change, abs(new - u[k]))
            u[k] = new
        if change <= tol * scale:
            return


@njit(inline="always")
def _solve_conjugate_gradients(
    u, y, Y, r, p, mask, n, m, x, a, a_stop, z, b, b_stop, tol, max_iter
):
    """Solve (I - T) u = r for symmetric T; ``r`` is overwritten by the residual."""
    rho = 0.0
    for k in range(n * m):
        u[k] = 0.0
        p[k] = r[k]
        rho += r[k] * r[k]
    enough = rho * tol * tol
    for _ in range(max_iter):
        _step(p, y, Y, mask, n, m, x, a, a_stop, z, b, b_stop)
        curvature = 0.0
        for k in range(n * m):
            y[k] = p[k] - y[k]
            curvature += p[k] * y[k]
        if curvature <= 0.0:
            return
        alpha = rho / curvature
        new = 0.0
        for k in range(n * m):
            u[k] += alpha * p[k]
            r[k] -= alpha * y[k]
            new += r[k] * r[k]
        if new <= enough:
            return
        beta = new / rho
        rho = new
        for k in range(n * m):
            p[k] = r[k] + beta * p[k]


@njit(inline="always")
def _graph_pair(x, i, z, j, q, gradients, tol, max_iter, work):
    x_nodes, x_arcs, x_label, x_scale = x[0], x[1], x[2], x[3]
    z_nodes, z_arcs, z_label, z_scale = z[0], z[1], z[2], z[3]
    first, second = x_nodes[i], z_nodes[j]
    n, m = x_nodes[i + 1] - first, z_nodes[j + 1] - second
    u, y, Y, mask, r, p = work[0], work[1], work[2], work[3], work[4], work[5]
    matches = 0
    for a in range(n):
        for b in range(m):
            same = x_label[first + a] == z_label[second + b]
            matches += same
            mask[a * m + b] = 1.0 if same else 0.0
            scale = x_scale[first + a] * z_scale[second + b]
            r[a * m + b] = q * scale if same else 0.0
    if matches == 0:
        return 0.0
    a, a_stop, b, b_stop = x_arcs[i], x_arcs[i + 1], z_arcs[j], z_arcs[j + 1]
    if gradients:
        _solve_conjugate_gradients(
            u, y, Y, r, p, mask, n, m, x, a, a_stop, z, b, b_stop, tol, max_iter
        )
    else:
        _solve_fixed_point(u, y, Y, r, mask, n, m, x, a, a_stop, z, b, b_stop, tol, max_iter)
    total = 0.0
    for a in range(n):
        for b in range(m):
            total += u[a * m + b] / (x_scale[first + a] * z_scale[second + b])
    return total / (n * m)


@njit(nogil=True)
def graph_gram(x, z, q, gradients, tol, max_iter, rows, part, work, K):
    """Fill rows of ``K`` with the kernel of packed graphs.

    ``part`` is one of ALL, UPPER (the other triangle is filled with it) and OWN (the kernel of each
    graph with itself, one column). ``work`` has six rows for as many pairs of nodes as there are.
    """
    for t in range(rows.shape[0]):
        i = rows[t]
        for j in range(0 if part == ALL else i, i + 1 if part == OWN else K.shape[1]):
            value = _graph_pair(x, i, z, j, q, gradients, tol, max_iter, work)
            K[i, 0 if part == OWN else j] = value
            if part == UPPER:
                K[j, i] = value
