from isthmus.dependence.approximation import Nystroem as Nystroem
from isthmus.dependence.approximation import RandomFourier as RandomFourier
from isthmus.dependence.constrained_covariance import coco as coco
from isthmus.dependence.distances import distance_correlation as distance_correlation
from isthmus.dependence.distances import distance_covariance as distance_covariance
from isthmus.dependence.distances import (
    partial_distance_correlation as partial_distance_correlation,
)
from isthmus.dependence.hilbert_schmidt import cka as cka
from isthmus.dependence.hilbert_schmidt import hsic as hsic
from isthmus.dependence.matrix import dependence_matrix as dependence_matrix
from isthmus.dependence.mean_discrepancy import mmd as mmd
from isthmus.dependence.partial import partial_distance_covariance as partial_distance_covariance
from isthmus.dependence.partial import partial_independence_test as partial_independence_test
from isthmus.dependence.testing import DependenceTest as DependenceTest
from isthmus.dependence.testing import independence_test as independence_test
from isthmus.dependence.testing import two_sample_test as two_sample_test
