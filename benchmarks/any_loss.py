"""``python -m benchmarks.any_loss``: every loss by its own decoding, against tuned classifiers.

Ours is ``DependencyEstimator(loss=...)`` with untouched defaults, once for each loss. The others
are tuned on a quarter of the training rows (one setting each, and a common threshold of the labels
for each loss), then fitted on all of them. Folds are the same for all; differences are judged by
the corrected paired t-test of Nadeau and Bengio.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, hamming_loss
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from isthmus.structured import DependencyClassifier, DependencyEstimator

DATA = Path(os.environ.get("ISTHMUS_DATA", "data"))
RESULTS = Path(__file__).parent / "results" / "any_loss.md"
LABEL_SETS = ("emotions", "scene", "yeast", "cal500")
THRESHOLDS = np.linspace(0.05, 0.7, 27)


class LogisticOrConstant(LogisticRegression):
    """Logistic regression that also takes a label which never varies, as one in a chain may."""

    def fit(self, X, y, **more):
        self.constant_ = float(y[0]) if len(np.unique(y)) == 1 else None
        if self.constant_ is None:
            return super().fit(X, y, **more)
        self.classes_ = np.array([0.0, 1.0])
        return self

    def predict(self, X):
        return np.full(len(X), self.constant_) if self.constant_ is not None else super().predict(X)

    def predict_proba(self, X):
        if self.constant_ is None:
            return super().predict_proba(X)
        return np.tile([1 - self.constant_, self.constant_], (len(X), 1))


def _logistic(c):
    return LogisticOrConstant(C=c, max_iter=300)


PEERS = {
    "one-vs-rest": [lambda c=c: OneVsRestClassifier(_logistic(c)) for c in (0.03, 1.0)],
    "chain": [lambda c=c: ClassifierChain(_logistic(c), random_state=0) for c in (0.03, 1.0)],
    "forest": [
        lambda k=k: RandomForestClassifier(100, min_samples_leaf=k, random_state=0) for k in (1, 3)
    ],
    "MLP": [lambda a=a: MLPClassifier((100,), alpha=a, random_state=0) for a in (1e-2, 1.0)],
    "k-NN": [lambda k=k: KNeighborsClassifier(k) for k in (5, 10, 20)],
}
# Higher is better; the name of our loss for each measure.
SET_MEASURES = {
    "F1": ("f1", lambda Y, P: f1_score(Y, P, average="samples", zero_division=1.0)),
    "Hamming": ("hamming", lambda Y, P: 1 - hamming_loss(Y, P)),
    "subset": ("zero_one", accuracy_score),
}


def label_set(name):
    """Inputs and label table of one of the four sets."""
    with np.load(DATA / "multilabel" / f"{name}.npz") as data:
        return data["X"].astype(float), data["Y"].astype(int)


def class_sets():
    """Six sets of classes: name, inputs, labels."""
    for name, load in (
        ("wine", load_wine),
        ("breast_cancer", load_breast_cancer),
        ("digits", load_digits),
    ):
        X, y = load(return_X_y=True)
        yield name, X, y
    for name in ("german", "thyroid", "image"):
        with np.load(DATA / "ida" / f"{name}.npz") as data:
            yield name, data["X"].astype(float), data["y"]


def label_probabilities(model, X):
    """Probabilities (n, n_labels), in the one form that all peers can be brought to."""
    found = model.predict_proba(X)
    if isinstance(found, list):  # one table for each label, of one column where it never varies
        columns = [p[:, 1] if p.shape[1] == 2 else 1.0 - p[:, 0] for p in found]
        return np.column_stack(columns)
    return np.asarray(found)


def tuned(builders, X, Y):
    """For each measure the best setting and threshold on a quarter of the rows, then refitted."""
    X_fit, X_val, Y_fit, Y_val = train_test_split(X, Y, test_size=0.25, random_state=0)
    scores = {}
    for i, build in enumerate(builders):
        P = label_probabilities(make_pipeline(StandardScaler(), build()).fit(X_fit, Y_fit), X_val)
        for measure, (_, score) in SET_MEASURES.items():
            for threshold in THRESHOLDS:
                found = score(Y_val, (threshold < P).astype(int))
                scores.setdefault(measure, []).append((found, -i, threshold))
    choices = {measure: max(found) for measure, found in scores.items()}
    fitted = {}
    for _, minus, _ in choices.values():
        if -minus not in fitted:
            fitted[-minus] = make_pipeline(StandardScaler(), builders[-minus]()).fit(X, Y)
    return {m: (fitted[-minus], threshold) for m, (_, minus, threshold) in choices.items()}


def peer_scores(builders, X, Y, X_new, Y_new):
    """Measures of a tuned peer on new rows."""
    found = {}
    for measure, (model, threshold) in tuned(builders, X, Y).items():
        P = label_probabilities(model, X_new) > threshold
        found[measure] = SET_MEASURES[measure][1](Y_new, P.astype(int))
    return found


def our_scores(X, Y, X_new, Y_new):
    """Measures of ours, one model for each loss."""
    return {
        measure: score(Y_new, DependencyEstimator(loss=loss).fit(X, Y).predict(X_new))
        for measure, (loss, score) in SET_MEASURES.items()
    }


def iokr_scores(X, Y, X_new, Y_new):
    """IOKR as its authors' code computes it: penalty and widths by the validation rows."""
    from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

    from benchmarks._structured_predictions import iokr_module

    scaler = StandardScaler().fit(X)
    X, X_new = scaler.transform(X), scaler.transform(X_new)
    gamma = 0.5 / np.median(euclidean_distances(X[:500])) ** 2
    Y = Y.astype(float)

    def predicted(A, B, new, penalty, width):
        model = iokr_module("model").IOKR()
        model.fit(A, B, L=penalty, input_kernel=lambda a, b: rbf_kernel(a, b, gamma=width * gamma))
        out = 1 / (2 * B.sum(axis=1).mean())
        return model.predict(new, B, output_kernel=lambda a, b: rbf_kernel(a, b, gamma=out)) > 0.5

    parts = train_test_split(X, Y, test_size=0.25, random_state=0)
    settings = [(p, w) for p in (1e-4, 1e-3, 1e-2) for w in (1.0, 4.0)]
    guesses = [predicted(parts[0], parts[2], parts[1], *s).astype(int) for s in settings]
    found = {}
    for measure, (_, score) in SET_MEASURES.items():
        best = int(np.argmax([score(parts[3].astype(int), guess) for guess in guesses]))
        found[measure] = score(Y_new, predicted(X, Y, X_new, *settings[best]).astype(int))
    return found


