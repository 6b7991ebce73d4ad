"""``python -m benchmarks.any_loss``: every loss by its own decoding, against tuned classifiers.

Ours is ``DependencyEstimator(loss=...)`` with untouched defaults, once for each loss. The others
are tuned on a quarter of the training rows (one setting each, and a common threshold of the labels
for each loss), then fitted on all of them. Folds are the same for all; differences are judged by
the corrected paired t-test of Nadeau and Bengio. A run that is stopped goes on where it was.
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


def label_set_contestants():
    """Who predicts label sets: functions of training and new rows that give the measures."""
    peers = {
        who: lambda *data, b=builders: peer_scores(b, *data) for who, builders in PEERS.items()
    }
    return {"ours": our_scores, **peers, "IOKR": iokr_scores}


def our_classes(X, y, X_new, y_new):
    """The accuracy of ours on classes."""
    guess = DependencyClassifier().fit(X, y).predict(X_new)
    return {"accuracy": accuracy_score(y_new, guess)}


def peer_classes(builders, X, y, X_new, y_new):
    """The accuracy of a peer whose setting was chosen on validation rows."""
    parts = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    models = [make_pipeline(StandardScaler(), build()) for build in builders]
    best = max(models, key=lambda m: m.fit(parts[0], parts[2]).score(parts[1], parts[3]))
    return {"accuracy": best.fit(X, y).score(X_new, y_new)}


def class_contestants():
    """Who predicts classes; a chain of one label is the regression itself."""
    peers = {
        who: lambda *data, b=builders: peer_classes(b, *data)
        for who, builders in PEERS.items()
        if who != "chain"
    }
    return {"ours": our_classes, **peers}


def tasks(options):
    """Name, inputs, outputs, folds and contestants of every set, the small ones first."""
    shuffled = {"shuffle": True, "random_state": 0}
    for name, X, y in class_sets():
        X, y = X[: options.rows], y[: options.rows]
        folds = StratifiedKFold(options.folds, **shuffled).split(X, y)
        yield name, X, y, folds, class_contestants()
    for name in LABEL_SETS:
        X, Y = (part[: options.rows] for part in label_set(name))
        yield name, X, Y, KFold(options.folds, **shuffled).split(X), label_set_contestants()


def run(options, state):
    """Measures and CPU seconds of every set, fold and contestant that ``state`` does not have.

    Yields after each of them, so that a run that is stopped goes on where it was.
    """
    for name, X, y, folds, contestants in tasks(options):
        if options.only is not None and name not in options.only:
            continue
        known = state.setdefault(name, {who: {} for who in contestants})
        for fold, (train, test) in enumerate(folds):
            for who, judge in contestants.items():
                if str(fold) in known.setdefault(who, {}):
                    continue
                start = time.process_time()
                found = judge(X[train], y[train], X[test], y[test])
                known[who][str(fold)] = {
                    "measures": found,
                    "seconds": time.process_time() - start,
                }
                yield name


def collected(state, n_folds):
    """Scores (who, measure) and seconds of the sets of which every fold has been run."""
    results = {}
    for name in (*LABEL_SETS, *(name for name in state if name not in LABEL_SETS)):
        known = state.get(name)
        if known is None or any(len(folds) < n_folds for folds in known.values()):
            continue
        scores, seconds = {}, {}
        for who, folds in known.items():
            for fold in sorted(folds, key=int):
                seconds.setdefault(who, []).append(folds[fold]["seconds"])
                for measure, value in folds[fold]["measures"].items():
                    scores.setdefault((who, measure), []).append(value)
        results[name] = scores, seconds
    return results


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
    """Run the study; the page is written anew whenever a set is complete."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=None, help="at most so many rows of a set")
    parser.add_argument("--only", nargs="*", help="names of sets")
    parser.add_argument(
        "--state",
        type=Path,
        default=Path("any_loss.json"),
        help="a file that keeps every fold, so that a run that was stopped goes on",
    )
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")
    state = json.loads(options.state.read_text("utf-8")) if options.state.exists() else {}
    with threadpool_limits(limits=1):
        for name in run(options, state):
            options.state.write_text(json.dumps(state), encoding="utf-8")
            print(name, {who: len(folds) for who, folds in state[name].items()}, flush=True)
    results = collected(state, options.folds)
    if results:
        RESULTS.write_text(page(results, options), encoding="utf-8")


if __name__ == "__main__":
    main()
