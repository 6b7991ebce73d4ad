"""Groups of parameters of unsupervised kernel regression."""

from dataclasses import dataclass
from typing import Any, ClassVar

from isthmus._parameters import (
    Constraint,
    boolean,
    choice,
    having,
    instance,
    integer,
    jobs,
    none,
    real,
    several,
)
from isthmus._piece import Piece
from isthmus.manifold.ukr.starts import EMBEDDINGS


@dataclass
class LocalPolynomial(Piece):
    """What is fitted around every latent place.

    Parameters
    ----------
    degree : {"auto", 0, 1, 2}, default="auto"
        As in :class:`UnsupervisedKernelRegression`.
    cross_terms : bool, default=True
        Whether degree 2 has products of coordinates. Without, rotating latent space changes the
        map.
    ridge : float, default=1e-6
        Added to the moments of local polynomials, except that of the constant.
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "degree": choice("auto") | integer(0, 2),
        "cross_terms": boolean,
        "ridge": real(0),
    }

    degree: Any = "auto"
    cross_terms: bool = True
    ridge: float = 1e-6


@dataclass
class Starts(Piece):
    """Embeddings from which training begins.

    Parameters
    ----------
    names : "auto", str or sequence of str, default="auto"
        Embeddings that are tried: "pca", "isomap", "lle", "laplacian", "neighbors". "auto" tries
        "pca", "neighbors" and "isomap".
    n_neighborhoods : int, default=2
        Number of neighbourhood sizes tried with each spectral embedding, from the smallest that
        connects the data.
    n_init : int, default=1
        How many of the best embeddings are trained; the lowest objective wins.
    n_jobs : int or None, default=None
        Number of threads for them.
    memory : None, str or object with the joblib.Memory interface, default=None
        Folder in which embeddings are kept, so that further fits to the same rows with the same
        ``random_state`` find them there. None keeps nothing.
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "names": choice("auto", *EMBEDDINGS) | several(choice(*EMBEDDINGS)),
        "n_neighborhoods": integer(1),
        "n_init": integer(1),
        "n_jobs": jobs,
        "memory": none | instance(str) | having("cache", text="an object with a method 'cache'"),
    }

    names: Any = "auto"
    n_neighborhoods: int = 2
    n_init: int = 1
    n_jobs: int | None = None
    memory: Any = None


@dataclass
class Landmarks(Piece):
    """The centres of the map, and what they reconstruct.

    Parameters
    ----------
    n : int or None, default=None
        Number of centres, means of the rows; None takes the rows themselves.
    method : {"kmeans", "harmonic", "gas"}, default="kmeans"
        Whether the means are k-means, K-harmonic means or a neural gas. K-harmonic means find
        clouds that lie far apart from any start, but in more than some ten columns many of them
        meet in one place, and a warning says so. A neural gas hardly depends on the start either,
        in any number of columns.
    smoothness : float or None, default=None
        Adapt the outputs of the centres to the rows after training, with this weight on the
        roughness of the map; None leaves them as they are. Needs a density kernel with second
        derivatives.
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n": integer(2) | none,
        "method": choice("kmeans", "harmonic", "gas"),
        "smoothness": real(0) | none,
    }

    n: int | None = None
    method: str = "kmeans"
    smoothness: float | None = None


@dataclass
class Descent(Piece):
    """How the objective is minimised.

    Parameters
    ----------
    method : {"lbfgs", "rprop"}, default="lbfgs"
        "rprop" is the published solver.
    held_out : float, default=0.0
        Share of the rows that is kept from training to say when to stop; they join the manifold
        at their projections.
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "method": choice("lbfgs", "rprop"),
        "held_out": real(0, 0.5),
    }

    method: str = "lbfgs"
    held_out: float = 0.0


@dataclass
class FeatureSpace(Piece):
    """The space in which a manifold of any objects is learned.

    Parameters
    ----------
    kernel : kernel or str
        What compares the objects; "l1" has as squared distance the sum of absolute differences.
    preimage : pre-image or None, default=None
        How objects are found for points of the space; None takes a good one for the kernel.
    """

    __module__ = "isthmus.manifold"

    kernel: Any
    preimage: Any = None
