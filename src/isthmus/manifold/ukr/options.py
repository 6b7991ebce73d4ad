"""The parameters of unsupervised kernel regression, checked, with the combinations refused."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from isthmus._checks import check_choice, check_float, check_int
from isthmus.manifold.ukr.losses import HUBER
from isthmus.manifold.ukr.starts import STARTS
from isthmus.manifold.ukr.train import PENALTIES, RULES, SOLVERS
from isthmus.smoothers.density_kernels import density_kernel
from isthmus.smoothers.local_polynomial import LocalPolynomial

MOST_CURVED = 3  # a full quadratic in more latent dimensions has more terms than a row neighbours
LANDMARKS = ("kmeans", "harmonic")
AUTO_STARTS = ("pca", "neighbors", "isomap")
# Weights of the extension penalty from smooth to free, where training begins at the plane of
# principal components: an embedding that has unfolded nothing yet.
AUTO_HOMOTOPY = tuple({"extension": 0.3**k} for k in range(1, 8))


@dataclass(frozen=True)
class Options:
    """Checked parameters; weights are still in units of the error of the data's mean."""

    q: int
    smoother: LocalPolynomial
    degrees: tuple[int, ...]
    loss: str
    delta: float | None
    epsilon: float | None
    tube: str
    n_excluded: int | None
    penalties: dict[str, float]
    n_landmarks: int | None
    landmarks: str
    smoothness: float | None
    starts: tuple[str, ...] | np.ndarray
    n_neighborhoods: int
    n_init: int
    homotopy: tuple[dict[str, float], ...] | None
    solver: str
    max_iter: int
    tol: float
    held_out: float
    n_jobs: int | None


def check_options(owner: Any) -> Options:
    """Read the parameters of ``owner``, or say which of them is wrong and why."""
    q = check_int(owner.n_components, "n_components", owner, low=1)
    degree = check_choice(owner.degree, "degree", owner, ("auto", 0, 1, 2))
    kernel = density_kernel(owner.density_kernel)
    ridge = check_float(owner.ridge, "ridge", owner, low=0.0)
    degrees = _degrees(owner, degree, q)
    smoother = LocalPolynomial(kernel, degrees[0], bool(owner.cross_terms), ridge)
    loss = check_choice(owner.loss, "loss", owner, ("squared", *HUBER, "epsilon"))
    delta = None
    if owner.delta != "auto":
        delta = check_float(owner.delta, "delta", owner, include_low=False)
    tube = check_choice(owner.tube, "tube", owner, ("ball", "cube"))
    epsilon = (
        None if owner.epsilon is None else check_float(owner.epsilon, "epsilon", owner, low=0.0)
    )
    n_landmarks = None
    if owner.n_landmarks is not None:
        n_landmarks = check_int(owner.n_landmarks, "n_landmarks", owner, low=q + 1)
    n_excluded = _n_excluded(owner, n_landmarks, loss)
    if owner.data_kernel is not None and loss not in ("squared", "huber_norm"):
        raise _clash(
            f"data_kernel with loss={loss!r}",
            "a residual in feature space has a length but no components; only 'squared' and "
            "'huber_norm' have a meaning there",
        )
    smoothness = None
    if owner.smoothness is not None:
        smoothness = check_float(owner.smoothness, "smoothness", owner, low=0.0)
        if degree in (1, 2):
            raise _clash(
                f"smoothness with degree={degree}",
                "a local polynomial removes the bias that adapted outputs are there for",
            )
        if kernel.n_derivatives < 2:
            raise _clash(
                f"smoothness with density_kernel={kernel.name!r}",
                "roughness is measured by second derivatives, which this kernel has not; take "
                "'triweight' or 'gaussian'",
            )
    return Options(
        q=q,
        smoother=smoother,
        degrees=degrees,
        loss=loss,
        delta=delta,
        epsilon=epsilon,
        tube=tube,
        n_excluded=n_excluded,
        penalties=_weights(owner, "penalty", owner.penalty, PENALTIES),
        n_landmarks=n_landmarks,
        landmarks=check_choice(owner.landmarks, "landmarks", owner, LANDMARKS),
        smoothness=smoothness,
        starts=_starts(owner),
        n_neighborhoods=check_int(owner.n_neighborhoods, "n_neighborhoods", owner, low=1),
        n_init=check_int(owner.n_init, "n_init", owner, low=1),
        homotopy=_homotopy(owner),
        solver=check_choice(owner.solver, "solver", owner, tuple(SOLVERS)),
        max_iter=check_int(owner.max_iter, "max_iter", owner, low=0),
        tol=check_float(owner.tol, "tol", owner, low=0.0),
        held_out=check_float(owner.held_out, "held_out", owner, low=0.0, high=0.5),
        n_jobs=owner.n_jobs,
    )


