"""What a kernel around another one shares with it."""

from typing import Any, ClassVar

from isthmus._parameters import Constraint
from isthmus.kernels.base import A_PART, Kernel
from isthmus.typing import Objects


class KernelAround(Kernel):
    """A kernel made of one other, ``base``, on the objects that the other compares."""

    base: Kernel

    _constraints: ClassVar[dict[str, Constraint]] = {
        "base": A_PART,
    }

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return (self.base,)

    @property
    def vectors(self) -> bool:  # type: ignore[override]
        return self.base.vectors

    @property
    def pairwise(self) -> bool:  # type: ignore[override]
        return self.base.pairwise

    def check(self, X: Objects) -> Objects:
        return self.base.check(X)

    def reference(self, X: Objects, indices: Any = None) -> Objects:
        return self.base.reference(X, indices)
