"""The parameters of unsupervised kernel regression, checked, with the combinations refused."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from isthmus._checks import (
    check_bool,
    check_choice,
    check_float,
    check_int,
    check_jobs,
    check_piece,
    refusal,
)
from isthmus.losses.base import ResidualLoss
from isthmus.losses.resolve import as_loss
from isthmus.losses.robust import Huber
from isthmus.losses.tubes import Epsilon
from isthmus.manifold.ukr.descent import METHODS
from isthmus.manifold.ukr.objective import PENALTIES
from isthmus.manifold.ukr.pieces import Descent, Landmarks, LocalPolynomial, Starts
from isthmus.manifold.ukr.starts import EMBEDDINGS
from isthmus.smoothers.density_kernels import density_kernel
from isthmus.smoothers.local_polynomial import LocalSmoother

MOST_CURVED = 3  # a full quadratic in more latent dimensions has more terms than a row neighbours
MEANS = ("kmeans", "harmonic", "gas")
AUTO_STARTS = ("pca", "neighbors", "isomap")
# What a stage of a homotopy may say beside penalties.
RULES = ("box", "floor", "max_iter")
# Short names that mean other losses here than in regression, where rows have no lengths.
LOSS_NAMES = {
    "huber_norm": Huber(shape="ball"),
    "epsilon": Epsilon(power=2, shape="ball"),
}


@dataclass(frozen=True)
class Settings:
    """Checked parameters; weights are still in units of the error of the data's mean."""

    q: int
    smoother: LocalSmoother
    degrees: tuple[int, ...]
    loss: ResidualLoss
    n_excluded: int | None
    penalties: dict[str, float]
    landmarks: Landmarks
    starts: Starts
    places: np.ndarray | None
    homotopy: tuple[dict[str, float], ...] | None
    descent: Descent
    max_iter: int
    tol: float

    def at_rows(self, kept: Any) -> "Settings":
        """The settings for some of the rows: given places are theirs."""
        if self.places is None:
            return self
        return replace(self, places=np.asarray(self.places[kept], dtype=float))


def check_settings(owner: Any) -> Settings:
    """Read the parameters of ``owner``, or say which of them is wrong and why."""
    q = check_int(owner.n_components, "n_components", owner, low=1)
    kernel = check_piece(owner.density_kernel, "density_kernel", owner, density_kernel)
    landmarks = _check_landmarks(owner, q)
    polynomial = _check_polynomial(owner)
    loss = _check_loss(owner)
    if landmarks.smoothness is not None:
        if polynomial.degree in (1, 2):
            raise _clash(
                f"Landmarks(smoothness=...) with degree={polynomial.degree}",
                "a local polynomial removes the bias that adapted outputs are there for",
            )
        if kernel.n_derivatives < 2:
            raise _clash(
                f"Landmarks(smoothness=...) with density_kernel={kernel.name!r}",
                "roughness is measured by second derivatives, which this kernel does not have; "
                "take 'triweight' or 'gaussian'",
            )
    plain = landmarks.smoothness is None and owner.data_kernel is None
    degrees = _degrees(polynomial.degree, curved=plain and q <= MOST_CURVED)
    starts, places = _check_starts(owner)
    return Settings(
        q=q,
        smoother=LocalSmoother(kernel, degrees[0], polynomial.cross_terms, polynomial.ridge),
        degrees=degrees,
        loss=loss,
        n_excluded=_n_excluded(owner, landmarks, loss),
        penalties=_check_weights(owner, "penalty", owner.penalty, PENALTIES),
        landmarks=landmarks,
        starts=starts,
        places=places,
        homotopy=_check_homotopy(owner),
        descent=_check_descent(owner),
        max_iter=check_int(owner.max_iter, "max_iter", owner, low=0),
        tol=check_float(owner.tol, "tol", owner, low=0.0),
    )


def _clash(what: str, why: str) -> ValueError:
    return ValueError(f"UnsupervisedKernelRegression refuses {what}: {why}.")


def _check_polynomial(owner: Any) -> LocalPolynomial:
    given = owner.degree
    whose = given if isinstance(given, LocalPolynomial) else owner
    piece = given if isinstance(given, LocalPolynomial) else LocalPolynomial(given)
    check_choice(piece.degree, "degree", whose, ("auto", 0, 1, 2))
    return LocalPolynomial(
        piece.degree,
        check_bool(piece.cross_terms, "cross_terms", whose),
        check_float(piece.ridge, "ridge", whose, low=0.0),
    )


def _degrees(degree: Any, *, curved: bool) -> tuple[int, ...]:
    """Degrees to choose from, by the error at the start."""
    if degree != "auto":
        return (int(degree),)
    return (0, 2) if curved else (0,)


def _check_loss(owner: Any) -> ResidualLoss:
    loss = check_piece(owner.loss, "loss", owner, as_residual_loss)
    if owner.data_kernel is not None and (not loss.rotation_invariant or isinstance(loss, Epsilon)):
        raise _clash(
            f"data_kernel with loss={owner.loss!r}",
            "a residual in feature space has a length but no components; only 'squared', "
            "'huber_norm' and other losses of the shape 'ball' without a tube have a meaning there",
        )
    return loss


