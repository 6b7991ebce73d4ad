"""Small tasks between two spaces, drawn from a seed."""

import numpy as np
from sklearn.utils import check_random_state


def make_multilabel(n_samples=3000, n_features=50, n_labels=20, *, n_hidden=100, random_state=None):
    r"""Nonlinear multi-label task with many distinct label vectors.

    With :math:`x, A, B` standard normal,

    .. math:: y = \mathbb{1}\left[\tanh\left(\frac{x A}{2\sqrt{d}}\right) B > 0\right],

    so that each label is on about half of the time and nearly every sample has
    a label vector of its own: a method that only returns label vectors seen in
    training cannot solve it.

    Parameters
    ----------
    n_samples, n_features, n_labels : int
        Sizes n, d and number of labels.
    n_hidden : int, default=100
        Columns of A.
    random_state : int, RandomState instance or None, default=None
        Seed; the first draws are A and B, so that a seed fixes the task.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_labels)
        Zeros and ones, as floats.
    """
    rng = check_random_state(random_state)
    A = rng.normal(size=(n_features, n_hidden))
    B = rng.normal(size=(n_hidden, n_labels))
    X = rng.normal(size=(n_samples, n_features))
    Y = np.tanh(X @ A / (2 * np.sqrt(n_features))) @ B > 0
    return X, Y.astype(float)


def make_s_shape(n_samples=500, *, noise=0.05, random_state=None):
    r"""Inverse of an S-shaped curve: one input, up to three right answers.

    :math:`r = y + 0.3 \sin(2\pi y) + \varepsilon` with :math:`y` uniform on [0, 1]
    and :math:`\varepsilon` normal with standard deviation ``noise``; ``r`` is given
    and ``y`` is to be predicted. In the middle, several ``y`` share one ``r``.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
        The observed r.
    Y : ndarray of shape (n_samples, 1)
        The y to be predicted.
    """
    rng = check_random_state(random_state)
    Y = rng.uniform(size=(n_samples, 1))
    X = Y + 0.3 * np.sin(2 * np.pi * Y) + noise * rng.normal(size=Y.shape)
    return X, Y


def make_circle_map(n_samples=300, *, noise=0.05, random_state=None):
    r"""Points of a circle seen from the side: each input has two right answers.

    :math:`x = \cos\theta + \varepsilon`, :math:`y = (\cos\theta, \sin\theta)` with
    :math:`\theta` uniform. The conditional mean of y is (x, 0), inside the
    circle; an output kernel keeps predictions near the circle itself.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
    Y : ndarray of shape (n_samples, 2)
        On the unit circle.
    """
    rng = check_random_state(random_state)
    angle = rng.uniform(0, 2 * np.pi, size=n_samples)
    Y = np.column_stack([np.cos(angle), np.sin(angle)])
    X = Y[:, :1] + noise * rng.normal(size=(n_samples, 1))
    return X, Y


_WORDS = ("kernel", "manifold", "isthmus", "gradient", "sequence", "landmark", "robot", "spectrum")
_LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def make_strings(n_samples=200, *, words=_WORDS, noise=0.15, random_state=None):
    """Misspelled words and the words that were meant.

    Each letter of a word drawn at random is, with probability ``noise``,
    replaced by another, dropped or doubled (a third of the cases each). A word
    that lost every letter keeps its first.

    Parameters
    ----------
    n_samples : int, default=200
        Number of pairs.
    words : sequence of str
        The few distinct outputs.
    noise : float, default=0.15
        Probability that a letter is changed.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    noisy : list of str
    clean : list of str

    Examples
    --------
    >>> noisy, clean = make_strings(3, noise=0.0, random_state=0)
    >>> noisy == clean
    True
    """
    rng = check_random_state(random_state)
    clean = [words[i] for i in rng.randint(len(words), size=n_samples)]
    return [_misspell(word, noise, rng) for word in clean], clean


def _misspell(word, noise, rng):
    spoilt = rng.uniform(size=len(word)) < noise
    kinds = rng.randint(3, size=len(word))
    others = _LETTERS[rng.randint(len(_LETTERS), size=len(word))]
    written = [
        letter if not bad else (str(other), "", letter + letter)[kind]
        for letter, bad, kind, other in zip(word, spoilt, kinds, others, strict=True)
    ]
    return "".join(written) or word[:1]
