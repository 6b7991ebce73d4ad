"""Model files: a fitted estimator on disk, in a format that runs no code when it is read.

It needs the extra ``app`` (``pip install "isthmus[app]"``), which has skops.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
