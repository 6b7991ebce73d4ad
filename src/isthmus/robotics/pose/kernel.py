"""Arms are alike whose joints are in like places."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from isthmus._parameters import Constraint, having, none, numbers, resolved_by
from isthmus.kernels.base import Kernel
from isthmus.kernels.resolve import as_kernel
from isthmus.kernels.vectors.dot import Linear
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.typing import Array

# Origins that move by less than this share of the chain's reach do not count as moving.
STILL = 1e-9


@dataclass
class PoseKernel(Kernel):
    r"""Kernel of joint vectors :math:`k(q,q')=\sum_i\lambda_i\,k_b(p_i(q),p_i(q'))`.

    :math:`p_i` are the positions of the joints of a chain: joint values that put the arm in the
    same place are equal to it, whatever the values are. If the base kernel is differentiable, so
    is this one, through the Jacobians of the positions.

    With the linear base the features are the positions themselves, so there are never more
    components than coordinates that move. In the PA-10, joints 3 and 4 share a position, as do 5
    and 6, and joints 1 and 2 are in the shoulder: :math:`k=2\langle p_3,p_3'\rangle+
    2\langle p_5,p_5'\rangle+\langle p_7,p_7'\rangle`, at most 9 components. The 13
    that are reported for this arm [Bakir2005]_ cannot come from a linear base; a
    Gaussian one of about 450 mm gives that many.

    Parameters
    ----------
    chain : KinematicChain
        Postures are vectors of its joint values.
    base : kernel or name, default="linear"
        Compares positions; ``Gaussian.from_width(450.0)``, for instance, in the chain's units.
    weights : array-like of shape (n_joints,) or None, default=None
        :math:`\lambda\ge0`. None is 1 for every joint that moves.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.robotics import PoseKernel, pa10
    >>> k = PoseKernel(pa10())
    >>> q = np.zeros((1, 7))  # the arm straight up: joints at 450, 450, 950, 950, 1030 mm
    >>> k(q)
    array([[3270900.]])
    >>> turned = q + [0, 0, 0, 0, 0, 0, 1.0]  # the last joint moves no position
    >>> bool(k(q, turned) == k(q))
    True
    """

    __module__ = "isthmus.robotics"

    chain: Any
    base: Any = field(default="linear", kw_only=True)
    weights: Any = field(default=None, kw_only=True)

    _constraints: ClassVar[dict[str, Constraint]] = {
        "chain": having("forward", "position_jacobians", text="a KinematicChain"),
        "base": resolved_by(as_kernel, "a kernel, its name or a callable"),
        "weights": none | numbers(1),
    }

    @property
    def offers(self) -> frozenset[str]:  # type: ignore[override]
        """Through the Jacobians of the chain it has a gradient if its base has one."""
        return as_kernel(self.base).provides & {"gradient", "explicit"}

    def check(self, X: Array) -> Array:
        X = super().check(X)
        if X.shape[1] != self.chain.n_joints:
            raise ValueError(
                f"PoseKernel compares joint vectors of {self.chain.n_joints} entries. "
                f"Got shape {X.shape} instead."
            )
        return X

    def resolve(self, X: Array) -> "PoseKernel":
        weights = joint_weights(self)
        P = replace(self, weights=weights).joint_positions(X)
        base = as_kernel(self.base).resolve(P.reshape(-1, 3))
        return replace(self, base=base, weights=weights)

    def joint_positions(self, X: Array) -> Array:
        """Positions of the joints of positive weight, shape (n_counting, n, 3)."""
        P = self.chain.positions(X)[:, self.weights > 0]
        return np.ascontiguousarray(P.transpose(1, 0, 2), dtype=X.dtype)

    def gram(self, X: Array, Z: Array) -> Array:
        kernel = self if self._is_resolved else self.resolve(Z)
        lam = kernel.weights
        left = kernel.joint_positions(X)
        right = left if Z is X else kernel.joint_positions(Z)
        K = np.zeros((len(X), len(Z)), dtype=np.result_type(X, Z))
        for weight, p, r in zip(lam[lam > 0], left, right, strict=True):
            part = kernel.base.gram(p, r)
            part *= weight
            K += part
        return K

    def diag(self, X: Array) -> Array:
        X = self.check(X)
        kernel = self if self._is_resolved else self.resolve(X)
        lam = kernel.weights
        parts = [
            w * kernel.base.diag(p)
            for w, p in zip(lam[lam > 0], kernel.joint_positions(X), strict=True)
        ]
        return np.asarray(np.sum(parts, axis=0, dtype=X.dtype))

    def _weighted_gradient(self, X: Array, Z: Array, W: Array, K: Array) -> Array:
        lam = self.weights
        left, right = self.joint_positions(X), self.joint_positions(Z)
        slopes = [
            w * self.base.weighted_gradient(p, r, W)
            for w, p, r in zip(lam[lam > 0], left, right, strict=True)
        ]
        return self._through_joints(X, np.stack(slopes, axis=1))

    def diag_gradient(self, X: Array) -> Array:
        lam = self.weights
        parts = zip(lam[lam > 0], self.joint_positions(X), strict=True)
        return self._through_joints(
            X, np.stack([w * self.base.diag_gradient(p) for w, p in parts], axis=1)
        )

    def _through_joints(self, X: Array, slopes: Array) -> Array:
        """Chain rule: slopes (n, n_counting, 3) by position to slopes (n, n_joints) by joint."""
        J = self.chain.position_jacobians(X)[:, self.weights > 0]
        return np.einsum("nkc,nkcj->nj", slopes, J).astype(X.dtype, copy=False)

    def values_and_slopes(self, X: Array, B: Array) -> Callable[[Array], tuple[Array, Array]]:
        r"""Values and Jacobians of :math:`\sum_jB_{ji}k(x_j,q)`, as a function of postures q.

        For the linear and the Gaussian base all joints are computed at once, and the positions of
        ``X`` are kept; joints that always share a position are computed once.
        """
        if not isinstance(self.base, (Linear, Gaussian)):
            return super().values_and_slopes(X, B)
        joints, lam = distinct_joints(self.chain, self.weights)
        places = self.chain.positions(X)[:, joints].transpose(1, 0, 2)  # (k, n, 3)
        if isinstance(self.base, Gaussian):
            return self._gaussian_model(joints, lam, np.ascontiguousarray(places), B)
        directions = np.matmul(B.T, places) * lam[:, None, None]  # (k, r, 3)

        def model(Q: Array) -> tuple[Array, Array]:
            P, J = (part[:, joints] for part in self.chain.positions_and_jacobians(Q))
            values = np.einsum("mkc,krc->mr", P, directions)
            return values, np.einsum("krc,mkcj->mrj", directions, J, optimize=True)

        return model

    def _gaussian_model(
        self, joints: Any, lam: Array, places: Array, B: Array
    ) -> Callable[[Array], tuple[Array, Array]]:
        # Imported here: loading numba takes a good part of a second.
        from isthmus.robotics.pose.kernel_loops import gaussian_pose_functions

        gamma, B = float(self.base.gamma), np.ascontiguousarray(B, dtype=float)

        def model(Q: Array) -> tuple[Array, Array]:
            P, J = self.chain.positions_and_jacobians(Q)
            values = np.empty((len(Q), B.shape[1]))
            slopes = np.empty((*values.shape, Q.shape[1]))
            gaussian_pose_functions(P, J, joints, places, lam, gamma, B, values, slopes)
            return values, slopes

        return model

    def explicit_features(self, X: Array) -> Array | None:
        if not self._is_resolved or not len(X):
            return None
        lam = self.weights
        parts = [self.base.explicit_features(p) for p in self.joint_positions(X)]
        if any(part is None for part in parts):
            return None
        return np.hstack([np.sqrt(w) * part for w, part in zip(lam[lam > 0], parts, strict=True)])

    @property
    def _is_resolved(self) -> bool:
        return isinstance(self.base, Kernel) and isinstance(self.weights, np.ndarray)


def joint_weights(kernel: PoseKernel) -> Array:
    """Return the weights of the joints as an array, or say what is wrong with them."""
    chain = kernel.chain
    if kernel.weights is None:
        # A posture in general position: a joint that does not move there never does.
        J = chain.position_jacobians(np.linspace(0.3, 1.1, chain.n_joints))
        moves = np.abs(J).max(axis=(1, 2)) > STILL * max(chain.reach, np.finfo(float).tiny)
        return np.asarray(moves, dtype=float)
    weights = np.asarray(kernel.weights, dtype=float)
    if weights.shape != (chain.n_joints,) or not (weights >= 0).all() or not weights.any():
        raise ValueError(
            f"The 'weights' parameter of PoseKernel must hold {chain.n_joints} numbers in "
            f"[0, inf), not all zero. Got {kernel.weights!r} instead."
        )
    return weights


def distinct_joints(chain: Any, weights: Array) -> tuple[Any, Array]:
    """Joints in different positions, and the sum of weights of all joints in each position."""
    P = chain.positions(np.linspace(-1.0, 1.2, 3 * chain.n_joints).reshape(3, -1))
    joints: list[int] = []
    lam: list[float] = []
    for i in np.flatnonzero(weights > 0):
        same = [
            k
            for k, j in enumerate(joints)
            if np.abs(P[:, i] - P[:, j]).max() <= STILL * chain.reach
        ]
        if same:
            lam[same[0]] += float(weights[i])
        else:
            joints.append(int(i))
            lam.append(float(weights[i]))
    return np.array(joints), np.array(lam)
