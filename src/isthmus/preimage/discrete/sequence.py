"""Pre-images that are sequences."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from isthmus._parameters import (
    Constraint,
    boolean,
    choice,
    integer,
    none,
    real,
    seed,
    verbosity,
)
from isthmus._progress import ProgressLine
from isthmus.kernels.algebra.normalized import Normalized
from isthmus.kernels.objects import check_list, object_array
from isthmus.kernels.points import axes_and_origin
from isthmus.kernels.sequences.marginalized import alphabet_of, check_sequence, refuse_foreign
from isthmus.kernels.sequences.strings import ALPHABET
from isthmus.optimize.elite_search import Binomial, CrossEntropySearch, cross_entropy
from isthmus.preimage.base import BasePreimage
from isthmus.preimage.discrete.base import PointDistance, common_seed, largest_remainder
from isthmus.preimage.discrete.sequence_search import (
    Batch,
    SequenceCodes,
    SequenceProducts,
    batch_of,
    cut,
    neighbours,
    permutation_code,
    rescale_code,
)
from isthmus.regression.ridge.estimator import KernelRidgeCV
from isthmus.typing import Array, IntArray, Objects


class SequencePreimage(BasePreimage):
    r"""Build a sequence whose image is close, from the expansion of the point [Bakir2005]_.

    With :math:`\Psi=\sum_ja_j\varphi(x_j)`, lengths :math:`m_j` and counts :math:`m_{jc}` of symbol
    :math:`c`, the first step gives the length and the symbols of the answer,

    .. math:: m^*=\frac{\sum_ja_jm_j}{\sum_ja_j},\qquad
              m^*_c=m^*\sum_ja_j\frac{m_{jc}}{m_j},

    where the second formula is exact for the marginalised kernel if :math:`\Psi` is the image of a
    sequence. Then the cross-entropy method over permutation codes finds their order, and a local
    search exchanges, moves, replaces, inserts and deletes symbols as long as that helps. The answer
    is never worse than the best training sequence.

    Parameters
    ----------
    alphabet : collection of symbols or None, default=None
        The symbols that sequences are made of; None takes those of the training sequences.
    criterion : {"coord", "full"}, default="coord"
        Distance of coordinates, or of whole images.
    length : {"expansion", "regression", "search"} or int, default="expansion"
        The formula above, a regression of lengths on coordinates, every observed length, or one
        given length.
    window : int, default=0
        Maximum distance from the first guess up to which other lengths are tried too. With
        ``refine`` there is little to gain, since the local search changes the length.
    n_samples : int or None, default=None
        Number of draws per iteration; None takes ten times the length.
    elite : float in (0, 1], default=0.1
        Share of the draws from which the next distribution is learned.
    smoothing : float in (0, 1], default=0.7
        Weight of the new estimate relative to the previous one.
    patience : int, default=5
        Number of iterations without a better elite after which the search stops.
    init : {"neighbor", "uniform"}, default="neighbor"
        Where the distribution over orders starts: at the order of the nearest training sequence, or
        uniform.
    refine : bool, default=True
        Whether a local search follows, from the result and from training sequences.
    n_init : int, default=3
        Number of nearest training sequences that the local search starts from.
    fallback : bool, default=True
        Whether the best training sequence is the answer if the search finds nothing closer.
    transition : float, default=0.0
        Penalty on unusual pairs of neighbouring symbols: the mean of :math:`-\log p(b|a)` over the
        answer, with :math:`p` estimated from the training sequences, times this number times the
        mean squared length of the training coordinates.
    random_state : int, RandomState or None, default=0
        Seed of the draws; the search is the same for every point.
    verbose : int, default=0
        1 shows a progress line on a terminal.

    See Also
    --------
    CandidatePreimage : the nearest training sequence, without a search.

    Notes
    -----
    [Bakir2005]_ stops after the cross-entropy method: ``refine=False, fallback=False``. For the
    marginalised kernel, normalised or not, candidates are evaluated by a tree of all training
    substrings; other kernels work too and cost one row of the Gram matrix per candidate.

    Examples
    --------
    >>> from isthmus.features import KernelPCA
    >>> from isthmus.kernels import MarginalizedSequence
    >>> from isthmus.preimage import SequencePreimage
    >>> words = ["stone", "tones", "notes", "onset", "seton", "tens", "nest", "sent", "ten", "toe"]
    >>> pca = KernelPCA(kernel=MarginalizedSequence(0.3)).fit(words)
    >>> SequencePreimage().fit(words, pca).solve(pca.transform(["tone"]))
    array(['tone'], dtype=object)
    """

    __module__ = "isthmus.preimage"

    needs = frozenset({"objects", "expansion"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "alphabet": ALPHABET,
        "criterion": choice("coord", "full"),
        "length": integer(1) | choice("expansion", "regression", "search"),
        "window": integer(0),
        "n_samples": integer(2) | none,
        "elite": real(0, 1, include_low=False),
        "smoothing": real(0, 1, include_low=False),
        "patience": integer(1),
        "init": choice("neighbor", "uniform"),
        "refine": boolean,
        "n_init": integer(1),
        "fallback": boolean,
        "transition": real(0),
        "random_state": seed,
        "verbose": verbosity,
    }

    def __init__(
        self,
        alphabet: Any = None,
        *,
        criterion: str = "coord",
        length: Any = "expansion",
        window: int = 0,
        n_samples: int | None = None,
        elite: float = 0.1,
        smoothing: float = 0.7,
        patience: int = 5,
        init: str = "neighbor",
        refine: bool = True,
        n_init: int = 3,
        fallback: bool = True,
        transition: float = 0.0,
        random_state: Any = 0,
        verbose: int = 0,
    ):
        self.alphabet = alphabet
        self.criterion = criterion
        self.length = length
        self.window = window
        self.n_samples = n_samples
        self.elite = elite
        self.smoothing = smoothing
        self.patience = patience
        self.init = init
        self.refine = refine
        self.n_init = n_init
        self.fallback = fallback
        self.transition = transition
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, objects: Objects, feature_map: Any, coordinates: Array) -> None:
        objects = check_list(objects, "SequencePreimage")
        for position, item in enumerate(objects):
            check_sequence(item, position, "SequencePreimage")
        alphabet = alphabet_of(objects) if self.alphabet is None else tuple(self.alphabet)
        refuse_foreign(objects, set(alphabet), "SequencePreimage")
        reference = feature_map.axes_.objects
        refuse_foreign(reference, set(alphabet), "SequencePreimage")

        codes = SequenceCodes(alphabet, objects[0])
        both = axes_and_origin(feature_map)
        products = SequenceProducts(both.kernel, reference, both.weights, codes)
        known = codes.encode(objects)
        self._known, self._codes, self._products = known, codes, products
        self._distance = PointDistance(feature_map, self.criterion)
        self._known_products = products(batch_of(known))
        self._lengths = np.array([len(code) for code in known])
        self._unusual = self._transition_prices(known, coordinates)
        self._shares, self._reference_lengths = self._compositions(feature_map, reference)
        self._length_model = None
        if isinstance(self.length, str) and self.length == "regression":
            self._length_model = KernelRidgeCV().fit(coordinates, self._lengths.astype(float))

    def _transition_prices(self, known: list[IntArray], coordinates: Array) -> Array | None:
        if self.transition == 0:
            return None
        counts = np.ones((len(self._codes.alphabet),) * 2)
        for code in known:
            np.add.at(counts, (code[:-1], code[1:]), 1)
        prices = -np.log(counts / counts.sum(axis=1, keepdims=True))
        return prices * (self.transition * float(np.mean(np.sum(coordinates**2, axis=1))))

    def _compositions(self, feature_map: Any, reference: Objects) -> tuple[Array, Array]:
        """Shares of the symbols in each reference sequence, and its length."""
        n_symbols = len(self._codes.alphabet)
        codes = self._codes.encode(reference)
        shares = np.array([np.bincount(c, minlength=n_symbols) / len(c) for c in codes])
        if isinstance(feature_map.axes_.kernel, Normalized):
            # The expansion is over unit vectors; the formulas are for the images themselves.
            norms = np.sqrt(feature_map.axes_.kernel.base.diag(reference))
            shares = shares / norms[:, None]
        return shares, np.array([len(c) for c in codes], dtype=float)

    def _solve(self, coordinates: Array, start: Objects = None) -> Objects:
        expansions = self.feature_map_.expand(coordinates)
        given = [None] * len(coordinates) if start is None else self._codes.encode(start)
        seed = common_seed(check_random_state(self.random_state))
        found = []
        with ProgressLine("SequencePreimage", verbose=self.verbose) as line:
            for beta, a, code in zip(coordinates, expansions, given, strict=True):
                rng = np.random.default_rng(seed)
                found.append(self._codes.decode(self._search(beta, a, code, rng, line)))
        return object_array(found)

    def _search(
        self,
        beta: Array,
        a: Array,
        given: IntArray | None,
        rng: np.random.Generator,
        line: ProgressLine,
    ) -> IntArray:
        costs = self._costs(self._known_products, batch_of(self._known), beta)
        nearest = np.argsort(costs, kind="stable")[: self.n_init]
        best, value = self._known[nearest[0]], float(costs[nearest[0]])
        if not self.fallback:
            value = np.inf
        shares = np.maximum(a @ self._shares, 0)
        for m in self._candidate_lengths(beta, a):
            symbols = np.repeat(np.arange(len(shares)), largest_remainder(shares, m))
            like = self._known[nearest[0]] if given is None else given
            code, cost = self._order(symbols, like, beta, rng, line)
            if cost < value:
                best, value = code, cost
        if not self.refine:
            return best
        starts = [best, *((self._known[i] for i in nearest) if given is None else [given])]
        for start in {code.tobytes(): code for code in starts}.values():
            code, cost = self._descend(start, beta, line)
            if cost < value:
                best, value = code, cost
        return best

    def _candidate_lengths(self, beta: Array, a: Array) -> IntArray:
        low, high = int(self._lengths.min()), int(self._lengths.max())
        if isinstance(self.length, Integral):
            return np.array([int(self.length)])
        if self.length == "search":
            return np.unique(self._lengths)
        if self._length_model is not None:
            guess = float(self._length_model.predict(beta[None])[0])
        else:
            total = a.sum()
            mean = self._lengths.mean()
            guess = float(a @ self._reference_lengths / total) if abs(total) > 1e-6 else mean
        middle = int(np.clip(np.rint(guess), low, high))
        return np.arange(max(low, middle - self.window), min(high, middle + self.window) + 1)

    def _order(
        self,
        symbols: IntArray,
        like: IntArray,
        beta: Array,
        rng: np.random.Generator,
        line: ProgressLine,
    ) -> tuple[IntArray, float]:
        """The best order of the sorted ``symbols`` found by the cross-entropy method."""
        from isthmus.preimage.discrete.sequence_loops import decode_insertions

        m = len(symbols)
        v = np.full(m, 0.5)
        if self.init == "neighbor":
            v = rescale_code(permutation_code(like)[1], m)

        def cost(Z: IntArray) -> Array:
            return self._cost(batch_of(decode_insertions(Z, symbols)), beta)

        search = CrossEntropySearch(
            n_samples=10 * m if self.n_samples is None else self.n_samples,
            elite=self.elite,
            smoothing=self.smoothing,
            patience=self.patience,
        )
        result = cross_entropy(cost, Binomial(np.arange(m)[::-1]), v, search, rng, line=line)
        return decode_insertions(result.best[None], symbols)[0], result.value

    def _descend(self, code: IntArray, beta: Array, line: ProgressLine) -> tuple[IntArray, float]:
        """Steepest descent by single moves, to a sequence that no move improves."""
        low, high = int(self._lengths.min()), int(self._lengths.max())
        if isinstance(self.length, Integral):
            low = high = int(self.length)
        value = float(self._cost(batch_of([code]), beta)[0])
        while True:
            tables = neighbours(code, len(self._codes.alphabet), low, high)
            batches = [batch_of(table) for table in tables]
            costs = [self._cost(batch, beta) for batch in batches]
            table = int(np.argmin([c.min() for c in costs])) if costs else 0
            if not costs or not costs[table].min() < value:
                return code, value
            row = int(np.argmin(costs[table]))
            code, value = cut(batches[table], row).copy(), float(costs[table][row])
            line.update(local_search=value)

    def _cost(self, batch: Batch, beta: Array) -> Array:
        return self._costs(self._products(batch), batch, beta)

    def _costs(self, products: tuple[Array, Array], batch: Batch, beta: Array) -> Array:
        costs = self._distance(*products, beta)
        if self._unusual is None:
            return costs
        from isthmus.preimage.discrete.sequence_loops import sum_transitions

        return costs + sum_transitions(*batch, self._unusual)
