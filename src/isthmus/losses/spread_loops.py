"""Medians by counting: how many numbers lie below a guess is told in one pass of vectors."""

import numpy as np

from isthmus._compiled import njit

# Numbers evenly taken from a column, between which the search begins; passes before it gives up;
# numbers between two guesses that are then gone through one by one.
SAMPLE, PASSES, FEW = 33, 60, 4


@njit(nogil=True, fastmath={"nnan", "reassoc"})
def select_middles(columns, lower, upper):
    """Write the numbers at the places (n - 1) // 2 and n // 2 of each row of ``columns``, sorted.

    There are at least ``SAMPLE`` in a row, none is NaN. Returns which rows were found: where
    numbers are spread over many orders of magnitude, a search by interpolation may take too long.
    """
    n = columns.shape[1]
    half = n // 2
    found = np.zeros(len(columns), dtype=np.bool_)
    some = np.empty(SAMPLE)
    for j in range(len(columns)):
        x = columns[j]
        value, found[j] = _at_place(x, half, some)
        upper[j] = lower[j] = value
        # Of an odd number both places are one; else they differ unless equal numbers hold both.
        if n % 2 == 0 and found[j] and _count_below(x, value) == half:
            lower[j] = _largest_below(x, value)
    return found


@njit(nogil=True, fastmath={"nnan", "reassoc"})
def _at_place(x, place, some):
    """The number at a place of the sorted ``x``, and whether it was found.

    It is kept between ``low``, below which there are at most ``place`` numbers, and ``high``.
    """
    low, high, below, above = _first_guesses(x, place, some)
    for step in range(PASSES):
        if above - below <= FEW or (
            step % 8 == 7 and _count_up_to(x, _smallest_from(x, low)) > place
        ):
            break  # the second where many numbers are equal
        share = (place + 0.5 - below) / (above - below)
        if step % 3 == 2:
            share = 0.5  # so that the numbers between shrink also where they are uneven
        guess = low + share * (high - low)
        if not low < guess < high:
            break
        count = _count_below(x, guess)
        if count <= place:
            low, below = guess, count
        else:
            high, above = guess, count
    value = _smallest_from(x, low)
    for _ in range(FEW + 1):
        if _count_up_to(x, value) > place:
            return value, True
        value = _smallest_above(x, value)
    return value, False


@njit(nogil=True, fastmath={"nnan", "reassoc"})
def _first_guesses(x, place, some):
    n = len(x)
    for i in range(SAMPLE):  # sorted as they come
        number, k = x[i * n // SAMPLE], i
        while k > 0 and some[k - 1] > number:
            some[k] = some[k - 1]
            k -= 1
        some[k] = number
    low, below, high, above = -np.inf, 0, np.inf, n
    middle = place * SAMPLE // n
    for distance in (2, 6, SAMPLE):
        if below == 0 and low == -np.inf:
            guess = some[max(0, middle - distance)]
            count = _count_below(x, guess)
            if count <= place:
                low, below = guess, count
            elif guess < high:
                high, above = guess, count
        if high == np.inf:
            guess = some[min(SAMPLE - 1, middle + distance)]
            count = _count_below(x, guess)
            if count > place:
                high, above = guess, count
            elif guess > low:
                low, below = guess, count
    if low == -np.inf:
        low = _smallest_from(x, low)
    if high == np.inf:  # the largest number may be the one
        high = x[0]
        for i in range(n):
            high = max(high, x[i])
        if _count_below(x, high) <= place:
            low, below, above = high, place, place + 1
    return low, high, below, above


@njit(nogil=True, fastmath={"nnan", "reassoc"})
def _count_below(x, limit):
    count = 0
    for i in range(len(x)):
        count += x[i] < limit
    return count


@njit(nogil=True, fastmath={"nnan", "reassoc"})
def _count_up_to(x, limit):
    count = 0
    for i in range(len(x)):
        count += x[i] <= limit
    return count


@njit(nogil=True, fastmath={"nnan", "reassoc"})
def _smallest_from(x, limit):
    found = np.inf
    for i in range(len(x)):
        found = min(found, x[i] if x[i] >= limit else np.inf)
    return found


@njit(nogil=True, fastmath={"nnan", "reassoc"})
def _smallest_above(x, limit):
    found = np.inf
    for i in range(len(x)):
        found = min(found, x[i] if x[i] > limit else np.inf)
    return found


@njit(nogil=True, fastmath={"nnan", "reassoc"})
def _largest_below(x, limit):
    found = -np.inf
    for i in range(len(x)):
        found = max(found, x[i] if x[i] < limit else -np.inf)
    return found
