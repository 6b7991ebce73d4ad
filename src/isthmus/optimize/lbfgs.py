"""SciPy's L-BFGS-B without threads of its own between the calls of the function."""

from collections.abc import Callable, Sequence
from typing import Any

from scipy import optimize

from isthmus.linalg.threads import outer_threads, threads_for
from isthmus.typing import Array


def minimize_lbfgs(
    function: Callable[[Array], tuple[float, Array]],
    start: Array,
    *,
    bounds: Sequence[tuple[float, float]] | None = None,
    callback: Callable[..., Any] | None = None,
    **options: float,
) -> optimize.OptimizeResult:
    """Minimum of ``function`` (value and gradient) by L-BFGS-B; ``options`` are SciPy's.

    Between two calls of the function the solver works on systems of a few rows, on which BLAS
    starts its threads all the same. What they do takes microseconds, but each waits for the other
    by spinning: where another process has a processor, a step takes milliseconds. So the solver
    has one thread, and the function those that it had outside.

    >>> import numpy as np
    >>> found = minimize_lbfgs(lambda x: (float(x @ x), 2 * x), np.ones(2))
    >>> bool(abs(found.x).max() < 1e-4)
    True
    """

    def with_threads(x: Array) -> tuple[float, Array]:
        with outer_threads():
            return function(x)

    with threads_for(0):
        return optimize.minimize(
            with_threads,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            callback=callback,
            options=options,
        )
