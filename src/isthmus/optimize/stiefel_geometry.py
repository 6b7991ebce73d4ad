r"""Geometry of the Stiefel manifold :math:`\mathrm{St}(n,r)=\{V\in R^{n\times r}:V^\top V=I\}`.

Two metrics are in use. The *embedded* one is that of the surrounding matrices; the *canonical*
one, :math:`\langle D,E\rangle_V=\operatorname{tr}D^\top(I-\tfrac12VV^\top)E`, counts every rotation
once and has geodesics in closed form. Both give descent directions; only the paths differ.
"""

import numpy as np
from scipy import linalg

from isthmus._checks import check_choice
from isthmus.typing import Array


def tangent_projection(V: Array, G: Array) -> Array:
    r"""Nearest tangent vector :math:`G-V\,\mathrm{sym}(V^\top G)` at ``V``.

    This is the gradient in the embedded metric when ``G`` is the one of the surrounding space.

    >>> import numpy as np
    >>> V = np.array([[1.0], [0.0]])
    >>> tangent_projection(V, np.array([[3.0], [2.0]]))
    array([[0.],
           [2.]])
    """
    C = V.T @ G
    return G - V @ ((C + C.T) / 2)


def canonical_gradient(V: Array, G: Array) -> Array:
    r"""Gradient :math:`G-VG^\top V` in the canonical metric [EAS1998]_.

    It is tangent, but not a projection of ``G``: the rotation part :math:`V^\top G` of a tangent
    vector comes out doubled.

    >>> import numpy as np
    >>> V = np.eye(3)[:, :2]
    >>> D = canonical_gradient(V, np.arange(6.0).reshape(3, 2))
    >>> bool(np.allclose(V.T @ D, -(V.T @ D).T))
    True
    """
    return G - V @ (G.T @ V)


METRICS = ("embedded", "canonical")


def stiefel_dimension(n: int, r: int) -> int:
    r"""Dimension :math:`nr-\frac12r(r+1)` of the manifold of ``n`` x ``r`` orthonormal matrices.

    >>> stiefel_dimension(3, 1), stiefel_dimension(3, 3)  # a sphere, the rotations
    (2, 3)
    """
    if not 1 <= r <= n:
        raise ValueError(f"St(n, r) needs 1 <= r <= n. Got n={n} and r={r}.")
    return n * r - r * (r + 1) // 2


def stiefel_inner(V: Array, D: Array, E: Array, *, metric: str = "canonical") -> float:
    r"""Inner product of the tangent vectors ``D`` and ``E`` at ``V``.

    :math:`\operatorname{tr}D^\top E` in the embedded metric,
    :math:`\operatorname{tr}D^\top(I-\tfrac12VV^\top)E` in the canonical one.

    >>> import numpy as np
    >>> V, D = np.eye(2), np.array([[0.0, -1.0], [1.0, 0.0]])
    >>> stiefel_inner(V, D, D), stiefel_inner(V, D, D, metric="embedded")
    (1.0, 2.0)
    """
    check_choice(metric, "metric", "stiefel_inner", METRICS)
    inner = float(np.vdot(D, E))
    return inner if metric == "embedded" else inner - 0.5 * float(np.vdot(V.T @ D, V.T @ E))


def stiefel_hessian(V: Array, G: Array, H: Array, D: Array, *, metric: str = "canonical") -> Array:
    r"""Riemannian Hessian of a function along the tangent vector ``D``, a tangent vector.

    ``G`` is the gradient in the surrounding space and ``H`` its derivative along ``D``. With
    :math:`S=\mathrm{sym}(V^\top G)` the Hessian is the tangent projection of :math:`H-DS` in the
    embedded metric, and in the canonical one [EAS1998]_ the canonical gradient formula applied to

    .. math:: H+\tfrac12(VD^\top G+GD^\top V)-(I-VV^\top)DS .

    Its :func:`stiefel_inner` with ``D`` is the second derivative along the geodesic of that metric.

    >>> import numpy as np
    >>> A, V = np.diag([1.0, 3.0]), np.array([[1.0], [0.0]])  # f = ½ tr V'AV at its minimum
    >>> D = np.array([[0.0], [1.0]])
    >>> stiefel_hessian(V, A @ V, A @ D, D)
    array([[0.],
           [2.]])
    """
    check_choice(metric, "metric", "stiefel_hessian", METRICS)
    C = V.T @ G
    S = (C + C.T) / 2
    if metric == "embedded":
        return tangent_projection(V, H - D @ S)
    outside = (D - V @ (V.T @ D)) @ S
    return canonical_gradient(V, H + 0.5 * (V @ (D.T @ G) + G @ (D.T @ V)) - outside)


