"""Pictures of a person as histograms: shape-context words, and positions of skin."""

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, boolean, integer, none, numbers, real, seed, verbosity
from isthmus._progress import ProgressLine
from isthmus.blocks.sampling import sample_rows
from isthmus.robotics.pose.codebook import vector_codebook
from isthmus.robotics.pose.edges import difference, edge_map, fit_wall, smooth_image
from isthmus.robotics.pose.pictures import channels, check_images, unit_values
from isthmus.robotics.pose.shape_context import outline, shape_contexts
from isthmus.robotics.pose.skin import SkinColour, count_by_bins, skin_colour, skin_mask
from isthmus.typing import Array, BoolArray


class PoseView(NamedTuple):
    """What :class:`PoseFeatures` sees in one picture."""

    edges: BoolArray  # (size, size)
    outline: Array  # (r, 2), x and y of the chosen edgels
    contexts: Array  # (r, n_radii * n_angles), their histograms
    skin: BoolArray  # (size, size)
    columns: Array  # (n_color_bins,) skin pixels from left to right in the figure's box
    rows: Array  # and from top to bottom


PICTURE = numbers(2, 3)


class PoseFeatures(TransformerMixin, Estimator):
    r"""Histograms that describe the pose of a person in a picture, independent of position.

    A picture is resized to ``size`` x ``size`` pixels and smoothed, and its background is removed;
    evenly spread Sobel edge points near the convex hull of the figure form an outline. Each of its
    points counts the others by distance and direction (shape contexts [Belongie2002]_), and every
    such histogram is replaced by the nearest word of a codebook. Skin is detected by a Gaussian in
    colour space, and its pixels are counted by column and by row in the bounding box of the figure.
    The row of a picture holds the three histograms side by side: words, columns, rows.

    Shifting or scaling the figure leaves the row unchanged up to pixel effects; rotating the
    picture does not.

    Parameters
    ----------
    n_codewords : int, default=80
        Number of words in the codebook.
    background : array-like of shape (rows, columns, 3) or None, default=None
        A picture of the empty scene. None assumes that the background of every picture is a plain
        wall whose colour changes linearly, and fits it to the picture's border.
    skin_pixels : array-like of shape (n, 3) or None, default=None
        Colours of skin, picked by hand. None omits the colour histograms.
    size : int, default=100
        Side length of the resized pictures, in pixels.
    n_edgels : int, default=25
        Number of points of an outline.
    hull_distance : float, default=3.0
        Maximum distance of these points from the convex hull, in pixels; ``size`` takes all edges.
    n_angles, n_radii : int, default=6 and 5
        Numbers of angular and radial bins of a shape context.
    n_color_bins : int, default=10
        Number of bins of a colour histogram.
    skin_distance : float, default=3.0
        Mahalanobis distance up to which a colour counts as skin.
    min_contrast : float, default=0.05
        Minimum height of an edge, where black to white is 1, so that an empty scene has none.
    normalize : bool, default=True
        Scale each of the three histograms to sum to one, so that the size of the figure and the
        number of skin pixels do not matter. False keeps counts, as published.
    max_contexts : int, default=2000
        Maximum number of shape contexts, drawn at random, from which the codebook is made.
    random_state : int, RandomState instance or None, default=0
    verbose : int, default=0
        1 shows a progress line on a terminal.

    Attributes
    ----------
    codebook_ : ndarray of shape (n_words, n_radii * n_angles)
    radius_ : float
        Every context used for the codebook has a word within this city-block distance.
    n_contexts_ : int
        Number of contexts in all pictures.
    skin_ : mean and whitening of skin colours, or None
    blocks_ : dict of slices
        Columns of the three histograms: ``"words"``, ``"columns"``, ``"rows"``.

    Examples
    --------
    >>> from isthmus.datasets import make_imitation_scenes
    >>> from isthmus.robotics import PoseFeatures
    >>> scenes = make_imitation_scenes(12, random_state=0)
    >>> features = PoseFeatures(20, skin_pixels=scenes.skin_pixels)
    >>> features.fit_transform(scenes.images).shape
    (12, 40)
    """

    __module__ = "isthmus.robotics"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_codewords": integer(1),
        "background": PICTURE | none,
        "skin_pixels": PICTURE | none,
        "size": integer(16),
        "n_edgels": integer(4),
        "hull_distance": real(0, include_low=False),
        "n_angles": integer(1),
        "n_radii": integer(1),
        "n_color_bins": integer(1),
        "skin_distance": real(0, include_low=False),
        "min_contrast": real(0, 1),
        "normalize": boolean,
        "max_contexts": integer(1),
        "random_state": seed,
        "verbose": verbosity,
    }

    def __init__(
        self,
        n_codewords: int = 80,
        *,
        background: Any = None,
        skin_pixels: Any = None,
        size: int = 100,
        n_edgels: int = 25,
        hull_distance: float = 3.0,
        n_angles: int = 6,
        n_radii: int = 5,
        n_color_bins: int = 10,
        skin_distance: float = 3.0,
        min_contrast: float = 0.05,
        normalize: bool = True,
        max_contexts: int = 2000,
        random_state: Any = 0,
        verbose: int = 0,
    ):
        self.n_codewords = n_codewords
        self.background = background
        self.skin_pixels = skin_pixels
        self.size = size
        self.n_edgels = n_edgels
        self.hull_distance = hull_distance
        self.n_angles = n_angles
        self.n_radii = n_radii
        self.n_color_bins = n_color_bins
        self.skin_distance = skin_distance
        self.min_contrast = min_contrast
        self.normalize = normalize
        self.max_contexts = max_contexts
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the codebook from the pictures ``X``; return self."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and return the rows of the pictures, (n, n_words + 2 n_color_bins)."""
        return self._rows(self._fit(X))

    def _fit(self, X: Any) -> list[PoseView]:
        images = check_images(self, X)
        background, skin = self._background(), self._skin()
        views = self._views(images, background, skin)
        contexts = np.concatenate([view.contexts for view in views])
        if not len(contexts):
            raise ValueError(
                "PoseFeatures found no figure in any of the pictures: no edges are higher than "
                f"min_contrast={self.min_contrast!r}. Check the background, or lower min_contrast."
            )
        rng = check_random_state(self.random_state)
        few = contexts[sample_rows(len(contexts), self.max_contexts, rng, sort=False)]
        self.codebook_, self.radius_ = vector_codebook(few, self.n_codewords)
        self.n_contexts_, self.skin_, self._scene = len(contexts), skin, background
        n_words, k = len(self.codebook_), 0 if skin is None else self.n_color_bins
        self.blocks_ = {
            "words": slice(0, n_words),
            "columns": slice(n_words, n_words + k),
            "rows": slice(n_words + k, n_words + 2 * k),
        }
        return views

    def transform(self, X: Any) -> Array:
        """Return the histograms of the pictures ``X``, shape (n, n_words + 2 n_color_bins)."""
        check_is_fitted(self)
        return self._rows(self._views(check_images(self, X), self._scene, self.skin_))

    def view(self, image: Any) -> PoseView:
        """What is seen in one picture: edges, outline, contexts, skin."""
        check_is_fitted(self)
        return self._view(check_images(self, [image])[0], self._scene, self.skin_)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns: word0, …, column0, …, row0, …"""
        check_is_fitted(self)
        counts = {name: block.stop - block.start for name, block in self.blocks_.items()}
        names = [f"{name[:-1]}{i}" for name, n in counts.items() for i in range(n)]
        return np.array(names, dtype=object)

    def _views(
        self, images: list[Array], background: Array | None, skin: SkinColour | None
    ) -> list[PoseView]:
        views = []
        with ProgressLine("PoseFeatures", verbose=self.verbose) as progress:
            for i, image in enumerate(images):
                views.append(self._view(image, background, skin))
                progress.update(picture=f"{i + 1} of {len(images)}")
        return views

    def _view(self, image: Array, background: Array | None, skin: SkinColour | None) -> PoseView:
        picture = smooth_image(channels(image, self.size))
        wall = fit_wall(picture) if background is None else background
        edges = edge_map(difference(picture, wall), self.min_contrast)
        points = outline(edges, self.n_edgels, self.hull_distance)
        contexts = shape_contexts(points, self.n_angles, self.n_radii)
        mask = np.zeros(edges.shape, dtype=bool)
        columns: Array = np.zeros(0 if skin is None else self.n_color_bins)
        rows = columns
        if skin is not None and len(points):
            mask = skin_mask(picture, skin, self.skin_distance)
            columns, rows = count_by_bins(mask, _box(edges), self.n_color_bins)
        return PoseView(edges, points, contexts, mask, columns, rows)

    def _rows(self, views: list[PoseView]) -> Array:
        table = np.zeros((len(views), self.blocks_["rows"].stop))
        for row, view in zip(table, views, strict=True):
            if len(view.contexts):
                words = cdist(view.contexts, self.codebook_, "cityblock").argmin(axis=1)
                row[self.blocks_["words"]] = np.bincount(words, minlength=len(self.codebook_))
            row[self.blocks_["columns"]], row[self.blocks_["rows"]] = view.columns, view.rows
        if self.normalize:
            for block in self.blocks_.values():
                mass = table[:, block].sum(axis=1, keepdims=True)
                table[:, block] /= np.where(mass > 0, mass, 1.0)
        return table

    def _background(self) -> Array | None:
        if self.background is None:
            return None
        image = check_images(self, [self.background], what="background")[0]
        return smooth_image(channels(image, self.size))

    def _skin(self) -> SkinColour | None:
        if self.skin_pixels is None:
            return None
        pixels = np.asarray(self.skin_pixels)
        if pixels.ndim != 2 or pixels.shape[1] != 3 or len(pixels) < 4:
            raise ValueError(
                "The 'skin_pixels' parameter of PoseFeatures must be an array of shape (n, 3) "
                f"with n of at least 4. Got shape {pixels.shape} instead."
            )
        return skin_colour(unit_values(self, pixels, "skin_pixels"))


def _box(edges: BoolArray) -> tuple[slice, slice]:
    rows, columns = (np.flatnonzero(edges.any(axis=axis)) for axis in (1, 0))
    return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
