"""Sums of minima, which are no matrix product: a compiled loop."""

from isthmus._compiled import njit


@njit(nogil=True)
def intersections(X, Z_columns, K):
    """Fill ``K`` with the intersections of rows of ``X`` and columns of ``Z_columns``."""
    for i in range(X.shape[0]):
        row = K[i]
        row[:] = 0
        for c in range(X.shape[1]):
            x, z = X[i, c], Z_columns[c]
            # Neighbouring sums are independent, so this loop is vectorised.
            for j in range(row.shape[0]):
                row[j] += x if x < z[j] else z[j]
