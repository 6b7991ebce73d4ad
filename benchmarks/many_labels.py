"""Many rows and labels: ``python -m benchmarks.many_labels [decoding | tags | rows] [n_rows]``.

``decoding``: the exact search for F1 among 1000 labels. ``tags``: sparse binary inputs with 160
labels, naming the loss against Gaussian outputs with candidates. ``rows``: 10^5 rows of sparse
inputs with 1000 labels. All data are drawn from topics: every topic has words and labels of its
own, and a row has a few topics.
"""

import sys
import time

import numpy as np
from scipy import sparse
from sklearn.metrics import f1_score

from isthmus.losses import F1
from isthmus.preimage import CandidatePreimage
from isthmus.structured import DependencyEstimator


def topics(n, n_words, n_labels, *, n_topics=60, seed=0):
    """Sparse rows of words, and sparse label sets."""
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(n_words, 0.05), size=n_topics)
    labels = rng.dirichlet(np.full(n_labels, 0.03), size=n_topics)
    X = sparse.lil_array((n, n_words), dtype=np.float64)
    Y = sparse.lil_array((n, n_labels), dtype=np.int64)
    for i in range(n):
        own = rng.choice(n_topics, size=rng.integers(1, 3), replace=False)
        X[i, np.unique(rng.choice(n_words, size=25, p=words[own].mean(axis=0)))] = 1.0
        Y[
            i, np.unique(rng.choice(n_labels, size=rng.integers(1, 6), p=labels[own].mean(axis=0)))
        ] = 1
    return sparse.csr_array(X), sparse.csr_array(Y)


def decoding():
    """Milliseconds per row of the exact search for F1, for weights of several kinds."""
    rng = np.random.default_rng(0)
    n, m, n_new = 5000, 1000, 200
    shares = 1 / np.arange(1, m + 1) ** 0.7
    print("| labels per row | weights | ms per row |")
    print("|---|---|---|")
    for size in (3, 25):
        rates = np.minimum(size * shares / shares.sum() * np.exp(0.5 * rng.normal(size=(n, 1))), 1)
        Y = (rng.random((n, m)) < rates).astype(int)
        prepared = F1().prepare(Y)
        flat = 1 + 0.1 * rng.random((n_new, n))
        kinds = {
            "flat": flat,
            "peaked": rng.random((n_new, n)) ** 40,
            "both signs": flat + 3 * rng.normal(size=flat.shape),
        }
        for name, W in kinds.items():
            values = np.asarray((W / W.sum(axis=1, keepdims=True)) @ prepared.columns)
            F1().decode_columns(values[:2], prepared)
            started = time.process_time()
            F1().decode_columns(values, prepared)
            spent = 1e3 * (time.process_time() - started) / n_new
            print(f"| {size} | {name} | {spent:.2f} |", flush=True)


def sample_f1(Y, P):
    return f1_score(
        Y.toarray(), sparse.csr_array(P).toarray(), average="samples", zero_division=1.0
    )


def tags():
    """Naming the loss, and Gaussian outputs with candidates, on sparse binary inputs."""
    X, Y = topics(6000, 2000, 160)
    dense = Y.toarray().astype(float)
    train, test = slice(0, 5000), slice(5000, 6000)
    print("| model | sample F1 | CPU s |")
    print("|---|---|---|")
    models = {
        "loss='f1', sparse inputs": (DependencyEstimator(loss="f1"), X, Y),
        "loss='hamming', sparse inputs": (DependencyEstimator(loss="hamming"), X, Y),
        "Gaussian outputs, candidates": (
            DependencyEstimator(y_features="gaussian", preimage=CandidatePreimage()),
            X.toarray(),
            dense,
        ),
    }
    for name, (model, A, B) in models.items():
        started = time.process_time()
        answers = model.fit(A[train], B[train]).predict(A[test])
        spent = time.process_time() - started
        print(f"| {name} | {sample_f1(Y[test], answers):.3f} | {spent:.1f} |", flush=True)


def rows(n=100_000):
    """Fit and predict many rows with 1000 labels."""
    X, Y = topics(n + 2000, 2000, 1000, n_topics=200)
    model = DependencyEstimator(loss="f1")
    started = time.process_time()
    model.fit(X[:n], Y[:n])
    fitted = time.process_time() - started
    answers = model.predict(X[n:])
    each = 1e3 * (time.process_time() - started - fitted) / 2000
    print("| rows | labels | fit, CPU s | ms per new row | sample F1 |")
    print("|---|---|---|---|---|")
    print(f"| {n} | 1000 | {fitted:.0f} | {each:.1f} | {sample_f1(Y[n:], answers):.3f} |")


if __name__ == "__main__":
    parts = {"decoding": decoding, "tags": tags, "rows": rows}
    chosen = [part for part in sys.argv[1:] if part in parts] or list(parts)
    numbers = [int(part) for part in sys.argv[1:] if part.isdigit()]
    for part in chosen:
        parts[part](*(numbers if part == "rows" else ()))
