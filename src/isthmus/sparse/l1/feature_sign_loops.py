"""Compiled loops of feature-sign search: the active set of one signal and its Cholesky factor.

In the names below ``m`` atoms are active: ``active[:m]`` are their numbers, ``a[:m]`` their
coefficients, ``signs[:m]`` the signs they are given, and ``R[:m, :m]`` is the upper Cholesky
factor of their Gram matrix, R'R, with the reciprocals of its diagonal in their place: a division
takes three times as long as a product, and each solution of a system waits for m of them.
"""

import numpy as np

from isthmus._compiled import njit

# Sums may be taken in any order, so that they run in vector registers.
SUMS = {"reassoc", "contract", "nsz"}
# An atom whose part outside the span of the active ones has a smaller squared length (relative
# to its own) is taken to lie in that span.
DEPENDENT = 1e-10


@njit(nogil=True, fastmath={"contract"})
def gradient(G, b, active, a, m, g):
    """Fill ``g`` with G a - b; four rows of G at a time, so that ``g`` is read less often."""
    k = b.shape[0]
    for j in range(k):
        g[j] = -b[j]
    q = 0
    while q + 4 <= m:
        r0, r1, r2, r3 = G[active[q]], G[active[q + 1]], G[active[q + 2]], G[active[q + 3]]
        a0, a1, a2, a3 = a[q], a[q + 1], a[q + 2], a[q + 3]
        for j in range(k):
            g[j] += a0 * r0[j] + a1 * r1[j] + a2 * r2[j] + a3 * r3[j]
        q += 4
    while q < m:
        row, value = G[active[q]], a[q]
        for j in range(k):
            g[j] += value * row[j]
        q += 1


@njit(nogil=True, fastmath={"contract"})
def forward(R, m, y):
    """Solve R' z = y in place, by pairs of rows of R, which lie together in memory."""
    i = 0
    while i + 1 < m:
        upper, lower = R[i], R[i + 1]
        first = y[i] * upper[i]
        second = (y[i + 1] - first * upper[i + 1]) * lower[i + 1]
        y[i], y[i + 1] = first, second
        for j in range(i + 2, m):
            y[j] -= first * upper[j] + second * lower[j]
        i += 2
    if i < m:
        y[i] *= R[i, i]


@njit(nogil=True, fastmath=SUMS)
def backward(R, m, y):
    """Solve R z = y in place, by pairs of rows of R."""
    i = m - 1
    if m % 2:
        y[i] *= R[i, i]
        i -= 1
    while i > 0:
        upper, lower, first, second = R[i - 1], R[i], 0.0, 0.0
        for j in range(i + 1, m):
            first += upper[j] * y[j]
            second += lower[j] * y[j]
        y[i] = (y[i] - second) * lower[i]
        y[i - 1] = (y[i - 1] - first - upper[i] * y[i]) * upper[i - 1]
        i -= 2


@njit(nogil=True)
def append(R, m, G, active, j, column):
    """Write column m of the factor for atom ``j``; False where the atom is dependent.

    ``column`` holds it afterwards in either case.
    """
    products = G[j]
    for q in range(m):
        column[q] = products[active[q]]
    forward(R, m, column)
    pivot = products[j]
    for q in range(m):
        pivot -= column[q] * column[q]
    if m == R.shape[0] or not pivot > DEPENDENT * products[j]:
        return False
    for q in range(m):
        R[q, m] = column[q]
    R[m, m] = 1.0 / np.sqrt(pivot)
    active[m] = j
    return True


@njit(nogil=True, fastmath={"contract"})
def remove(R, m, active, a, signs, y, v, q):
    """Take the atom at place ``q`` out of the active set; Givens rotations mend the factor.

    They turn ``y`` and ``v`` too, which stay R'⁻¹t and R a for other vectors t and a with a zero
    at ``q``, that one taken out.
    """
    for i in range(q, m - 1):
        active[i], a[i], signs[i] = active[i + 1], a[i + 1], signs[i + 1]
    for i in range(q + 1):
        row = R[i]
        for j in range(q, m - 1):
            row[j] = row[j + 1]
    for i in range(q, m - 1):
        # Row i + 1 begins one place left of where it is to be; it is moved as it is turned.
        upper, lower = R[i], R[i + 1]
        x, z = upper[i], 1.0 / lower[i + 1]
        inverse = 1.0 / np.sqrt(x * x + z * z)
        c, s = x * inverse, z * inverse
        upper[i] = inverse
        for j in range(i + 1, m - 1):
            above, below = upper[j], lower[j + 1]
            upper[j] = c * above + s * below
            lower[j] = c * below - s * above
        above, below = y[i], y[i + 1]
        y[i], y[i + 1] = c * above + s * below, c * below - s * above
        above, below = v[i], v[i + 1]
        v[i], v[i + 1] = c * above + s * below, c * below - s * above


