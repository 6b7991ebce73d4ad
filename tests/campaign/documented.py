"""Estimators whose answer depends on units or on the origin, with the reason.

A key is a change of units, or ``"X"`` and ``"y"`` for all changes of one side.
"""

DOCUMENTED: dict[str, dict[str, str]] = {}
