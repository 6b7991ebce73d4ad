from isthmus.regression.gaussian_process.approximation import Committee as Committee
from isthmus.regression.gaussian_process.approximation import Inducing as Inducing
from isthmus.regression.gaussian_process.bounds import ParameterBounds as ParameterBounds
from isthmus.regression.gaussian_process.classifier import (
    GaussianProcessClassifier as GaussianProcessClassifier,
)
from isthmus.regression.gaussian_process.estimator import GaussianProcess as GaussianProcess
from isthmus.regression.local.estimator import (
    LocalPolynomialRegression as LocalPolynomialRegression,
)
from isthmus.regression.rank.bayesian.estimator import (
    BayesianStiefelRegression as BayesianStiefelRegression,
)
from isthmus.regression.rank.comparison import compare_ranks as compare_ranks
from isthmus.regression.rank.reduced_rank import ReducedRankRegression as ReducedRankRegression
from isthmus.regression.rank.sequential import (
    SequentialStiefelRegression as SequentialStiefelRegression,
)
from isthmus.regression.rank.stiefel.estimator import StiefelRegression as StiefelRegression
from isthmus.regression.ridge.bayesian import BayesianLinearRegression as BayesianLinearRegression
from isthmus.regression.ridge.estimator import KernelRidgeCV as KernelRidgeCV
from isthmus.regression.ridge.shrinkage import james_stein as james_stein
from isthmus.regression.selection import Selection as Selection
from isthmus.regression.support_features.estimator import (
    SupportFeatureMachine as SupportFeatureMachine,
)