@njit(nogil=True, fastmath=SUMS)
def _times(R, m, a, v):
    """Write R a to ``v``."""
    for i in range(m):
        row, entry = R[i], a[i] / R[i, i]
        for j in range(i + 1, m):
            entry += row[j] * a[j]
        v[i] = entry


@njit(nogil=True)
def _best_step(m, a, target, signs, alpha, curvature):
    """Length in (0, 1] of the best step to ``target``: a zero crossing or the end."""
    best_step, best_value = 0.0, np.inf
    for q in range(-1, m):
        if q >= 0 and a[q] * target[q] >= 0:
            continue
        step = 1.0 if q < 0 else a[q] / (a[q] - target[q])
        # With fixed signs the cost falls by this; a coefficient beyond zero pays twice.
        value = -curvature * step * (1.0 - 0.5 * step)
        for r in range(m):
            if a[r] * target[r] < 0:
                value += 2.0 * alpha * max(0.0, -signs[r] * (a[r] + step * (target[r] - a[r])))
        if value < best_value:
            best_step, best_value = step, value
    return best_step


@njit(nogil=True, fastmath=SUMS)
def _move(m, y, v, step):
    """Move ``v`` towards ``y``."""
    for q in range(m):
        v[q] += step * (y[q] - v[q])


@njit(nogil=True, fastmath=SUMS)
def _squared_distance(m, y, v):
    total = 0.0
    for q in range(m):
        total += (y[q] - v[q]) ** 2
    return total


@njit(nogil=True)
def settle(R, m, b, active, a, signs, alpha, positive, max_iter, target, y, v):
    """Minimise over the active coefficients; return how many stay, refused, systems solved.

    ``refused`` counts atoms that had just come in and would have moved against their sign. The
    system is R'R target = b - alpha signs, and half of its solution, y = R target, is turned with R
    when an atom leaves; so is v = R a, once there is one.
    """
    refused, turned, known = 0, True, False
    for n_solved in range(1, max_iter + 1):
        if turned:
            for q in range(m):
                y[q] = b[active[q]] - alpha * signs[q]
            forward(R, m, y)
            turned = False
        for q in range(m):
            target[q] = y[q]
        backward(R, m, target)
        wrong = 0
        for q in range(m - 1, -1, -1):
            if a[q] == 0.0 and target[q] * signs[q] <= 0.0:
                remove(R, m, active, a, signs, y, v, q)
                m -= 1
                wrong += 1
        refused += wrong
        if wrong > 0:
            continue
        crossings = 0
        for q in range(m):
            crossings += a[q] * target[q] < 0.0 or target[q] == 0.0
        if crossings == 0:
            for q in range(m):
                a[q] = target[q]
            return m, refused, n_solved
        if not known:
            _times(R, m, a, v)
            known = True
        step = _best_step(m, a, target, signs, alpha, _squared_distance(m, y, v))
        if positive:  # no coefficient may pass zero: go to the first crossing
            for q in range(m):
                if a[q] * target[q] < 0.0:
                    step = min(step, a[q] / (a[q] - target[q]))
        _move(m, y, v, step)
        for q in range(m - 1, -1, -1):
            crosses = a[q] * target[q] < 0.0 and a[q] / (a[q] - target[q]) == step
            if crosses or (step == 1.0 and target[q] == 0.0):
                for r in range(q, m - 1):
                    target[r] = target[r + 1]
                remove(R, m, active, a, signs, y, v, q)
                m -= 1
        for q in range(m):
            a[q] += step * (target[q] - a[q])
            if a[q] * signs[q] < 0.0:
                signs[q] = -signs[q]
                turned = True
    return m, refused, max_iter


@njit(nogil=True)
def _exchange(R, m, active, a, signs, sign, direction, y, v):
    """Make room for an atom that the active ones span, whose column is ``direction``.

    Moving it by t and the others by -t c, where G c are its products with them, leaves the fit
    as it is and lowers the sum of moduli, until one of the others is zero. That one leaves.
    Return t, or 0 where rounding leaves no such step.
    """
    backward(R, m, direction)
    leaves, length = -1, np.inf
    for q in range(m):
        change = sign * direction[q]
        if a[q] * change > 0.0 and a[q] / change < length:
            leaves, length = q, a[q] / change
    if leaves < 0:
        return 0.0
    for q in range(m):
        a[q] -= length * sign * direction[q]
    remove(R, m, active, a, signs, y, v, leaves)
    return length


