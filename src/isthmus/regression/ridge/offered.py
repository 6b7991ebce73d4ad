"""What a kernel ridge regression is offered: kernels, penalties, and how to choose among them."""

from typing import Any

import numpy as np

from isthmus._checks import check_floats, check_piece
from isthmus.kernels.base import Kernel
from isthmus.kernels.resolve import as_kernel
from isthmus.regression.ridge.exact import RidgeSearch
from isthmus.regression.ridge.search import KERNELS, explore_widths, is_auto
from isthmus.regression.selection import Selection, every


def offered_kernels(model: Any) -> list[Kernel]:
    """The kernels offered, not resolved."""
    if is_auto(model.kernel):
        return list(KERNELS)
    given = model.kernel if isinstance(model.kernel, (list, tuple)) else [model.kernel]
    return [check_piece(kernel, "kernel", model, as_kernel) for kernel in given]


def offered_penalties(model: Any, n_kernels: int) -> list[float] | None:
    """The penalties offered; None for those in units of the kernel."""
    if is_auto(model.alpha):
        return None
    alphas = check_floats(model.alpha, "alpha", model)
    # Interpolation is allowed, but has no leave-one-out error.
    if len(alphas) * n_kernels > 1:
        check_floats(model.alpha, "alpha", model, include_low=False)
    return alphas


def search_of(
    model: Any,
    kernels: list[Kernel],
    alphas: list[float] | None,
    selection: Selection,
    *,
    single: bool,
) -> RidgeSearch:
    """The search for a kernel and a penalty; ``single`` where predictions are in float32."""
    return RidgeSearch(
        kernels,
        alphas,
        selection,
        explore_widths if is_auto(model.kernel) else every,
        bool(model.fit_intercept),
        float(np.finfo(np.float32).eps) if single else 0.0,
        model,
        model.solver,
    )
