"""E-09: sequences on the line between two sequences."""

from itertools import pairwise

import numpy as np
from scipy.spatial.distance import cdist

from isthmus.features import KernelPCA
from isthmus.kernels import MarginalizedSequence
from isthmus.optimize import Categorical, CrossEntropySearch, cross_entropy
from isthmus.plotting import curves
from isthmus.preimage import CandidatePreimage, SequencePreimage
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

LETTERS = "abcde"
N_COMPONENTS, STOP = 10, 1 / 25
SETTINGS = ((5, 5), (20, 5), (20, 20), (200, 20))
REFINED = "(200, 20) and local search"
# Settings of the search, and whether what the document does not have follows it.
SOLVERS = {str(s): (s, False) for s in SETTINGS} | {REFINED: (SETTINGS[-1], True)}


@experiment(
    "E-09",
    document="[000] 3.5, figures 3.7 to 3.10",
    title="Interpolating sequences: cross-entropy pre-images against the nearest neighbour",
    published=(
        "250 sequences of 20 to 30 letters from each of two random five-state automata, "
        "marginalised kernel with stop probability 1/l, ten components (90 % of the variance). "
        "Pre-images of points between two sequences, with (samples, void iterations) of (5, 5), "
        "(20, 5), (20, 20) and (200, 20): the distance falls with both numbers and is below that "
        "of the nearest neighbour where data are sparse, near the mean. Pictures only."
    ),
    covers=[
        Covers("000 figure 3.8"),
        Covers("000 figure 3.9", way="claim"),
        Covers("000 figure 3.10", way="claim"),
    ],
    in_short=(
        "other automata: those of the document are only drawn; the search narrows less than the "
        "row asks"
    ),
    quick={"n_each": 60, "n_draws": 1, "n_points": 5},
    full={"n_each": 250, "n_draws": 10, "n_points": 11},
)
def interpolation(settings, seed, progress):
    ratios = {name: [] for name in SOLVERS}
    variances, apart, shown, course = [], [], None, None
    shares = np.linspace(0, 1, settings["n_points"])
    inside = shares[1:-1]  # at the ends the nearest neighbour is the sequence itself
    middle_ones = np.abs(inside - 0.5) < 0.21
    for draw in range(settings["n_draws"]):
        rng = np.random.default_rng([seed, draw])
        automata = [_automaton(rng) for _ in range(2)]
        words = [_walk(a, rng) for a in automata for _ in range(settings["n_each"])]
        features = KernelPCA(N_COMPONENTS, kernel=MarginalizedSequence(STOP)).fit(words)
        variances.append(features.explained_variance_ratio_.sum())
        apart.append(_separation(features.transform(words)[:, :2], settings["n_each"]))
        if draw == 0:
            course = _narrowing(words, features, seed)
        ends = features.transform([words[0], words[-1]])
        line = (1 - shares[:, None]) * ends[0] + shares[:, None] * ends[1]
        nearest = CandidatePreimage().fit(words, features)
        least = np.sqrt(nearest.objective(line, nearest.solve(line)))
        for i, name in enumerate(ratios):
            progress((draw + i / len(ratios)) / settings["n_draws"], f"draw {draw + 1}, {name}")
            found, distance = _found(name, words, features, line, draw)
            ratios[name].append(distance[1:-1] / least[1:-1])
            if draw == 0:
                shown = found
    middle = {name: float(np.mean(np.array(r)[:, middle_ones])) for name, r in ratios.items()}
    published = [middle[str(s)] for s in SETTINGS]
    falls = all(b < a for a, b in pairwise(published))
    near_ends = float(np.mean(np.array(ratios[str(SETTINGS[-1])])[:, [0, -1]]))
    rows = [
        Row(
            "variance in ten components",
            "90 %",
            f"{np.mean(variances):.0%} (draws {min(variances):.0%} to {max(variances):.0%})",
            "other automata: those of the document are only drawn in a figure",
            bool(abs(np.mean(variances) - 0.9) <= 0.18),
        ),
        Row(
            "sequences told apart by their automaton in the first two components",
            "two clouds (picture)",
            f"{np.mean(apart):.0%} (draws {min(apart):.0%} to {max(apart):.0%})",
            "in most draws" if np.mean(apart) > 0.75 else "hardly",
            bool(np.mean(apart) > 0.75),
        ),
        _narrowing_row(course),
        *(
            Row(
                f"{name}, t in [0.3, 0.7]: distance over that of the nearest neighbour",
                "below 1 where data are sparse",
                value,
                "below the nearest neighbour" if value < 1 else "not below",
                value < 1,
            )
            for name, value in middle.items()
            if name != REFINED
        ),
        Row(
            "more samples and more void iterations",
            "help",
            " > ".join(f"{v:.2f}" for v in published),
            "each step helps" if falls else "not at every step",
            falls,
        ),
        Row(
            f"{SETTINGS[-1]}, t = {inside[0]:g} and {inside[-1]:g}, next to a training sequence",
            "at or above 1",
            near_ends,
            "at or above 1" if near_ends >= 1 else "below 1 even there",
            near_ends >= 1,
        ),
        Row(
            f"{REFINED}, t in [0.3, 0.7]",
            None,
            middle[REFINED],
            "ours: exchange, move, replace, insert, delete letters while that helps",
        ),
    ]
    mean = {name: (inside, np.mean(r, axis=0)) for name, r in ratios.items()}
    return Outcome(
        rows,
        [
            Picture(
                "ratios",
                "Distance to the point on the line over that of the nearest training sequence, "
                "mean of all draws; below 1 the pre-image is nearer.",
                lambda: curves(
                    {"": mean},
                    xlabel="share of the second sequence",
                    ylabel="relative distance",
                    marker="o",
                ),
            )
        ],
        [
            "The distance is that of coordinates, as in the document, and the search starts with "
            "equal chances. What it finds is not compared with training sequences, which the "
            "default of the library does.",
            "Stop probability 1/25 for all sequences; the document has one over their length.",
            "Between the first two sequences: " + " ".join(shown),
        ],
    )