@njit(nogil=True)
def _slope(g, positive):
    """How fast the squared error falls where a coefficient leaves zero."""
    return -g if positive else abs(g)


@njit(nogil=True)
def _enter(G, m, g, alpha, limit, share, positive, R, active, is_active, a, signs, direction):
    """Let atoms in whose slope exceeds ``limit``; return how many are active and the best one.

    All those come in whose slope exceeds alpha by at least ``share`` of the largest excess;
    ``share=1`` lets in the best alone. Dependent atoms stay out.
    """
    k = g.shape[0]
    is_active[:] = False
    for q in range(m):
        is_active[active[q]] = True
    worst, best = limit, -1
    for j in range(k):
        slope = _slope(g[j], positive)
        if slope > worst and not is_active[j]:
            worst, best = slope, j
    if best < 0:
        return m, best
    threshold = max(limit, alpha + share * (worst - alpha)) if share < 1.0 else worst
    for j in range(k):
        if (
            _slope(g[j], positive) >= threshold
            and not is_active[j]
            and append(R, m, G, active, j, direction)
        ):
            a[m] = 0.0
            signs[m] = -1.0 if g[j] > 0.0 else 1.0
            m += 1
    return m, best


@njit(nogil=True)
def code_one(G, b, alpha, tol, max_iter, positive, share, code, R, active, is_active, vectors, g):
    """Minimise ½ c'Gc - b'c + alpha |c|₁ from the start ``code`` and write the minimum there.

    Return the number of systems solved, and whether the minimum was reached.
    """
    a, signs, target, direction = vectors[0], vectors[1], vectors[2], vectors[3]
    y, v = vectors[4], vectors[5]
    largest = 0.0
    for j in range(b.shape[0]):
        largest = max(largest, abs(b[j]))
    limit = alpha + tol * largest
    m = 0
    for j in range(b.shape[0]):
        if code[j] != 0.0:
            if append(R, m, G, active, j, direction):
                a[m] = code[j]
                signs[m] = 1.0 if code[j] > 0.0 else -1.0
                m += 1
            code[j] = 0.0
    n_solved, finished = 0, False
    if m > 0:
        m, _, n_solved = settle(R, m, b, active, a, signs, alpha, positive, max_iter, target, y, v)
    while n_solved < max_iter:
        gradient(G, b, active, a, m, g)
        before = m
        m, best = _enter(
            G, m, g, alpha, limit, share, positive, R, active, is_active, a, signs, direction
        )
        if best < 0:
            finished = True
            break
        if m == before:
            # Every atom that wants to come in depends on those that are in.
            sign = -1.0 if g[best] > 0.0 else 1.0
            append(R, m, G, active, best, direction)
            length = _exchange(R, m, active, a, signs, sign, direction, y, v)
            if length == 0.0 or not append(R, m - 1, G, active, best, direction):
                m -= length > 0.0
                break
            a[m - 1], signs[m - 1] = length * sign, sign
        entered = m - before
        m, refused, solved = settle(
            R, m, b, active, a, signs, alpha, positive, max_iter, target, y, v
        )
        n_solved += solved
        if entered > 0 and refused >= entered:
            # All were refused, so the next comes alone; one alone that is refused is rounding.
            if share == 1.0 or entered == 1:
                break
            share = 1.0
    for q in range(m):
        code[active[q]] = a[q]
    return n_solved, finished


@njit(nogil=True)
def code_block(G, B, alpha, tol, max_iter, positive, share, capacity, codes, n_solved, finished):
    """Codes of the signals whose products with the atoms are the rows of ``B``.

    ``codes`` holds the starts. At most ``capacity`` atoms, the rank of G, are active at once.
    """
    k = G.shape[0]
    R = np.zeros((capacity, capacity))
    active = np.zeros(capacity, dtype=np.int64)
    is_active = np.zeros(k, dtype=np.bool_)
    vectors = np.zeros((6, capacity))
    g = np.zeros(k)
    for i in range(B.shape[0]):
        n_solved[i], finished[i] = code_one(
            G,
            B[i],
            alpha,
            tol,
            max_iter,
            positive,
            share,
            codes[i],
            R,
            active,
            is_active,
            vectors,
            g,
        )
