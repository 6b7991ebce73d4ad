"""Data: seeded generators, tasks on digits that ship with scikit-learn, real sets.

The real sets (``load_usps`` and so on) are read from the folder that the
environment variable ``ISTHMUS_DATA`` names, after their checksums are verified;
everything else needs neither files nor network.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
