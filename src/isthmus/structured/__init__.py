"""The whole map t = Γ ∘ T ∘ φ in one estimator: features, regression and pre-image together."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
