"""Compiled coordinate descent on the Gram matrix, for codes under an L1 penalty."""

import numpy as np

from isthmus._compiled import njit

# Sweeps over the non-zeros between two sweeps over all atoms.
INNER = 10


@njit(nogil=True, fastmath={"contract"})
def _sweep(G, c, products, alpha, positive, all_atoms):
    """Minimise over one coefficient after another; return the largest change of a product."""
    largest = 0.0
    for j in range(c.shape[0]):
        size = G[j, j]
        if size <= 0.0 or (c[j] == 0.0 and not all_atoms):
            continue
        # <d_j, residual> without atom j, softened by alpha
        z = products[j] + size * c[j]
        new = max(abs(z) - alpha, 0.0) / size
        if z < 0.0:
            new = 0.0 if positive else -new
        change = new - c[j]
        if change != 0.0:
            c[j] = new
            row = G[j]
            for i in range(c.shape[0]):
                products[i] -= change * row[i]
            largest = max(largest, abs(change) * size)
    return largest


@njit(nogil=True)
def _gap(b, c, products, squares, alpha, positive):
    """Duality gap, from products of atoms with the signal and with the residual."""
    steepest, moduli, fitted, left = 0.0, 0.0, 0.0, 0.0
    for j in range(c.shape[0]):
        steepest = max(steepest, products[j] if positive else abs(products[j]))
        moduli += abs(c[j])
        fitted += b[j] * c[j]
        left += products[j] * c[j]
    scale = min(1.0, alpha / max(steepest, 1e-300))
    residual = squares - fitted - left
    return 0.5 * (1.0 + scale * scale) * residual + alpha * moduli - scale * (squares - fitted)


@njit(nogil=True)
def descend_block(G, B, squares, alpha, tol, max_iter, positive, codes, n_sweeps, finished):
    """Change ``codes`` until each duality gap is below ``tol`` of half the squared signal."""
    products = np.zeros(G.shape[0])
    for i in range(B.shape[0]):
        c = codes[i]
        for j in range(products.shape[0]):
            products[j] = B[i, j]
        for j in range(c.shape[0]):
            if c[j] != 0.0:
                for k in range(products.shape[0]):
                    products[k] -= c[j] * G[j, k]
        while n_sweeps[i] < max_iter:
            change = _sweep(G, c, products, alpha, positive, True)
            n_sweeps[i] += 1
            if _gap(B[i], c, products, squares[i], alpha, positive) <= 0.5 * tol * squares[i]:
                finished[i] = True
                break
            for _ in range(INNER):
                n_sweeps[i] += 1
                if _sweep(G, c, products, alpha, positive, False) < 0.1 * change:
                    break
