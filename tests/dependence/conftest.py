import numpy as np
import pytest
from scipy.spatial.distance import cdist


class Oracles:
    """The formulas as they stand in books: double centring of whole matrices."""

    @staticmethod
    def distances(X, exponent=1.0):
        X = np.asarray(X, dtype=float).reshape(len(X), -1)
        return cdist(X, X) ** exponent

    @staticmethod
    def v_centered(K):
        H = np.eye(len(K)) - 1 / len(K)
        return H @ K @ H

    @staticmethod
    def u_centered(K):
        n = len(K)
        K = K - np.diag(np.diag(K))
        rows = K.sum(axis=1)
        U = K - rows[:, None] / (n - 2) - rows / (n - 2) + rows.sum() / ((n - 1) * (n - 2))
        np.fill_diagonal(U, 0)
        return U

    def v_product(self, K, L):
        """Mean product of the doubly centred matrices."""
        return (self.v_centered(K) * self.v_centered(L)).sum() / len(K) ** 2

    def u_product(self, K, L):
        n = len(K)
        return (self.u_centered(K) * self.u_centered(L)).sum() / (n * (n - 3))

    @staticmethod
    def correlation(product, K, L):
        return product(K, L) / np.sqrt(product(K, K) * product(L, L))


@pytest.fixture(scope="session")
def oracles():
    return Oracles()


@pytest.fixture
def pair(rng):
    """Three hundred paired points, more than one tile, far from the origin and tied."""
    X = rng.normal(size=(300, 4)) + 50
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * rng.normal(size=300)])
    X.flags.writeable = Y.flags.writeable = False
    return X, Y
