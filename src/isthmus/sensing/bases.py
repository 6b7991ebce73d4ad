"""Orthonormal bases with fast transforms, as linear operators."""

from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import fft
from scipy.sparse.linalg import LinearOperator

from isthmus._checks import refusal
from isthmus.sensing.wavelets import analyse, synthesise
from isthmus.typing import Array

Transform = Callable[[Array], Array]

_WAVELETS = {"haar": 1, "db2": 2, "db4": 4}
BASES = ("identity", "dct", "fourier", "hadamard", "noiselet", *_WAVELETS)


class Basis(LinearOperator):
    """``D @ coefficients`` is the signal, ``D.T @ signal`` are the coefficients."""

    def __init__(self, n: int, synthesis: Transform, analysis: Transform, name: str):
        super().__init__(np.dtype(np.float64), (n, n))
        self.synthesis, self.analysis, self.name = synthesis, analysis, name

    def _matvec(self, x: Array) -> Array:
        return self.synthesis(np.ravel(x))

    def _rmatvec(self, x: Array) -> Array:
        return self.analysis(np.ravel(x))

    def __repr__(self) -> str:
        return f"<{self.shape[0]}x{self.shape[1]} basis {self.name!r}>"


def orthonormal_basis(kind: str, shape: int | Sequence[int]) -> Basis:
    r"""An orthonormal basis whose transforms cost O(n log n) or less.

    Columns are the basis vectors, so that :math:`x=Da` is ``D @ a`` and :math:`a=D^\top x` is
    ``D.T @ x``. Nothing of size n × n is made; ``D @ np.eye(n)`` would write it out.

    Parameters
    ----------
    kind : str
        ``"identity"``; ``"dct"`` cosines; ``"fourier"`` real waves: the constant, then cosine and
        sine of each frequency; ``"hadamard"`` Walsh functions; ``"noiselet"`` real noiselets
        [Coifman2001]_; ``"haar"``, ``"db2"``, ``"db4"`` wavelets with 1, 2 and 4 vanishing moments.
    shape : int or tuple of int
        Length of a signal, or the shape of an image whose pixels are the signal, row by row.
        Wavelets halve all sides while they are even. ``"fourier"``, ``"hadamard"`` and
        ``"noiselet"`` see the flattened signal; the last two need a power of two.

    Returns
    -------
    scipy.sparse.linalg.LinearOperator

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sensing import orthonormal_basis
    >>> D = orthonormal_basis("haar", (4, 4))
    >>> image = np.zeros((4, 4))
    >>> image[:2, :2] = 1
    >>> np.round(D.T @ image.ravel(), 6)[:6]
    array([1., 1., 0., 0., 1., 1.])
    >>> bool(np.allclose(D @ (D.T @ image.ravel()), image.ravel()))
    True
    """
    if not isinstance(kind, str) or kind not in BASES:
        expected = f"one of {', '.join(map(repr, BASES))}"
        raise ValueError(refusal("orthonormal_basis", "kind", expected, kind))
    sides: tuple[Any, ...] = ()
    if isinstance(shape, (tuple, list, np.ndarray)):
        sides = tuple(shape)
    elif isinstance(shape, Integral) and not isinstance(shape, bool):
        sides = (shape,)
    whole = [isinstance(n, Real) and float(n) >= 1 and float(n).is_integer() for n in sides]
    if not sides or not all(whole):
        expected = "an int in [1, inf) or a tuple of them"
        raise ValueError(refusal("orthonormal_basis", "shape", expected, shape))
    sides = tuple(int(side) for side in sides)
    n = prod(sides)
    if kind == "identity":
        return Basis(n, _same, _same, kind)
    if kind == "dct":
        return Basis(
            n,
            lambda a: fft.idctn(a.reshape(sides), norm="ortho").ravel(),
            lambda x: fft.dctn(x.reshape(sides), norm="ortho").ravel(),
            kind,
        )
    if kind == "fourier":
        return Basis(n, _waves, _wave_coefficients, kind)
    if kind in ("hadamard", "noiselet"):
        if n & (n - 1):
            raise ValueError(
                f"The basis {kind!r} needs a power of two as number of entries. Got {n}; "
                "'dct' takes any number."
            )
        if kind == "hadamard":
            return Basis(n, _walsh, _walsh, kind)
        return Basis(n, _noiselets, _noiselet_coefficients, kind)
    moments = _WAVELETS[kind]
    return Basis(
        n,
        lambda a: synthesise(a.reshape(sides), moments).ravel(),
        lambda x: analyse(x.reshape(sides), moments).ravel(),
        kind,
    )


def _same(x: Array) -> Array:
    return np.array(x, dtype=np.float64)


def _wave_coefficients(x: Array) -> Array:
    """Constant, then cosine and sine of each frequency, then the fastest cosine if n is even."""
    n = len(x)
    spectrum = fft.rfft(np.asarray(x, dtype=np.float64), norm="ortho")
    out = np.empty(n)
    out[0] = spectrum[0].real
    inner = spectrum[1 : (n + 1) // 2]
    out[1 : 2 * len(inner) : 2] = np.sqrt(2) * inner.real
    out[2 : 2 * len(inner) + 1 : 2] = -np.sqrt(2) * inner.imag
    if n % 2 == 0 and n > 1:
        out[-1] = spectrum[-1].real
    return out


def _waves(a: Array) -> Array:
    n = len(a)
    spectrum = np.zeros(n // 2 + 1, dtype=complex)
    spectrum[0] = a[0]
    inner = (n - 1) // 2
    cosines, sines = a[1 : 2 * inner : 2], a[2 : 2 * inner + 1 : 2]
    spectrum[1 : inner + 1] = (cosines - 1j * sines) / np.sqrt(2)
    if n % 2 == 0 and n > 1:
        spectrum[-1] = a[-1]
    return fft.irfft(spectrum, n, norm="ortho")


@cache
def _power(kind: str, exponent: int) -> Array:
    """The small matrix of which the transform is a Kronecker power, itself to a power."""
    halves = {
        "walsh": np.array([[1, 1], [1, -1]]) / np.sqrt(2),
        "noiselet": np.array([[1 - 1j, 1 + 1j], [1 + 1j, 1 - 1j]]) / 2,
    }
    out: Any = np.eye(1)
    for _ in range(exponent):
        out = np.kron(out, halves[kind])
    return np.asarray(out)


def _kronecker(x: Array, kind: str) -> Array:
    """Apply the Kronecker power to ``x``, sixteen entries at a time; O(n log n)."""
    fours, rest = divmod(len(x).bit_length() - 1, 4)
    for factor in [_power(kind, 4)] * fours + [_power(kind, rest)] * bool(rest):
        # Every pass works on the leading axis and sends it to the end.
        x = (factor @ x.reshape(len(factor), -1)).T.reshape(-1)
    return x


def _walsh(x: Array) -> Array:
    return _kronecker(np.array(x, dtype=np.float64), "walsh")


def _noiselet_coefficients(x: Array) -> Array:
    """Complex noiselets come in conjugate pairs: real and imaginary parts of one of each."""
    n = len(x)
    if n == 1:
        return _same(x)
    z = np.sqrt(2) * _kronecker(x.astype(complex), "noiselet")[: n // 2]
    return np.concatenate([z.real, z.imag])


def _noiselets(a: Array) -> Array:
    n = len(a)
    if n == 1:
        return _same(a)
    z = np.zeros(n, dtype=complex)
    z[: n // 2] = a[: n // 2] - 1j * a[n // 2 :]
    return np.sqrt(2) * _kronecker(z, "noiselet").real
