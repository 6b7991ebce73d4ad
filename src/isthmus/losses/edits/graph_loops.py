"""Compiled exchange of matched nodes, which lowers the cost of a match of two graphs."""

from isthmus._compiled import njit


@njit(nogil=True)
def _at(A, B, p, u, v, pair, loop):
    """Cost of the edges at rows u and v of the match p, each pair once."""
    total = 0.0
    for k in range(len(p)):
        for r in (u, v):
            if k == r:
                total += loop * (A[k, k] != B[p[k], p[k]])
            elif not (r == v and k == u):
                total += pair * (A[r, k] != B[p[r], p[k]])
                total += pair * (A[k, r] != B[p[k], p[r]])
    return total


@njit(nogil=True)
def improve_match(a, b, A, B, p, node, pair, loop):
    """Exchange the partners of two nodes as long as that lowers the cost; return the cost.

    Both graphs have as many nodes, those with label 0 stand for none; ``A`` and ``B`` hold the
    numbers of edge labels, 0 where there is no edge.
    """
    n = len(p)
    better = True
    while better:
        better = False
        for u in range(n):
            for v in range(u):
                before = node * ((a[u] != b[p[u]]) + (a[v] != b[p[v]]))
                before += _at(A, B, p, u, v, pair, loop)
                p[u], p[v] = p[v], p[u]
                after = node * ((a[u] != b[p[u]]) + (a[v] != b[p[v]]))
                after += _at(A, B, p, u, v, pair, loop)
                if after < before - 1e-9:
                    better = True
                else:
                    p[u], p[v] = p[v], p[u]
    total = 0.0
    for i in range(n):
        total += node * (a[i] != b[p[i]]) + loop * (A[i, i] != B[p[i], p[i]])
        for j in range(n):
            if i != j:
                total += pair * (A[i, j] != B[p[i], p[j]])
    return total
