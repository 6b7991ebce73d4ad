"""What the parameters of unsupervised kernel regression may be."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from isthmus._parameters import (
    Constraint,
    choice,
    condition,
    instance,
    integer,
    none,
    real,
    resolved_by,
    seed,
    several,
    verbosity,
)
from isthmus._piece import Piece
from isthmus.manifold.ukr.checks import kernel_of
from isthmus.manifold.ukr.pieces import Descent, Landmarks, LocalPolynomial, Starts
from isthmus.manifold.ukr.settings import as_residual_loss
from isthmus.manifold.ukr.starts import EMBEDDINGS
from isthmus.smoothers.density_kernels import DensityKernel


def _word_or_piece(value: Any) -> bool:
    # What is wrong with a name or with a piece is said by what reads it.
    return isinstance(value, (str, Piece, DensityKernel))


def _may_be_loss(value: Any) -> bool:
    found = resolved_by(as_residual_loss, "")
    return isinstance(value, (str, Piece)) or found.accepts(value)


STARTS = choice("auto", *EMBEDDINGS) | several(choice(*EMBEDDINGS))
PLACES = condition(
    "an array of shape (n_samples, n_components)",
    lambda value: isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "fiu",
)

CONSTRAINTS: dict[str, Constraint] = {
    "n_components": integer(1),
    "density_kernel": condition("a DensityKernel or its name", _word_or_piece),
    "degree": choice("auto") | integer(0, 2) | instance(LocalPolynomial),
    "loss": condition("a loss of residuals or its name", _may_be_loss),
    "validation": choice("auto", "loo") | integer(1) | none,
    "penalty": instance(Mapping) | none,
    "n_landmarks": integer(2) | instance(Landmarks) | none,
    "data_kernel": resolved_by(kernel_of, "a kernel, its name, 'l1', a FeatureSpace") | none,
    "init": STARTS | instance(Starts) | PLACES,
    "homotopy": choice("auto") | several(instance(Mapping)) | none,
    "solver": choice("lbfgs", "rprop") | instance(Descent),
    "max_iter": integer(0),
    "tol": real(0),
    "random_state": seed,
    "verbose": verbosity,
}
