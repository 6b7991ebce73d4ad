"""Pre-images that are labelled graphs."""

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
from isthmus.kernels.graphs.labelled import LabelledGraph, as_graphs
from isthmus.kernels.objects import check_list, object_array
from isthmus.kernels.points import axes_and_origin
from isthmus.optimize.elite_search import Categorical, CrossEntropySearch, cross_entropy
from isthmus.preimage.base import BasePreimage
from isthmus.preimage.discrete.base import PointDistance, common_seed, largest_remainder
from isthmus.preimage.discrete.graph_search import (
    GraphCodes,
    GraphProducts,
    Tables,
    match_start,
    neighbours,
)
from isthmus.typing import Array, IntArray, Objects


class GraphPreimage(BasePreimage):
    r"""Build a labelled graph whose image is close, from the expansion of the point [Bakir2005]_.

    The number of nodes and their labels follow from the expansion
    :math:`\Psi=\sum_ja_j\varphi(x_j)` as for :class:`SequencePreimage`. Then the cross-entropy
    method with a sparsity prior decides which pairs of nodes are joined,

    .. math:: v_{k}=\max\big(\nu,\;aF+(1-a)v_{k-1}-\tfrac\lambda2\big),

    where :math:`F` are the frequencies of edges in the elite, and a local search changes edges,
    labels and single nodes as long as that helps. The answer is never worse than the best training
    graph.

    Parameters
    ----------
    criterion : {"coord", "full"}, default="coord"
        Distance of coordinates, or of whole images.
    size : "expansion" or int, default="expansion"
        Number of nodes in the cross-entropy method.
    constraints : "training" or None, default="training"
        Rules for answers: no node has more edges than nodes of its label had in training, no edge
        joins labels that it never joined there, and if all training graphs are connected so is the
        answer. None allows every graph.
    n_samples : int or None, default=None
        Number of draws per iteration; None takes ten times the number of nodes.
    elite : float in (0, 1], default=0.05
        Share of the draws from which the next distribution is learned.
    smoothing : float in (0, 1], default=0.5
        Weight :math:`a` of the new estimate relative to the previous one.
    sparsity : float, default=0.05
        Penalty :math:`\lambda` on edges.
    floor : float or None, default=None
        Smallest probability :math:`\nu` of an edge; None is one over the squared number of nodes.
    patience : int, default=5
        Number of iterations without a better elite after which the search stops.
    refine : bool, default=True
        Whether a local search follows, from the result and from training graphs.
    n_init : int, default=1
        Number of nearest training graphs that the local search starts from.
    fallback : bool, default=True
        Whether the best training graph is the answer if the search finds nothing closer.
    random_state : int, RandomState or None, default=0
        Seed of the draws; the search is the same for every point.
    verbose : int, default=0
        1 shows a progress line on a terminal.

    See Also
    --------
    CandidatePreimage : the nearest training graph, without a search.

    Notes
    -----
    Answers are :class:`~isthmus.kernels.LabelledGraph`; ``to_networkx()`` converts them. For the
    marginalised kernel the search evaluates candidates by a tree of the most common label walks of
    the training graphs, at a cost that does not grow with their number, and compares its results by
    the kernel itself. A pre-image cannot recover what the kernel does not see: the marginalised
    one cannot tell two disjoint copies of a graph from one.

    Examples
    --------
    >>> from isthmus.features import KernelPCA
    >>> from isthmus.kernels import LabelledGraph, MarginalizedGraph
    >>> from isthmus.preimage import GraphPreimage
    >>> chain = [(0, 1), (1, 2), (2, 3)]
    >>> words = ("CCO", "CCCO", "COC", "CN", "CCN")
    >>> graphs = [LabelledGraph(w, chain[: len(w) - 1]) for w in words]
    >>> pca = KernelPCA(kernel=MarginalizedGraph(0.3)).fit(graphs)
    >>> found = GraphPreimage().fit(graphs, pca).solve(pca.transform([graphs[1]]))
    >>> found[0]
    LabelledGraph(4 nodes, 3 edges)
    """

    __module__ = "isthmus.preimage"

    needs = frozenset({"objects", "expansion"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "criterion": choice("coord", "full"),
        "size": integer(1) | choice("expansion"),
        "constraints": choice("training") | none,
        "n_samples": integer(2) | none,
        "elite": real(0, 1, include_low=False),
        "smoothing": real(0, 1, include_low=False),
        "sparsity": real(0),
        "floor": real(0, 0.5) | none,
        "patience": integer(1),
        "refine": boolean,
        "n_init": integer(1),
        "fallback": boolean,
        "random_state": seed,
        "verbose": verbosity,
    }

    def __init__(
        self,
        criterion: str = "coord",
        *,
        size: Any = "expansion",
        constraints: str | None = "training",
        n_samples: int | None = None,
        elite: float = 0.05,
        smoothing: float = 0.5,
        sparsity: float = 0.05,
        floor: float | None = None,
        patience: int = 5,
        refine: bool = True,
        n_init: int = 1,
        fallback: bool = True,
        random_state: Any = 0,
        verbose: int = 0,
    ):
        self.criterion = criterion
        self.size = size
        self.constraints = constraints
        self.n_samples = n_samples
        self.elite = elite
        self.smoothing = smoothing
        self.sparsity = sparsity
        self.floor = floor
        self.patience = patience
        self.refine = refine
        self.n_init = n_init
        self.fallback = fallback
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, objects: Objects, feature_map: Any, coordinates: Array) -> None:
        graphs = as_graphs(check_list(objects, "GraphPreimage"), "GraphPreimage")
        reference = as_graphs(feature_map.axes_.objects, "GraphPreimage")
        for position, graph in enumerate(graphs):
            loops = (graph.edges[:, 0] == graph.edges[:, 1]).any()
            if graph.directed or loops:
                raise ValueError(
                    "GraphPreimage finds undirected graphs without loops. Graph "
                    f"{position} {'is directed' if graph.directed else 'has a loop'}."
                )
        codes = GraphCodes([*graphs, *reference], constraints=self.constraints)
        both = axes_and_origin(feature_map)
        products = GraphProducts(both.kernel, reference, both.weights, codes)
        self._known, self._codes, self._products = graphs, codes, products
        self._known_products = products.exact(graphs)
        self._distance = PointDistance(feature_map, self.criterion)
        shares = [np.bincount(codes.label_codes(g), minlength=len(codes.labels)) for g in reference]
        self._reference_sizes = np.array([g.n_nodes for g in reference], dtype=float)
        self._shares = np.array(shares) / self._reference_sizes[:, None]
        if isinstance(both.kernel, Normalized):
            # The expansion is over unit vectors; the formulas are for the images themselves.
            self._shares /= np.sqrt(both.kernel.base.diag(reference))[:, None]

    def _solve(self, coordinates: Array, start: Objects = None) -> Objects:
        expansions = self.feature_map_.expand(coordinates)
        given = [None] * len(coordinates) if start is None else as_graphs(start, "GraphPreimage")
        seed = common_seed(check_random_state(self.random_state))
        found = []
        with ProgressLine("GraphPreimage", verbose=self.verbose) as line:
            for beta, a, graph in zip(coordinates, expansions, given, strict=True):
                found.append(self._search(beta, a, graph, np.random.default_rng(seed), line))
        return object_array(found)

    def _search(
        self,
        beta: Array,
        a: Array,
        given: LabelledGraph | None,
        rng: np.random.Generator,
        line: ProgressLine,
    ) -> LabelledGraph:
        known = self._distance(*self._known_products, beta)
        nearest = np.argsort(known, kind="stable")[: self.n_init]
        first = [self._known[i] for i in nearest] if given is None else [given]
        starts = [self._codes.encode(graph) for graph in first]
        ends = [self._draw(beta, a, starts[0], rng, line)]
        if self.refine:
            ends = [self._descend(tables, beta, line) for tables in [*ends, *starts]]
        allowed = [tables for tables in ends if self._codes.allowed(tables)[0]]
        finals = [self._codes.decode(labels[0], states[0]) for labels, states in allowed]
        if self.fallback or not finals:
            finals.append(self._known[nearest[0]])
        # The search may have used an approximate kernel: the true one decides.
        costs = self._distance(*self._products.exact(finals), beta)
        return finals[int(np.argmin(costs))]

    def _n_nodes(self, a: Array) -> int:
        if isinstance(self.size, Integral):
            return int(self.size)
        sizes, total = self._codes.sizes, a.sum()
        guess = a @ self._reference_sizes / total if abs(total) > 1e-6 else sizes.mean()
        return int(np.clip(np.rint(guess), sizes.min(), sizes.max()))

    def _draw(
        self, beta: Array, a: Array, start: Tables, rng: np.random.Generator, line: ProgressLine
    ) -> Tables:
        """The best graph found by the cross-entropy method."""
        from isthmus.preimage.discrete.graph_loops import repair_graphs

        codes, m = self._codes, self._n_nodes(a)
        label = np.repeat(
            np.arange(len(codes.labels)), largest_remainder(np.maximum(a @ self._shares, 0), m)
        )
        if m == 1:
            return label[None], np.zeros((1, 1, 1), dtype=np.int64)
        first, second = np.triu_indices(m, 1)

        def tables_of(Z: IntArray) -> Tables:
            states = np.zeros((len(Z), m, m), dtype=np.int64)
            states[:, first, second] = states[:, second, first] = Z
            return np.tile(label, (len(Z), 1)), states

        def cost(Z: IntArray) -> Array:
            tables = tables_of(Z)
            costs = np.full(len(Z), np.inf)
            keep = codes.allowed(tables)
            if keep.any():
                costs[keep] = self._cost((tables[0][keep], tables[1][keep]), beta)
            return costs

        def repair(Z: IntArray, v: Array) -> IntArray:
            order, likely = np.argsort(v[:, 0], kind="stable"), 1 + v[:, 1:].argmax(axis=1)
            rules = (codes.max_degree, codes.bonds, codes.connected)
            repair_graphs(Z, first, second, label, order, likely, *rules)
            return Z

        search = CrossEntropySearch(
            n_samples=10 * m if self.n_samples is None else self.n_samples,
            elite=self.elite,
            smoothing=self.smoothing,
            sparsity=self.sparsity,
            floor=1 / m**2 if self.floor is None else self.floor,
            patience=self.patience,
        )
        v = match_start(label, start, len(codes.names))
        family = Categorical(len(codes.names) + 1)
        found = cross_entropy(cost, family, v, search, rng, repair=repair, line=line)
        return tables_of(found.best[None])

    def _descend(self, tables: Tables, beta: Array, line: ProgressLine) -> Tables:
        """Steepest descent by single moves, to a graph that no move improves."""
        value = float(self._cost(tables, beta)[0])
        if not self._codes.allowed(tables)[0]:
            value = np.inf
        while True:
            moves = neighbours(tables[0][0], tables[1][0], self._codes)
            costs = [self._cost(table, beta) for table in moves]
            which = int(np.argmin([c.min() for c in costs])) if costs else 0
            if not costs or not costs[which].min() < value:
                return tables
            row = int(np.argmin(costs[which]))
            labels, states = moves[which]
            tables, value = (labels[[row]], states[[row]]), float(costs[which][row])
            line.update(local_search=value)

    def _cost(self, tables: Tables, beta: Array) -> Array:
        return self._distance(*self._products(tables, norms=self.criterion == "full"), beta)
