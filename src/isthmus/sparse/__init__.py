"""Few numbers for each signal: pursuits, dictionaries, and what they are good for.

Atoms are rows, like ``components_``: a signal is ``code @ dictionary``.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
