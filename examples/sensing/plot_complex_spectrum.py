"""
A spectrum from few samples
===========================

A signal of five tones is sampled at 40 of 128 moments. Its spectrum is complex and sparse: the
spectrum of least l1 norm that agrees with the samples is the true one, while the plain transform of
the samples is full of ghosts. Weights express what is known beforehand: with fewer samples, entries
that are likely to be non-zero get small weights.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus.plotting import style
from isthmus.sensing import basis_pursuit

n = 128
rng = np.random.default_rng(0)
tones = rng.choice(n, 5, replace=False)
spectrum = np.zeros(n, dtype=complex)
spectrum[tones] = rng.uniform(0.5, 1.5, 5) * np.exp(2j * np.pi * rng.uniform(size=5))
waves = np.exp(2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n) / np.sqrt(n)


def measure(m):
    """Moments, and the waves at them."""
    A = waves[np.sort(np.random.default_rng(1).choice(n, m, replace=False))]
    return A, A @ spectrum


A, b = measure(40)
found = basis_pursuit(A, b)
few, c = measure(12)
prices = np.ones(n)
prices[tones] = 0.2  # where tones are expected
blind, told = basis_pursuit(few, c), basis_pursuit(few, c, weights=prices)

for name, guess in (("40 samples", found), ("12, blind", blind), ("12, with prices", told)):
    error = np.linalg.norm(guess - spectrum) / np.linalg.norm(spectrum)
    print(f"{name}: relative error {error:.1e}")

with style():
    figure, axes = plt.subplots(
        2, 2, figsize=(8, 6), layout="constrained", sharex=True, sharey=True
    )
    panels = {
        "plain transform of 40 samples": n / 40 * (A.conj().T @ b),
        "40 samples, least l1 norm": found,
        "12 samples, least l1 norm": blind,
        "12 samples, with prices": told,
    }
    for ax, (title, guess) in zip(axes.ravel(), panels.items(), strict=True):
        ax.plot(tones, np.abs(spectrum[tones]), "o", mfc="none", ms=9, label="truth")
        ax.vlines(np.arange(n), 0, np.abs(guess), label="found")
        ax.set(title=title, xlabel="frequency", ylabel="modulus")
    axes[0, 1].legend(loc="upper left")
