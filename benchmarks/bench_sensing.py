"""Basis pursuit against spgl1 and against the linear program."""

import numpy as np

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.sensing import basis_pursuit, sensing_matrix

# With less, spgl1 ends with errors above 1e-6 on these problems; with 1e-8 they are below.
SPGL1 = {"bp_tol": 1e-8, "opt_tol": 1e-8, "iter_lim": 20_000}


def _spgl1():
    try:
        import spgl1
    except ImportError:
        raise Unavailable("spgl1 is not installed") from None
    return spgl1


def _planted(m, n, s, kind):
    rng = np.random.default_rng(0)
    A = sensing_matrix(kind, m, n, random_state=0, scramble=True)
    x = np.zeros(n)
    x[rng.choice(n, s, replace=False)] = rng.normal(size=s)
    return A, x, A @ x


def _quality(A, b, x):
    def measured(found):
        return {
            "error": float(np.linalg.norm(found - x) / np.linalg.norm(x)),
            "residual": float(np.linalg.norm(A @ found - b) / np.linalg.norm(b)),
        }

    return measured


def _difference(a, b):
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def _against_spgl1(m, n, s, kind):
    A, x, b = _planted(m, n, s, kind)
    return Contest(
        lambda: basis_pursuit(A, b),
        lambda: _spgl1().spg_bp(A, b, **SPGL1)[0],
        _quality(A, b, x),
        _difference,
    )


@benchmark(
    "pursuit-spgl1",
    work="Basis pursuit, Gaussian matrix with n / 4 rows, n / 30 non-zeros",
    peer="spgl1.spg_bp to 1e-8",
    cases=(1000, 2000, 4000),
    quick=(100, 200, 400),
    goal="faster to 1e-6",
)
def dense(n):
    return _against_spgl1(n // 4, n, n // 30, "gaussian")


@benchmark(
    "pursuit-hard",
    work="The same with n / 20 non-zeros, near the phase transition",
    peer="spgl1.spg_bp to 1e-8",
    cases=(1000, 2000),
    quick=(100, 200),
    goal="faster to 1e-6",
)
def hard(n):
    return _against_spgl1(n // 4, n, n // 20, "gaussian")


@benchmark(
    "pursuit-operator",
    work="Basis pursuit, n / 5 rows of a cosine basis as an operator, n / 50 non-zeros",
    peer="spgl1.spg_bp to 1e-8",
    cases=(25_000, 50_000, 100_000),
    quick=(2000, 4000),
    goal="faster to 1e-6; n = 100 000 solved",
)
def operator(n):
    return _against_spgl1(n // 5, n, n // 50, "dct")


@benchmark(
    "pursuit-program",
    work="Basis pursuit, Gaussian matrix with n / 4 rows, n / 30 non-zeros",
    peer="scipy.optimize.linprog (HiGHS)",
    cases=(500, 1000, 2000),
    quick=(100, 200),
    goal="20 times faster at n = 2000",
)
def program(n):
    A, x, b = _planted(n // 4, n, n // 30, "gaussian")
    return Contest(
        lambda: basis_pursuit(A, b),
        lambda: basis_pursuit(A, b, solver="linear-program"),
        _quality(A, b, x),
        _difference,
    )


@benchmark(
    "pursuit-noise",
    work="The same as pursuit-spgl1 with 1 % of noise",
    peer="spgl1.spg_bpdn to 1e-8",
    cases=(1000, 2000, 4000),
    quick=(100, 200),
    goal="faster at the same l1 norm",
)
def noisy(n):
    A, _, b = _planted(n // 4, n, n // 30, "gaussian")
    e = np.random.default_rng(1).normal(size=len(b))
    e *= 0.01 * np.linalg.norm(b) / np.linalg.norm(e)
    sigma = float(np.linalg.norm(e))

    def quality(found):
        return {
            "l1 norm": float(np.abs(found).sum()),
            "residual over noise": float(np.linalg.norm(A @ found - b - e) / sigma),
        }

    return Contest(
        lambda: basis_pursuit(A, b + e, noise=sigma),
        lambda: _spgl1().spg_bpdn(A, b + e, sigma, **SPGL1)[0],
        quality,
        _difference,
    )
