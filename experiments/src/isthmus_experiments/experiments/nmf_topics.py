"""NMF-topics: topics of news articles."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from isthmus.datasets import load_ap_text
from isthmus.plotting import error_bars
from isthmus.sparse import NonnegativeFactorization
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

N_WORDS = 6


@experiment(
    "NMF-topics",
    document="[002] 2.3, figure 10",
    title="Topics of articles",
    published=(
        "Enron mails: features are topics with telling words (football, California blackout, the "
        "downfall of Enron, ...) and some 3600 to 9200 mails each. The mails are not at hand: "
        "2246 articles of the Associated Press stand in, so sizes cannot be compared."
    ),
    covers=[
        Covers(
            "002 figure 10",
            way="other data",
            why="the mails are not available in this form; news stand in",
        ),
    ],
    quick={"n_topics": 8, "tol": 1e-2},
    full={"n_topics": 20, "tol": 1e-3},
    needs_data=True,
)
def topics(settings, seed, progress):
    data = load_ap_text()
    X, words = csr_array(data.X), np.asarray(data.terms)
    k = settings["n_topics"]
    tables = {
        "Euclidean, tf-idf": (csr_array(TfidfTransformer().fit_transform(X)), "euclidean"),
        "Kullback-Leibler, counts": (X, "kullback-leibler"),
    }
    present = csr_array((X > 0).astype(float))
    frequent = np.argsort(-present.sum(axis=0))[: 10 * k]
    rng = np.random.default_rng(seed)
    draws = [rng.choice(frequent, N_WORDS, replace=False) for _ in range(200)]
    chance = np.array([_association(present[:, list(d)].toarray()) for d in draws])
    rows, sizes, tops = [], {}, {}
    for i, (name, (table, divergence)) in enumerate(tables.items()):
        progress(i / 2, name)
        model = NonnegativeFactorization(
            k, divergence=divergence, tol=settings["tol"], random_state=seed
        )
        codes = model.fit_transform(table)
        tops[name] = np.argsort(-model.components_, axis=1)[:, :N_WORDS]
        bound = [_association(present[:, list(top)].toarray()) for top in tops[name]]
        sizes[name] = np.bincount(codes.argmax(axis=1), minlength=k)
        above = float(np.mean(np.array(bound) > chance.mean() + 2 * chance.std()))
        rows.append(
            Row(
                f"topics whose words go together, {name}",
                "telling words",
                f"{above:.0%}; mean association {np.mean(bound):.2f}, of frequent words drawn at "
                f"random {chance.mean():.2f} +- {chance.std():.2f}",
                "most topics hang together" if above > 0.5 else "most topics do not hang together",
                above > 0.5,
            )
        )
    name = next(iter(tables))
    rows += [
        Row(
            f"topic {j + 1}: {sizes[name][j]} articles",
            None,
            " ".join(words[tops[name][j]]),
            "for reading",
        )
        for j in np.argsort(-sizes[name])
    ]
    return Outcome(
        rows,
        [
            Picture(
                "sizes",
                "Articles whose largest coefficient is that of the topic, named by two words.",
                lambda: error_bars(
                    {
                        "articles": {
                            " ".join(words[tops[name][j]][:2]): float(sizes[name][j])
                            for j in range(k)
                        }
                    }
                ),
            )
        ],
        ["Association: mean normalised pointwise mutual information of pairs of words."],
    )


def _association(present):
    """Mean normalised pointwise mutual information of the pairs of columns of a 0-1 table."""
    n = len(present)
    both = np.maximum(present.T @ present, 0.5) / n
    single = np.diag(both)
    information = np.log(both / np.outer(single, single)) / -np.log(both)
    return float(information[np.triu_indices(len(single), 1)].mean())
