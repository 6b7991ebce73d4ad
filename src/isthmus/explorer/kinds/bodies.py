"""Labelled graphs, and postures of a chain of joints seen from a side."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from isthmus.explorer.kinds.lines import path
from isthmus.explorer.kinds.picture import COLORS, INK, Picture, text
from isthmus.kernels.graphs.labelled import LabelledGraph

_SIZE = 180.0
_MOST_NODES = 60
_TILT = 0.35  # radians by which a chain is seen from above


def draw_graph(graph: Any, alphabet: Sequence[str] = ()) -> Picture:
    """Return nodes and edges of a labelled graph, nodes as far apart as their paths are long."""
    own = graph if isinstance(graph, LabelledGraph) else LabelledGraph.from_networkx(graph)
    n = min(own.n_nodes, _MOST_NODES)
    edges = [(a, b) for a, b in np.asarray(own.edges).tolist() if a < n and b < n]
    place = _spread(n, edges)
    known = alphabet or sorted({str(v) for v in own.labels})
    kinds = {label: i for i, label in enumerate(known)}
    lines = [
        f'<path d="{path(place[[a, b], 0], place[[a, b], 1])}" stroke="{INK}" opacity="0.6" '
        'stroke-width="2"/>'
        for a, b in edges
    ]
    nodes = []
    for (x, y), label in zip(place, own.labels, strict=False):
        color = COLORS[kinds.get(str(label), -1) % len(COLORS)]
        nodes.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="{color}"/>'
            f'<text x="{x:.1f}" y="{y + 4:.1f}" font-size="11" text-anchor="middle" fill="#fff">'
            f"{text(label, 3)}</text>"
        )
    left = own.n_nodes - n
    note = f'<text x="2" y="12" font-size="11" fill="{INK}">{left} more</text>' if left else ""
    return Picture(_SIZE, _SIZE, "".join(lines + nodes) + note)


def _spread(n: int, edges: list[tuple[int, int]]) -> np.ndarray:
    """Places of nodes in the picture: classical scaling of the lengths of paths."""
    if n == 1:
        return np.full((1, 2), _SIZE / 2)
    ends = np.array(edges, dtype=int).reshape(-1, 2)
    links = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    far = shortest_path(links, directed=False, unweighted=True)
    far = np.where(np.isfinite(far), far, 1 + (far[np.isfinite(far)].max() if n else 1))
    centring = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * centring @ far**2 @ centring)
    place = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-9))
    span = np.maximum(np.ptp(place, axis=0), 1e-9).max()
    return _SIZE / 2 + (place - (place.min(axis=0) + place.max(axis=0)) / 2) / span * (_SIZE - 24)


def draw_posture(angles: Any, chain: Any, turn: float = 0.6) -> Picture:
    """Return a chain with these joint angles, seen after a turn about the vertical.

    Where a row has more numbers than the chain has joints, the last ones are its angles.
    """
    q = np.asarray(angles, dtype=float)[-chain.n_joints :]
    foot = np.asarray(chain.base)[:3, 3]
    joints = np.vstack([foot, chain.positions(q)])
    scale = 0.46 * _SIZE / max(float(chain.reach), 1e-9)
    planar = not np.asarray(chain.dh)[:, [0, 2]].any()  # all axes upright: seen from above
    tilt, turn = (np.pi / 2, 0.0) if planar else (_TILT, turn)
    seen = _SIZE / 2 + scale * _view(joints - foot, turn, tilt)
    ground = _SIZE / 2 + scale * _view((joints - foot) * [1.0, 1.0, 0.0], turn, tilt)
    middle, rim = _SIZE / 2, scale * float(chain.reach)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{COLORS[1]}"/>' for x, y in seen[:-1]
    )
    hand = f'<circle cx="{seen[-1, 0]:.1f}" cy="{seen[-1, 1]:.1f}" r="6" fill="{COLORS[2]}"/>'
    body = (
        f'<ellipse cx="{middle:g}" cy="{middle:g}" rx="{rim:.1f}" ry="{rim * np.sin(tilt):.1f}" '
        f'fill="none" stroke="{INK}" opacity="0.3"/>'
        f'<path d="{path(*ground.T)}" fill="none" stroke="{INK}" opacity="0.25" stroke-width="4"/>'
        f'<path d="{path(*seen.T)}" fill="none" stroke="{COLORS[0]}" stroke-width="6" '
        f'stroke-linecap="round" stroke-linejoin="round"/>{dots}{hand}'
    )
    return Picture(_SIZE, _SIZE, body)


def _view(points: np.ndarray, turn: float, tilt: float) -> np.ndarray:
    """Points (n, 3) on the screen, (n, 2), y downwards, in parallel projection."""
    x = np.cos(turn) * points[:, 0] - np.sin(turn) * points[:, 1]
    depth = np.sin(turn) * points[:, 0] + np.cos(turn) * points[:, 1]
    return np.c_[x, -(np.cos(tilt) * points[:, 2] + np.sin(tilt) * depth)]
