"""t = Γ ∘ T ∘ φ in one estimator."""

from isthmus.structured._dependency import DependencyEstimator

__all__ = ["DependencyEstimator"]
