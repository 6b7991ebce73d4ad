"""The sparsest vector that explains the measurements, by the l1 norm."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from isthmus._checks import check_choice, check_float, refusal
from isthmus._door import takes_complex, with_door
from isthmus._progress import ProgressLine
from isthmus._warnings import warn
from isthmus.sensing.certificate import RecoveryCertificate, certify
from isthmus.sensing.first_order import first_order
from isthmus.sensing.homotopy import homotopy
from isthmus.sensing.linear_program import linear_program
from isthmus.sensing.matrices import as_dense_matrix
from isthmus.sensing.root import exact_root, noise_root
from isthmus.typing import Array

SOLVERS = ("auto", "homotopy", "root", "first-order", "linear-program")
# Operators with no more entries than this are written out: the exact path is then fast.
_SMALL = 4e6
_FEASIBLE = 1e-7
# Gap at which the support found at little noise is the solution, up to rounding.
_PROVED = 1e-10


@with_door
@takes_complex
def basis_pursuit(
    A: Any,
    b: Any,
    *,
    noise: float = 0.0,
    weights: Any = None,
    solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int | None = None,
    return_certificate: bool = False,
    verbose: int = 0,
) -> Any:
    r"""Find the vector of least l1 norm that agrees with the measurements ``b``.

    .. math:: \min_x\|x\|_1\quad\text{subject to}\quad\|Ax-b\|_2\le\epsilon

    Where the truth is sparse and ``A`` measures well, this is the truth, although there are fewer
    equations than unknowns [CandesRombergTao2006]_, [Donoho2006]_; rule of thumb: four to six
    measurements for each non-zero entry.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator of shape (m, n)
        With a dictionary, the product: ``basis_pursuit(Phi @ D, y)`` gives coefficients ``a``, and
        ``D @ a`` is the signal.
    b : array of shape (m,)
    noise : float, default=0.0
        The :math:`\epsilon` above: how far :math:`Ax` may be from ``b``, in the Euclidean norm.
        Where ``b`` is float32 at least its rounding error, 1.2e-7 times its norm.
    weights : array of shape (n,) or None, default=None
        Positive weights: :math:`\sum_iw_i|x_i|` is minimised. Entries that are likely to be
        non-zero get a small weight.
    solver : {"auto", "homotopy", "root", "first-order", "linear-program"}
        ``"homotopy"`` follows the Lasso path on a matrix written out, exact; ``"root"`` finds the
        end of the path by Newton steps or a few exact Lasso problems, for ``noise > 0``;
        ``"first-order"`` needs products only, for operators with n up to millions;
        ``"linear-program"`` is the reference for ``noise=0``. ``"auto"`` takes the second one for
        arrays and for operators of up to 4e6 entries, without noise for its support, and the
        first where that is not proved to be the solution (should ties lead it in circles, another
        one); for larger operators the third. (spgl1 always takes first-order steps,
        to a gap of 1e-4: an exact path is as short as the solution is sparse.)
    tol : float, default=1e-6
        Relative duality gap and residual at which first-order steps may stop. They mostly stop
        earlier: with a solution that is exact to 1e-9 and proved to be so.
    max_iter : int or None
        Maximum number of steps of the solver; None for 10 m + 100 (homotopy), 5000
        (first-order) or 20 000 (complex numbers).
    return_certificate : bool, default=False
        Also return the :class:`RecoveryCertificate`.
    verbose : int
        1 shows a progress line on a terminal.

    Returns
    -------
    x : ndarray of shape (n,)
    certificate : RecoveryCertificate
        Only with ``return_certificate``: the residual, and by how much the l1 norm can at most
        exceed the minimum.

    Warns
    -----
    ConvergenceWarning
        If the certificate is worse than ``tol``.

    Notes
    -----
    Where ``A`` or ``b`` is complex, so is the solution, and :math:`|x_i|` is its modulus: a
    second-order cone problem, solved by first-order steps alone.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sensing import basis_pursuit, sensing_matrix
    >>> x = np.zeros(200)
    >>> x[[10, 50, 120]] = 3.0, -2.0, 0.5
    >>> A = sensing_matrix("gaussian", 30, 200, random_state=0)
    >>> bool(np.allclose(basis_pursuit(A, A @ x), x))
    True
    >>> noisy = A @ x + 0.01 * np.random.default_rng(0).normal(size=30)
    >>> found = basis_pursuit(A, noisy, noise=0.06)
    >>> bool(np.linalg.norm(found - x) < 0.2)
    True
    """
    single = getattr(b, "dtype", None) == np.float32
    A, b = _check_system(A, b)
    check_float(noise, "noise", "basis_pursuit")
    check_float(tol, "tol", "basis_pursuit")
    check_choice(solver, "solver", "basis_pursuit", SOLVERS)
    if solver == "linear-program" and noise:
        raise ValueError("The solver 'linear-program' takes no noise; use 'homotopy'.")
    if solver == "root" and not noise:
        raise ValueError("The solver 'root' needs noise above 0; use 'homotopy'.")
    if single and solver != "linear-program":
        # Rounded measurements have no sparse exact solution: the path would go on for their sake.
        noise = max(noise, float(np.finfo(np.float32).eps * np.linalg.norm(b)))
    scale = _check_weights(weights, A.shape[1])
    if scale is not None:
        # With u = w x the problem is the plain one of the columns a_i / w_i.
        A = A / scale if isinstance(A, np.ndarray) else A @ _diagonal(1 / scale)
    if np.iscomplexobj(b):
        x, certificate = _solve_complex(A, b, noise, solver, tol, max_iter, verbose)
    else:
        x, certificate = _solve_real(A, b, noise, solver, tol, max_iter, verbose)
    x = x if scale is None else x / scale
    return (x, certificate) if return_certificate else x


def _solve_real(
    A: Any, b: Array, noise: float, solver: str, tol: float, max_iter: int | None, verbose: int
) -> tuple[Array, RecoveryCertificate]:
    m, n = A.shape
    operator = not isinstance(A, np.ndarray)
    dense = not operator or m * n <= _SMALL
    size = float(np.linalg.norm(b))
    exact = "root" if noise > 4 * _FEASIBLE * size else "homotopy"  # rounding is no noise
    chosen = solver if solver != "auto" else exact if dense else "first-order"
    if chosen != "first-order" and operator:
        A = as_dense_matrix(A, what=f"The solver {chosen!r} of basis_pursuit", limit=5e8)
    if size <= noise or not np.any(A.T @ b):
        x = np.zeros(n)
        certificate = RecoveryCertificate(size, 0.0, 0, chosen)
        if size > max(noise, 0.0):
            _refuse_range(size, noise)
        return x, certificate

    if solver == "auto" and dense and noise == 0:
        with ProgressLine("basis pursuit", verbose=verbose) as line:
            x, y, n_iter, proved = exact_root(A, b, line)
        certificate = certify(A, b, noise, x, y, n_iter=n_iter, solver="root")
        if proved and certificate.gap <= min(tol, _PROVED):
            return x, certificate
    x, certificate, reached = _solve(A, b, noise, chosen, tol, max_iter, verbose)
    if solver == "auto" and dense:
        for other in ("homotopy", "first-order") if noise else ("linear-program",):
            if reached and certificate.gap <= tol:
                break
            x, certificate, reached = _solve(A, b, noise, other, tol, None, verbose)
    off = certificate.residual - noise
    if reached and certificate.solver != "first-order" and off > _FEASIBLE * size:
        _refuse_range(certificate.residual, noise)
    if certificate.gap > tol or off > max(tol, _FEASIBLE) * size:
        _warn_of_end(certificate, tol)
    return x, certificate


def _solve_complex(
    A: Any, b: Array, noise: float, solver: str, tol: float, max_iter: int | None, verbose: int
) -> tuple[Array, RecoveryCertificate]:
    from isthmus.sensing.complex_numbers import complex_pursuit

    if solver not in ("auto", "first-order"):
        raise ValueError(
            f"basis_pursuit of complex numbers takes solver='auto' or 'first-order'. Got {solver!r}"
        )
    steps = 20_000 if max_iter is None else max_iter
    x, certificate = complex_pursuit(A, b, noise, tol=tol, max_iter=steps, verbose=verbose)
    size = float(np.linalg.norm(b))
    off = certificate.residual - noise
    if certificate.gap > tol or off > max(tol, _FEASIBLE) * size:
        _warn_of_end(certificate, tol)
    return x, certificate


def _warn_of_end(certificate: RecoveryCertificate, tol: float) -> None:
    warn(
        f"basis_pursuit stopped after {certificate.n_iter} steps ({certificate.solver}) with "
        f"residual {certificate.residual:.1e} and duality gap {certificate.gap:.1e} above "
        f"tol={tol:g}. Raise max_iter; where no vector explains b, give noise.",
        ConvergenceWarning,
    )


def _check_weights(weights: Any, n: int) -> Array | None:
    if weights is None:
        return None
    values = _as_numbers("weights", weights)
    if values.shape != (n,) or not np.all((values > 0) & np.isfinite(values)):
        raise ValueError(
            f"The 'weights' parameter of basis_pursuit must hold {n} positive numbers, one for "
            f"each column of A. Got {weights!r:.80}."
        )
    return values


def _diagonal(values: Array) -> LinearOperator:
    return aslinearoperator(sparse.diags_array(values))


def _solve(
    A: Any, b: Array, noise: float, solver: str, tol: float, max_iter: int | None, verbose: int
) -> tuple[Array, RecoveryCertificate, bool]:
    reached = True
    if solver == "homotopy":
        x, y, n_iter, reached = homotopy(A, b, noise, max_iter=max_iter, verbose=verbose)
    elif solver == "root":
        x, y, n_iter, reached = noise_root(A, b, noise, verbose=verbose)
    elif solver == "linear-program":
        x, y, n_iter = linear_program(A, b)
    else:
        x, y, n_iter, reached = first_order(
            A,
            b,
            noise,
            norm2=squared_norm(A),
            tol=tol,
            max_iter=5000 if max_iter is None else max_iter,
            verbose=verbose,
        )
    return x, certify(A, b, noise, x, y, n_iter=n_iter, solver=solver), reached


def squared_norm(A: Any) -> float:
    r"""An upper bound of :math:`\|A\|^2`, tight to a few percent; exact where :math:`AA^\top=cI`.

    Such rows show at once: a random vector is an eigenvector of a matrix only if all are.

    >>> import numpy as np
    >>> round(squared_norm(3 * np.eye(4)[:2]), 12)
    9.0
    """
    random = np.random.default_rng(0)
    v = random.normal(size=A.shape[0])
    v /= np.linalg.norm(v)
    image = A @ (A.T @ v)
    c = float(v @ image)
    if np.linalg.norm(image - c * v) <= 1e-10 * c:
        return c
    best = c
    for _ in range(50):
        v = image / np.linalg.norm(image)
        image = A @ (A.T @ v)
        new = float(np.linalg.norm(image))
        if new <= best * (1 + 1e-3):
            best = max(best, new)
            break
        best = new
    return 1.05 * best  # power iterations come from below


def _check_system(A: Any, b: Any) -> tuple[Any, Array]:
    complex_system = np.iscomplexobj(b) or np.dtype(getattr(A, "dtype", None) or float).kind == "c"
    kind = np.complex128 if complex_system or np.iscomplexobj(A) else np.float64
    b = _as_numbers("b", b, kind)
    if isinstance(A, LinearOperator) or sparse.issparse(A):
        A = aslinearoperator(A)
    else:
        A = _as_numbers("A", A, kind)
        if A.ndim != 2:
            raise ValueError(f"basis_pursuit needs a matrix A. Got an array of shape {A.shape}.")
        if not np.isfinite(A).all():
            raise ValueError("basis_pursuit needs a finite matrix A. Got NaN or infinity in it.")
    if b.ndim != 1 or len(b) != A.shape[0]:
        raise ValueError(
            "basis_pursuit needs one measurement for each row of A: "
            f"expected b of shape ({A.shape[0]},), got {b.shape}."
        )
    if not np.isfinite(b).all():
        raise ValueError("basis_pursuit needs finite measurements b. Got NaN or infinity in it.")
    return A, b


def _as_numbers(name: str, value: Any, kind: Any = np.float64) -> Array:
    try:
        return np.asarray(value, dtype=kind)
    except (TypeError, ValueError) as error:
        raise TypeError(refusal("basis_pursuit", name, "an array of numbers", value)) from error


def _refuse_range(residual: float, noise: float) -> None:
    raise ValueError(
        f"basis_pursuit: no vector brings A x within noise={noise:g} of b; the best comes within "
        f"{residual:.3g}. Give noise at least that, or check A and b."
    )
