"""Making kernel expansions cheap: few points that do the work of many."""

from isthmus.reduction._compress import compress
from isthmus.reduction._expansion import ReducedExpansion, reduce_expansion
from isthmus.reduction._pursuit import backfit, pursue

__all__ = ["ReducedExpansion", "backfit", "compress", "pursue", "reduce_expansion"]
