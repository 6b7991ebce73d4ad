"""t = Γ ∘ T ∘ φ in one estimator."""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
