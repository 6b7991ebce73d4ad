"""How K-SVD improves and replaces atoms, as a piece."""

from dataclasses import dataclass
from typing import Any, ClassVar

from isthmus._checks import check_choice, refusal
from isthmus._parameters import Constraint, check_parameters, choice, integer, real
from isthmus._piece import Piece


@dataclass(kw_only=True)
class AtomUpdate(Piece):
    r"""How :class:`KSVD` improves an atom, and when it replaces one.

    Parameters
    ----------
    method : {"power", "exact"}, default="power"
        Improve an atom by power steps, or by a singular value decomposition.
    n_power : int, default=3
        Number of power steps of an atom in a sweep; 1 is the approximate K-SVD of
        [Rubinstein2008]_.
    min_usage : int, default=4
        Atoms used by fewer signals are replaced by the signals represented worst, up to the last
        sweep; 0 replaces none. Less is asked where there are few signals.
    max_coherence : float, default=0.99
        Of two atoms with a larger :math:`|\langle d_i,d_j\rangle|` one is replaced.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import KSVD, AtomUpdate
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> published = AtomUpdate(n_power=1, min_usage=0)
    >>> KSVD(8, n_nonzero=2, update=published, random_state=0).fit(X).components_.shape
    (8, 5)
    """

    __module__ = "isthmus.sparse"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "method": choice("power", "exact"),
        "n_power": integer(1),
        "min_usage": integer(0),
        "max_coherence": real(0, 1),
    }

    method: str = "power"
    n_power: int = 3
    min_usage: int = 4
    max_coherence: float = 0.99

    def check(self) -> None:
        """Refuse what cannot be used, by name."""
        check_parameters(self)


def as_atom_update(update: Any, owner: Any) -> AtomUpdate:
    """What the parameter ``update`` of ``owner`` stands for, checked."""
    if isinstance(update, str):
        return AtomUpdate(method=check_choice(update, "update", owner, ("power", "exact")))
    if not isinstance(update, AtomUpdate):
        raise TypeError(refusal(owner, "update", "'power', 'exact' or an AtomUpdate", update))
    update.check()
    return update