def as_residual_loss(given: Any) -> ResidualLoss:
    name = given if isinstance(given, str) else ""
    loss = LOSS_NAMES[name] if name in LOSS_NAMES else as_loss(given)
    if not isinstance(loss, ResidualLoss):
        raise ValueError(
            "A manifold needs a loss of residuals, which depends on the difference of a row and "
            f"its reconstruction alone. Got {given!r:.80} instead."
        )
    loss.resolve(1.0)  # refuses parameters that make no sense
    return loss


def _n_excluded(owner: Any, landmarks: Landmarks, loss: ResidualLoss) -> int | None:
    """How many rows, a row itself among them, may not help to reconstruct it; None: see degree."""
    validation = owner.validation
    if landmarks.n is not None:
        if validation not in ("auto", None):
            raise _clash(
                f"n_landmarks with validation={validation!r}",
                "landmarks are means of many rows, so leaving a row out changes nothing; use a "
                "penalty instead",
            )
        if isinstance(loss, Epsilon):
            raise _clash(
                f"n_landmarks with loss={owner.loss!r}",
                "tubes are set by the residuals of a cross-validated fit of all rows",
            )
        return 0
    if validation is None:
        return 0
    if isinstance(validation, str) and validation in ("auto", "loo"):
        return 1 if validation == "loo" else None
    if isinstance(validation, Integral) and not isinstance(validation, bool):
        return check_int(validation, "validation", owner, low=1)
    expected = "'auto', 'loo', an int (leave this many neighbours out) or None"
    raise ValueError(refusal(owner, "validation", expected, validation))


def _check_landmarks(owner: Any, q: int) -> Landmarks:
    given = owner.n_landmarks
    if not isinstance(given, Landmarks):
        n = None if given is None else check_int(given, "n_landmarks", owner, low=q + 1)
        return Landmarks(n)
    n = None if given.n is None else check_int(given.n, "n", given, low=q + 1)
    check_choice(given.method, "method", given, MEANS)
    if given.smoothness is not None:
        check_float(given.smoothness, "smoothness", given, low=0.0)
    return Landmarks(n, given.method, given.smoothness)


def _check_descent(owner: Any) -> Descent:
    given = owner.solver
    if isinstance(given, Descent):
        check_choice(given.method, "method", given, tuple(METHODS))
        check_float(given.held_out, "held_out", given, low=0.0, high=0.5)
        return given
    return Descent(check_choice(given, "solver", owner, tuple(METHODS)))


def _check_weights(owner: Any, name: str, given: Any, known: tuple[str, ...]) -> dict[str, float]:
    expected = f"None or a mapping from some of {', '.join(map(repr, known))} to weights"
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(refusal(owner, name, expected, given))
    for key in given:
        if key not in known:
            raise ValueError(
                f"The {name!r} parameter of {type(owner).__name__} must be {expected}. "
                f"Got the key {key!r} instead."
            )
    return {key: check_float(value, name, owner, low=0.0) for key, value in given.items()}


def _check_homotopy(owner: Any) -> tuple[dict[str, float], ...] | None:
    given = owner.homotopy
    if isinstance(given, str) and given == "auto":
        return None
    if given is None:
        return ()
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        expected = "'auto', None or a sequence of stages, each a mapping"
        raise TypeError(refusal(owner, "homotopy", expected, given))
    stages = tuple(_check_weights(owner, "homotopy", s, (*PENALTIES, *RULES)) for s in given)
    for stage in stages:
        if stage.get("floor", 0.0) >= 1.0:
            raise ValueError(
                "A 'floor' in the 'homotopy' parameter of UnsupervisedKernelRegression must be "
                "below 1, the density where all places are one. "
                f"Got {stage['floor']!r} instead."
            )
    return stages


def _check_starts(owner: Any) -> tuple[Starts, np.ndarray | None]:
    """Which embeddings are tried, and the places where they are given instead."""
    given = owner.init
    if isinstance(given, np.ndarray) and given.dtype.kind in "fiu":
        return Starts(), given
    piece = given if isinstance(given, Starts) else Starts(given)
    check_int(piece.n_neighborhoods, "n_neighborhoods", piece, low=1)
    check_int(piece.n_init, "n_init", piece, low=1)
    check_jobs(piece.n_jobs, "n_jobs", piece)
    names = piece.names
    single = isinstance(names, str) or not isinstance(names, Iterable)
    names = (names,) if single else tuple(names)
    if names == ("auto",):
        names = AUTO_STARTS
    wrong = [name for name in names if not isinstance(name, str) or name not in EMBEDDINGS]
    if wrong or not names:
        raise ValueError(
            "The 'init' parameter of UnsupervisedKernelRegression must be 'auto', an array, "
            f"Starts, or one or several of {', '.join(map(repr, EMBEDDINGS))}. "
            f"Got {wrong[0] if wrong else given!r} instead."
        )
    return replace(piece, names=names), None
