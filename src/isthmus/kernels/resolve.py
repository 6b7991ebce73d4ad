"""Make a kernel from whatever was given."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from sklearn.base import clone
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel

from isthmus._checks import check_piece
from isthmus._parameters import check_parameters, condition
from isthmus.kernels.algebra.delta import Delta
from isthmus.kernels.algebra.function import FunctionKernel
from isthmus.kernels.algebra.normalized import Normalized
from isthmus.kernels.algebra.precomputed import Precomputed
from isthmus.kernels.base import Kernel
from isthmus.kernels.vectors.ard import ARD
from isthmus.kernels.vectors.dot import Exponential, Linear, Polynomial
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.kernels.vectors.histogram import HistogramIntersection
from isthmus.kernels.vectors.laplacian import Laplacian
from isthmus.kernels.vectors.stationary import Matern
from isthmus.typing import provides

NAMES: dict[str, Callable[[], Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "poly": Polynomial,
    "gaussian": Gaussian,
    "rbf": Gaussian,
    "exponential": Exponential,
    "laplacian": Laplacian,
    "matern": Matern,
    "ard": lambda: ARD(Gaussian()),
    "histogram_intersection": HistogramIntersection,
    "cosine": lambda: Normalized(Linear()),
    "delta": Delta,
    "precomputed": Precomputed,
}


def _may_be_kernel(value: Any) -> bool:
    # A name that is none gets a better answer from as_kernel.
    return isinstance(value, (str, Kernel)) or (callable(value) and not isinstance(value, type))


A_KERNEL = condition("a kernel, its name or a callable", _may_be_kernel)


def kernel_parameter(owner: Any, name: str) -> Kernel:
    """The kernel that a parameter of ``owner`` stands for; a refusal names the parameter."""
    kernel: Kernel = check_piece(getattr(owner, name), name, owner, as_kernel)
    check_parameters(kernel)
    return kernel


def as_kernel(kernel: Any) -> Kernel:
    """Return the kernel that a name, a kernel or a function stands for, as a copy.

    Parameters
    ----------
    kernel : str, Kernel, scikit-learn kernel or callable
        A name, a kernel, a kernel object of ``sklearn.gaussian_process``, or a function of
        two collections that returns their Gram matrix. A function declares that it compares rows
        of numbers by an attribute ``provides = {"vectors"}``.

    Examples
    --------
    >>> from isthmus.kernels import as_kernel
    >>> as_kernel("gaussian")
    Gaussian(gamma='median')
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> as_kernel(RBF(1.0))([[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """
    if isinstance(kernel, str):
        if kernel not in NAMES:
            names = ", ".join(map(repr, NAMES))
            raise ValueError(
                f"Unknown kernel {kernel!r}: expected one of {names}.{_suggestion(kernel)}"
            )
        return NAMES[kernel]()
    if isinstance(kernel, Kernel):
        return clone(kernel)
    if isinstance(kernel, SklearnKernel):
        return FunctionKernel(kernel, on_vectors=True)
    if callable(kernel) and not isinstance(kernel, type):
        return FunctionKernel(kernel, on_vectors="vectors" in provides(kernel))
    hint = f" Call it: {kernel.__name__}()." if isinstance(kernel, type) else ""
    raise TypeError(
        "A kernel must be a name, a Kernel, a scikit-learn kernel or a function of two "
        f"collections. Got {kernel!r:.60} of type {type(kernel).__name__} instead.{hint}"
    )


def _suggestion(unknown: str) -> str:
    """The name that was probably meant, or the class, where a kernel has no name."""
    from isthmus import kernels

    plain = unknown.lower().replace("_", "")
    for name in dir(kernels):
        if name.lower() == plain and plain not in NAMES:
            return f" The kernel {name} has no name: pass {name}(...) itself."
    close = get_close_matches(unknown.lower(), NAMES, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