def _separation(Z, n_each):
    """Share of sequences nearer to the mean of their own automaton than to the other's."""
    labels = np.repeat([0, 1], n_each)
    means = np.array([Z[labels == k].mean(axis=0) for k in (0, 1)])
    return float(np.mean(cdist(Z, means).argmin(axis=1) == labels))


def _narrowing(words, features, seed):
    """Mean uncertainty of a letter, in bits, and the best cost, iteration by iteration.

    The general search over words of 20 letters, each letter drawn by itself, towards a point
    half-way between two sequences.
    """
    target = features.transform([words[0], words[-1]]).mean(axis=0)
    letters = np.array(list(LETTERS))

    def cost(draws):
        found = features.transform(["".join(letters[row]) for row in draws])
        return np.linalg.norm(found - target, axis=1)

    family = _Watched(Categorical(len(LETTERS)))
    start = np.full((20, len(LETTERS)), 1 / len(LETTERS))
    search = CrossEntropySearch(200, patience=20, max_iter=100)
    found = cross_entropy(cost, family, start, search, np.random.default_rng(seed))
    return family.bits, found.levels


class _Watched:
    """A family that notes how uncertain its draws are."""

    def __init__(self, family):
        self.family, self.bits = family, []

    def sample(self, v, n, rng):
        self.bits.append(float(-np.sum(v * np.log2(np.maximum(v, 1e-12)), axis=1).mean()))
        return self.family.sample(v, n, rng)

    def fit(self, elite):
        return self.family.fit(elite)

    def restrict(self, v, floor):
        return self.family.restrict(v, floor)

    def shrink(self, v, amount):
        return self.family.shrink(v, amount)


def _narrowing_row(course):
    bits, levels = course
    narrows = bool(bits[-1] < 0.5 * bits[0] and levels[-1] < levels[0])
    return Row(
        "uncertainty of a letter along the search, in bits, and the worst cost of the elite",
        "the distribution is refined step by step (picture)",
        f"{bits[0]:.2f} to {bits[-1]:.2f} in {len(bits)} iterations; {levels[0]:.3f} to "
        f"{levels[-1]:.3f}",
        "it narrows to less than half"
        if narrows
        else f"it narrows to {bits[-1] / bits[0]:.0%} only, where half is asked",
        narrows,
    )


def _automaton(rng):
    """Start and transition probabilities of five states; two transitions of each are removed."""
    T = rng.random((5, 5))
    for row in T:
        row[rng.permutation(5)[:2]] = 0
    return rng.dirichlet(np.ones(5)), T / T.sum(axis=1, keepdims=True)


def _walk(automaton, rng):
    start, T = automaton
    state = rng.choice(5, p=start)
    word = [state]
    for _ in range(rng.integers(20, 31) - 1):
        state = rng.choice(5, p=T[state])
        word.append(state)
    return "".join(LETTERS[i] for i in word)


def _found(name, words, features, line, seed):
    """Pre-images of the points of the line, and their distances."""
    (n_samples, patience), ours = SOLVERS[name]
    solver = SequencePreimage(
        n_samples=n_samples,
        patience=patience,
        init="uniform",
        refine=ours,
        fallback=ours,
        random_state=seed,
    ).fit(words, features)
    found = solver.solve(line)
    return found, np.sqrt(solver.objective(line, found))
