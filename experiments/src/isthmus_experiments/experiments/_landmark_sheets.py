"""Manifolds of landmarks trained as published: all places at once, step by step."""

import numpy as np
from sklearn.decomposition import PCA

from isthmus.manifold import KHarmonicMeans
from isthmus.manifold.ukr.descent import rprop
from isthmus.manifold.ukr.map import latent_map
from isthmus.manifold.ukr.objective import ManifoldObjective
from isthmus.manifold.ukr.roughness import smooth_outputs
from isthmus.smoothers.density_kernels import density_kernel
from isthmus.smoothers.local_polynomial import LocalSmoother

SPREAD = 0.1  # standard deviation of the first coordinates: every kernel reaches every row


class LandmarkSheet:
    """A sheet through rows ``Y`` by the means of ``n`` landmarks.

    Rows and landmarks begin at their common principal components, as published; the estimator
    embeds the landmarks first and then projects the rows.
    """

    def __init__(self, Y, n, kernel, *, seed=0):
        self.mean = Y.mean(axis=0)
        self.Y = Y - self.mean
        self.kernel = density_kernel(kernel)
        self.outputs = KHarmonicMeans(n, random_state=seed).fit(self.Y).cluster_centers_
        Z = PCA(2, random_state=0).fit(self.Y).transform(np.vstack([self.Y, self.outputs]))
        self.places = SPREAD * Z / Z[: len(Y)].std(axis=0)

    def descend(self, weight, steps):
        """Steps of RPROP under ``weight`` times the mean square of the rows' coordinates."""
        objective = ManifoldObjective(
            self.Y,
            LocalSmoother(self.kernel),
            outputs=self.outputs,
            penalties={"extension": weight / self.places.shape[1]},
        )
        self.places = rprop(objective, self.places, max_iter=steps, tol=0.0).X

    def rows(self, smoothness=None, *, over_rows=False):
        """Reconstructions of the rows, after the landmarks are adapted, if asked.

        Roughness is the sum over the landmarks or, with ``over_rows``, the mean over the rows.
        """
        return self._at(self.places[: len(self.Y)], smoothness, over_rows).f + self.mean

    def grid(self, n=24, smoothness=None):
        """The sheet over a grid of latent space; what no row is near to is missing."""
        X = self.places[: len(self.Y)]
        sides = [np.linspace(a, b, n) for a, b in zip(X.min(axis=0), X.max(axis=0), strict=True)]
        Z = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
        found, known = self._at(Z, smoothness), self._at(X, smoothness)
        points = found.f + self.mean
        points[found.density < known.density.min()] = np.nan
        return points.reshape(n, n, -1)

    def _at(self, Z, smoothness, over_rows=False):
        N = len(self.Y)
        X, centres = self.places[:N], self.places[N:]
        outputs = self.outputs
        if smoothness is not None:
            weight, places = (smoothness, X) if over_rows else (smoothness * len(centres), centres)
            outputs = smooth_outputs(X, centres, self.Y, self.kernel, weight, places)
        return latent_map(Z, centres, outputs, LocalSmoother(self.kernel))