def _clash(what: str, why: str) -> ValueError:
    return ValueError(f"UnsupervisedKernelRegression refuses {what}: {why}.")


def _degrees(owner: Any, degree: Any, q: int) -> tuple[int, ...]:
    """Degrees to choose from, by the error at the start."""
    if degree != "auto":
        return (int(degree),)
    few = q <= MOST_CURVED and owner.smoothness is None and owner.data_kernel is None
    return (0, 2) if few else (0,)


def _n_excluded(owner: Any, n_landmarks: int | None, loss: str) -> int | None:
    """How many rows, a row itself among them, may not help to reconstruct it; None: see degree."""
    validation = owner.validation
    if n_landmarks is not None:
        if validation not in ("auto", None):
            raise _clash(
                f"n_landmarks with validation={validation!r}",
                "landmarks are means of many rows, so leaving a row out changes nothing; use a "
                "penalty instead",
            )
        if loss == "epsilon":
            raise _clash(
                "n_landmarks with loss='epsilon'",
                "tubes are set by the residuals of a cross-validated fit of all rows",
            )
        return 0
    if validation is None:
        return 0
    if isinstance(validation, str) and validation in ("auto", "loo"):
        return 1 if validation == "loo" else None
    if isinstance(validation, Integral) and not isinstance(validation, bool):
        return check_int(owner.validation, "validation", owner, low=1)
    raise ValueError(
        "The 'validation' parameter of UnsupervisedKernelRegression must be 'auto', 'loo', an int "
        f"(leave so many neighbours out) or None. Got {validation!r} instead."
    )


def _weights(owner: Any, name: str, given: Any, known: tuple[str, ...]) -> dict[str, float]:
    expected = f"None or a mapping from some of {', '.join(map(repr, known))} to weights"
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(
            f"The {name!r} parameter of {type(owner).__name__} must be {expected}. "
            f"Got {given!r} instead."
        )
    for key in given:
        if key not in known:
            raise ValueError(
                f"The {name!r} parameter of {type(owner).__name__} must be {expected}. "
                f"Got the key {key!r} instead."
            )
    return {key: check_float(value, name, owner, low=0.0) for key, value in given.items()}


def _homotopy(owner: Any) -> tuple[dict[str, float], ...] | None:
    if isinstance(owner.homotopy, str) and owner.homotopy == "auto":
        return None
    if owner.homotopy is None:
        return ()
    if isinstance(owner.homotopy, (str, Mapping)) or not isinstance(owner.homotopy, Iterable):
        raise TypeError(
            "The 'homotopy' parameter of UnsupervisedKernelRegression must be 'auto', None or a "
            f"sequence of stages, each a mapping. Got {owner.homotopy!r} instead."
        )
    stages = tuple(_weights(owner, "homotopy", s, (*PENALTIES, *RULES)) for s in owner.homotopy)
    for stage in stages:
        if stage.get("floor", 0.0) >= 1.0:
            raise ValueError(
                "A 'floor' in the 'homotopy' parameter of UnsupervisedKernelRegression must be "
                "below 1, the density where all places are one. "
                f"Got {stage['floor']!r} instead."
            )
    return stages


def _starts(owner: Any) -> tuple[str, ...] | np.ndarray:
    init = owner.init
    if isinstance(init, np.ndarray) and init.dtype.kind in "fiu":
        return init
    names = (init,) if isinstance(init, str) or not isinstance(init, Iterable) else tuple(init)
    if names == ("auto",):
        return AUTO_STARTS
    wrong = [name for name in names if not isinstance(name, str) or name not in STARTS]
    if wrong or not names:
        raise ValueError(
            "The 'init' parameter of UnsupervisedKernelRegression must be 'auto', an array, or "
            f"one or several of {', '.join(map(repr, STARTS))}. "
            f"Got {wrong[0] if wrong else init!r} instead."
        )
    return names
