"""The compiled pass of a pursuit of many functions over what is left of them."""

from isthmus._compiled import njit


# Sums may be taken in any order, so that lanes of a register have a sum each.
@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def take_off(residual, row, component, squares):
    """Subtract the outer product of a row and a component; the squared lengths that are left.

    Everything that is left is read and written once: with products and sums apart it would pass
    through memory five times.
    """
    n, p = residual.shape
    for i in range(n):
        share, total = row[i], 0.0
        for j in range(p):
            left = residual[i, j] - share * component[j]
            residual[i, j] = left
            total += left * left
        squares[i] = total
