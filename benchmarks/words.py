"""Words to phonemes: ``python -m benchmarks.words [n_train]``; 1000 words are left for the test.

The phoneme error is the sum of edit distances over the sum of true lengths. Kernels and penalties
are chosen on training words alone.
"""

import csv
import os
import sys
import time
from pathlib import Path

from isthmus.kernels import NGrams, Normalized
from isthmus.losses import EditDistance
from isthmus.regression import KernelRidgeCV
from isthmus.series import edit_matrix
from isthmus.structured import DependencyEstimator

DATA = Path(os.environ.get("ISTHMUS_DATA", "data"))


def load():
    """Words, and their phonemes as lists."""
    with open(DATA / "pronunciations" / "pronunciations.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row["word"] for row in rows], [row["phonemes"].split() for row in rows]


def phoneme_error(answers, truths):
    """Edits per true phoneme."""
    return EditDistance().paired(answers, truths).sum() / sum(map(len, truths))


def exact_ridge(loss):
    """Kernel ridge regression on all words."""
    machine = KernelRidgeCV(Normalized(NGrams(3)), alpha=0.1)
    return DependencyEstimator(regressor=machine, loss=loss)


def main(n_train=4000):
    """Print the table."""
    words, phonemes = load()
    X, Y, new, truth = words[:n_train], phonemes[:n_train], words[4000:], phonemes[4000:]
    print("| method | phoneme error | fit, CPU s | CPU s per word, fit included |")
    print("|---|---|---|---|")
    started = time.process_time()
    nearest = [Y[i] for i in edit_matrix(new, X).argmin(axis=1)]
    spent = time.process_time() - started
    print(f"| nearest word | {phoneme_error(nearest, truth):.3f} | | {spent / len(new):.3f} |")
    models = {
        "loss='edit', as it comes": DependencyEstimator(loss="edit"),
        "NGrams(3), all words, candidates alone": exact_ridge(EditDistance(search=False)),
        "NGrams(3), all words": exact_ridge("edit"),
        "NGrams(3), all words, prior 0.01": exact_ridge(EditDistance(prior=0.01)),
    }
    for name, model in models.items():
        started = time.process_time()
        model.fit(X, Y)
        fitted = time.process_time() - started
        error = phoneme_error(model.predict(new), truth)
        each = (time.process_time() - started) / len(new)
        print(f"| {name} | {error:.3f} | {fitted:.1f} | {each:.3f} |", flush=True)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
