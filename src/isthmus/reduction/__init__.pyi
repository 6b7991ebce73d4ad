from isthmus.reduction.compression import compress as compress
from isthmus.reduction.expansions import ReducedExpansion as ReducedExpansion
from isthmus.reduction.expansions import reduce_expansion as reduce_expansion
from isthmus.reduction.pursuit import backfit as backfit
from isthmus.reduction.pursuit import pursue as pursue
