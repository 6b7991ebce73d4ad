"""Series, words and graphs."""

import numpy as np

from isthmus.cli.first_calls.registry import first_call

WORDS = ("stone", "tones", "notes", "onset", "seton", "tens", "nest", "sent", "ten", "toe")


def _series(rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.normal(size=(length, 2)) for length in (9, 12, 15)]


@first_call("global alignment kernel")
def _global_alignment(rng):
    from isthmus.kernels.series.alignment import GlobalAlignment

    return GlobalAlignment(gamma=0.5)(_series(rng))


@first_call("time warping distance")
def _warping(rng):
    from isthmus.series.warping import dtw, dtw_path

    series = _series(rng)
    dtw(series[0], series[1])
    return dtw_path(series[0], series[1])


@first_call("time warping matrix")
def _warping_matrix(rng):
    from isthmus.series.warping import dtw_matrix

    series = _series(rng)
    dtw_matrix(series, step="symmetric2")
    return dtw_matrix(series)


@first_call("average of series")
def _average(rng):
    from isthmus.series.averages import barycenter

    return barycenter(_series(rng))


@first_call("nearest series")
def _nearest_series(rng):
    from isthmus.series.bands import SakoeChiba
    from isthmus.series.nearest import nearest_series

    X = list(rng.normal(size=(6, 12, 1)))
    return nearest_series(X, X, n_neighbors=1, window=SakoeChiba(2))


@first_call("alignment scores")
def _alignment_scores(rng):
    from isthmus.series.alignment import alignment_matrix, edit_matrix, local_alignment_matrix

    alignment_matrix(_series(rng))
    local_alignment_matrix(WORDS[:3])
    return edit_matrix(WORDS[:3])


@first_call("hidden Markov model")
def _hidden_markov(rng):
    from isthmus.series.hidden_markov import HiddenMarkovModel

    return HiddenMarkovModel(2, random_state=0, max_iter=2).fit(_series(rng))


@first_call("elastic distances")
def _elastic(rng):
    from isthmus.series.elastic import elastic_matrix

    series = [x[:, :1] for x in _series(rng)]
    return [elastic_matrix(series, distance=name) for name in ("lcss", "edr", "msm", "twe")]


@first_call("outputs under the edit distance")
def _edits(rng):
    from isthmus.structured.dependency import DependencyEstimator

    X = rng.normal(size=(len(WORDS), 2))
    return DependencyEstimator(loss="edit").fit(X, list(WORDS)).predict(X[:2])


@first_call("label sets under F1")
def _label_sets(rng):
    from isthmus.structured.dependency import DependencyEstimator

    X = rng.normal(size=(30, 2))
    Y = (rng.normal(size=(30, 3)) > 0).astype(int)
    return DependencyEstimator(loss="f1").fit(X, Y).predict(X[:2])


@first_call("string kernels")
def _strings(rng):
    from isthmus.kernels.sequences.strings import Spectrum, Subsequence

    Spectrum(length=2)(WORDS)
    return Subsequence(length=2, decay=0.5)(WORDS)


@first_call("marginalized sequences")
def _marginalized_sequences(rng):
    from isthmus.kernels.sequences.marginalized import MarginalizedSequence

    return MarginalizedSequence(stop=0.5)(WORDS)


@first_call("marginalized graphs")
def _marginalized_graphs(rng):
    from isthmus.kernels.graphs.marginalized import MarginalizedGraph

    return MarginalizedGraph(stop=0.5)(_graphs())


def _graphs() -> list:
    from isthmus.kernels.graphs.labelled import LabelledGraph

    chain = [(0, 1), (1, 2), (2, 3)]
    return [LabelledGraph(w, chain[: len(w) - 1]) for w in ("CCO", "CCCO", "COC", "CN", "CCN")]


@first_call("pre-images of sequences")
def _sequence_preimage(rng):
    from isthmus.features.kernel_pca.estimator import KernelPCA
    from isthmus.kernels.sequences.marginalized import MarginalizedSequence
    from isthmus.preimage.discrete.sequence import SequencePreimage

    pca = KernelPCA(kernel=MarginalizedSequence(0.3)).fit(WORDS)
    return SequencePreimage().fit(WORDS, pca).solve(pca.transform(["tone"]))


@first_call("pre-images of graphs")
def _graph_preimage(rng):
    from isthmus.features.kernel_pca.estimator import KernelPCA
    from isthmus.kernels.graphs.marginalized import MarginalizedGraph
    from isthmus.preimage.discrete.graph import GraphPreimage

    graphs = _graphs()
    pca = KernelPCA(kernel=MarginalizedGraph(0.3)).fit(graphs)
    return GraphPreimage().fit(graphs, pca).solve(pca.transform([graphs[1]]))
