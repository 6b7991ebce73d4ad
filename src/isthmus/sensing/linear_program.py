"""Basis pursuit as a linear program: slow, and plainly the definition."""

from typing import Any

import numpy as np
from scipy.optimize import linprog

from isthmus.typing import Array


def linear_program(A: Array, b: Array) -> tuple[Array, Array, int]:
    r"""Solve :math:`\min 1^\top(u+v)` subject to :math:`A(u-v)=b`, :math:`u,v\ge0`, by HiGHS.

    Returns :math:`x=u-v`, the dual vector and the number of pivots.

    >>> import numpy as np
    >>> A = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
    >>> linear_program(A, np.array([1.0, 1.0]))[0]
    array([0. , 0. , 0.5])
    """
    n = A.shape[1]
    # In units of b, or the solver's absolute tolerances would decide.
    unit = float(np.abs(b).max()) or 1.0
    found: Any = linprog(np.ones(2 * n), A_eq=np.hstack([A, -A]), b_eq=b / unit, method="highs")
    if found.status != 0:
        raise ValueError(
            "basis_pursuit finds no vector with A x = b: "
            f"{found.message} Allow for it with noise > 0."
        )
    x = (found.x[:n] - found.x[n:]) * unit
    return x + 0.0, np.asarray(found.eqlin.marginals), int(found.nit)
