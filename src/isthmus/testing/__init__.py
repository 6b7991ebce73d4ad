"""One check for every contract of :mod:`isthmus.typing`, for parts of ours and of others.

A check takes a part and a few objects, verifies what the contract says and what the part declares,
and returns a :class:`CheckReport` of the facts that hold. At the first one that does not, it raises
an error that names the part, the contract and the fact. They are for tests, as scikit-learn's
``check_estimator`` is: give them 20 to 60 objects.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
