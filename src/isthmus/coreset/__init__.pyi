from isthmus.coreset.ball import MinimumEnclosingBall as MinimumEnclosingBall
from isthmus.coreset.classifier import CoreVectorClassifier as CoreVectorClassifier
from isthmus.coreset.outliers import CoreVectorOutlierDetector as CoreVectorOutlierDetector
from isthmus.coreset.ranker import CoreVectorRanker as CoreVectorRanker
from isthmus.coreset.regressor import CoreVectorRegressor as CoreVectorRegressor
from isthmus.coreset.simplex import solve_simplex as solve_simplex
from isthmus.coreset.surface import ImplicitSurface as ImplicitSurface