def run_label_set(name, n_folds, n_rows):
    """Scores (who, measure) of every fold, and CPU seconds."""
    X, Y = label_set(name)
    X, Y = X[:n_rows], Y[:n_rows]
    scores, seconds = {}, {}
    contestants = {"ours": our_scores}
    for who, builders in PEERS.items():
        contestants[who] = lambda *data, b=builders: peer_scores(b, *data)
    contestants["IOKR"] = iokr_scores
    for train, test in KFold(n_folds, shuffle=True, random_state=0).split(X):
        for who, judge in contestants.items():
            start = time.process_time()
            found = judge(X[train], Y[train], X[test], Y[test])
            seconds.setdefault(who, []).append(time.process_time() - start)
            for measure, value in found.items():
                scores.setdefault((who, measure), []).append(value)
    return scores, seconds


def run_classes(X, y, n_folds):
    """The same for classes, by their accuracy; peers choose their setting on validation rows."""
    scores, seconds = {}, {}
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y):
        start = time.process_time()
        guess = DependencyClassifier().fit(X[train], y[train]).predict(X[test])
        seconds.setdefault("ours", []).append(time.process_time() - start)
        scores.setdefault(("ours", "accuracy"), []).append(accuracy_score(y[test], guess))
        for who, builders in PEERS.items():
            if who == "chain":
                continue
            start = time.process_time()
            parts = train_test_split(
                X[train], y[train], test_size=0.25, random_state=0, stratify=y[train]
            )
            models = [make_pipeline(StandardScaler(), build()) for build in builders]
            best = max(models, key=lambda m: m.fit(parts[0], parts[2]).score(parts[1], parts[3]))
            value = best.fit(X[train], y[train]).score(X[test], y[test])
            seconds.setdefault(who, []).append(time.process_time() - start)
            scores.setdefault((who, "accuracy"), []).append(value)
    return scores, seconds