def geodesic(V: Array, D: Array, t: float = 1.0) -> Array:
    r"""Point reached from ``V`` after time ``t`` with initial velocity ``D``.

    The geodesic of the canonical metric. With :math:`A=V^\top D` and
    :math:`(I-VV^\top)D=QR`,

    .. math:: V(t)=[V,Q]\,\exp\!\left(t\begin{bmatrix}A&-R^\top\\R&0\end{bmatrix}\right)
              \begin{bmatrix}I_r\\0\end{bmatrix},

    an exponential of size :math:`2r` instead of :math:`n`. Cost :math:`O(nr^2)`. In some papers
    the blocks are printed transposed, and that curve does not leave in the direction ``D``.

    >>> import numpy as np
    >>> quarter_turn = geodesic(np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]]), np.pi / 2)
    >>> np.round(quarter_turn, 12) + 0.0
    array([[0.],
           [1.]])
    """
    return geodesic_flow(V, D, t)[0]


def geodesic_flow(V: Array, D: Array, t: float = 1.0) -> tuple[Array, Array]:
    """Point and velocity after time ``t`` on the canonical geodesic from ``V`` along ``D``."""
    r = V.shape[1]
    A = V.T @ D
    # A singular value decomposition, not QR: where the part outside the span of V is short of
    # rank, its null directions get a row of zeros in R and cannot leak into the path.
    Q, sigma, Tt = linalg.svd(D - V @ A, full_matrices=False)
    R = sigma[:, None] * Tt
    Z = np.block([[A, -R.T], [R, np.zeros((len(R), len(R)))]])
    # Z is skew, so iZ is Hermitian and its spectrum gives exp(tZ) with orthonormal columns.
    frequencies, U = np.linalg.eigh(1j * (Z - Z.T) / 2)
    E = ((U * np.exp(-1j * t * frequencies)) @ U[:r].conj().T).real
    dE = Z @ E
    return V @ E[:r] + Q @ E[r:], V @ dE[:r] + Q @ dE[r:]


def qr_retraction(V: Array, D: Array) -> Array:
    """Orthonormal factor of ``V + D`` with a positive diagonal of R, so that it is continuous.

    Equal to the geodesic to first order, and the cheapest.

    >>> import numpy as np
    >>> V = np.eye(3)[:, :2]
    >>> bool(np.array_equal(qr_retraction(V, np.zeros((3, 2))), V))
    True
    """
    Q, R = np.linalg.qr(V + D)
    signs = np.sign(np.diagonal(R))
    signs[signs == 0] = 1
    return Q * signs


def polar_retraction(V: Array, D: Array) -> Array:
    """Point of the manifold nearest to ``V + D``; equal to the geodesic to second order.

    >>> import numpy as np
    >>> V = np.eye(3)[:, :2]
    >>> bool(np.allclose(polar_retraction(V, np.zeros((3, 2))), V))
    True
    """
    U, _, Tt = linalg.svd(V + D, full_matrices=False)
    return U @ Tt


def haar_sample(n: int, r: int, rng: np.random.Generator) -> Array:
    """One point of St(n, r) drawn uniformly: its law is unchanged by every rotation.

    >>> import numpy as np
    >>> V = haar_sample(4, 2, np.random.default_rng(0))
    >>> bool(np.allclose(V.T @ V, np.eye(2)))
    True
    """
    # Fixing the signs of R makes the Q of a Gaussian matrix uniform [Mezzadri2007]_.
    return qr_retraction(np.zeros((n, r)), rng.standard_normal((n, r)))
