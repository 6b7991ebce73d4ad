"""Segments joined to one line: the shortest way through all, without sharp turns."""

import numpy as np

from isthmus.typing import Array, IntArray


def joint_costs(A: Array, B: Array, sharpness: float) -> Array:
    r"""Costs (2K, 2K) of a joint between ends of segments; end 2k is A[k], end 2k + 1 is B[k].

    The length of the joint plus ``sharpness`` times the angles (in radians) by which the line
    turns at its two ends. Ends of one segment are not joined.
    """
    ends = np.stack([A, B], axis=1).reshape(-1, A.shape[1])
    along = B - A
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    outward = np.stack([-along, along], axis=1).reshape(ends.shape)
    step = ends[None] - ends[:, None]  # from the row's end to the column's
    length = np.linalg.norm(step, axis=2)
    way = step / np.maximum(length, 1e-300)[..., None]
    leaving = np.arccos(np.clip(np.einsum("id,ijd->ij", outward, way), -1, 1))
    # Ends that touch turn once, from one segment's direction into the other's.
    direct = np.arccos(np.clip(-outward @ outward.T, -1, 1))
    turns = np.where(length > 1e-12, leaving + leaving.T, direct)
    costs = length + sharpness * turns
    costs = (costs + costs.T) / 2  # a joint costs the same both ways, to the last digit
    number = np.arange(len(ends)) // 2
    costs[number[:, None] == number] = np.inf
    return np.asarray(costs)


def greedy_path(costs: Array) -> IntArray:
    """Ends in the order of one line that visits all segments, (2K,), always the cheapest joint."""
    K = len(costs) // 2
    paths = [[2 * k, 2 * k + 1] for k in range(K)]
    while len(paths) > 1:
        heads = np.array([p[0] for p in paths])
        tails = np.array([p[-1] for p in paths])
        tips = np.concatenate([heads, tails])
        table = costs[np.ix_(tips, tips)].copy()
        m = len(paths)
        same = np.arange(2 * m) % m
        table[same[:, None] == same] = np.inf
        a, b = np.unravel_index(int(np.argmin(table)), table.shape)
        first, second = paths[a % m], paths[b % m]
        first = first if a >= m else first[::-1]  # leave by its last end
        second = second if b < m else second[::-1]
        paths = [p for i, p in enumerate(paths) if i not in (a % m, b % m)] + [first + second]
    return np.array(paths[0])


def path_cost(path: IntArray, costs: Array, *, closed: bool) -> float:
    """What all joints of a line cost together."""
    total = float(costs[path[1:-1:2], path[2::2]].sum())
    return total + float(costs[path[-1], path[0]]) if closed and len(path) > 2 else total