def corrected_p(a, b):
    """Two-sided p-value of the corrected paired t-test over k folds of cross-validation."""
    d = np.asarray(a) - np.asarray(b)
    k, variance = len(d), float(np.var(d, ddof=1))
    if variance == 0:
        return 1.0 if d.mean() == 0 else 0.0
    t = d.mean() / np.sqrt(variance * (1 / k + 1 / (k - 1)))
    return float(2 * stats.t.sf(abs(t), k - 1))


def page(results, options):
    """The page, from scores by set."""
    rows = "" if options.rows is None else f" --rows {options.rows}"
    lines = [
        "# Any loss: ours against tuned classifiers",
        "",
        f"Written by `python -m benchmarks.any_loss --folds {options.folds}{rows}`; "
        f"{options.folds} folds, the same for all, one thread. "
        "Higher is better: sample F1, one minus the Hamming loss, subset "
        "accuracy; accuracy for classes. Ours: `DependencyEstimator(loss=...)`, and "
        "`DependencyClassifier()` for classes, with untouched defaults, one model for each loss; "
        "the others with a setting and a threshold chosen on a quarter of the training rows. "
        "A star: significantly worse than ours, a dagger: significantly better (corrected paired "
        "t-test over the folds, 5 %). Seconds of CPU for one fold, tuning included, all losses "
        "together.",
        "",
    ]
    ranks = {}
    measures = sorted({m for scores, _ in results.values() for _, m in scores})
    for measure in measures:
        whose = [n for n, (scores, _) in results.items() if ("ours", measure) in scores]
        people = [w for w, m in results[whose[0]][0] if m == measure]
        lines += [f"## {measure}", "", "| set | " + " | ".join(people) + " |"]
        lines.append("| --- |" + " ---: |" * len(people))
        for name in whose:
            scores = results[name][0]
            means = [float(np.mean(scores[who, measure])) for who in people]
            place = stats.rankdata([-round(m, 6) for m in means])
            cells = []
            for who, mean, rank in zip(people, means, place, strict=True):
                ranks.setdefault((measure, who), []).append(rank)
                p = corrected_p(scores[who, measure], scores["ours", measure])
                sign = "" if p > 0.05 else "*" if mean < means[0] else "†"
                cells.append(f"{mean:.3f}{sign}")
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        mean_ranks = [f"{np.mean(ranks[measure, who]):.2f}" for who in people]
        lines += ["| mean rank | " + " | ".join(mean_ranks) + " |", ""]
    lines += ["## Seconds", "", "| set | who: CPU seconds of a fold |", "| --- | --- |"]
    for name, (_, seconds) in results.items():
        told = ", ".join(f"{who} {np.mean(s):.1f}" for who, s in seconds.items())
        lines.append(f"| {name} | {told} |")
    return "\n".join(lines) + "\n"


def main(arguments=None):
    """Run the study; the page is written anew after every set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=None, help="at most so many rows of a set")
    parser.add_argument("--keep", type=Path, help="a file for the scores of this run")
    parser.add_argument("--join", type=Path, nargs="*", help="write the page from such files")
    parser.add_argument("--only", nargs="*", help="names of sets")
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")
    if options.join:
        RESULTS.write_text(page(_joined(options.join), options), encoding="utf-8")
        return
    results = {}
    with threadpool_limits(limits=1):
        for name in LABEL_SETS:
            if options.only is None or name in options.only:
                results[name] = run_label_set(name, options.folds, options.rows)
                _tell(results, options)
        for name, X, y in class_sets():
            if options.only is None or name in options.only:
                results[name] = run_classes(X[: options.rows], y[: options.rows], options.folds)
                _tell(results, options)


def _tell(results, options):
    print(page(results, options), flush=True)
    if options.keep is not None:
        told = {
            name: {"scores": [[*key, values] for key, values in scores.items()], "seconds": seconds}
            for name, (scores, seconds) in results.items()
        }
        options.keep.write_text(json.dumps(told), encoding="utf-8")
    elif options.only is None:
        RESULTS.write_text(page(results, options), encoding="utf-8")


def _joined(files):
    """Results of several runs, in the order of the sets."""
    found = {}
    for file in files:
        for name, told in json.loads(file.read_text(encoding="utf-8")).items():
            scores = {(who, measure): values for who, measure, values in told["scores"]}
            found[name] = scores, told["seconds"]
    return found


if __name__ == "__main__":
    main()
