"""Look into a learned map, in the browser. Needs ``pip install "isthmus[explore]"``.

:func:`explore`, which is also ``isthmus.explore`` and ``isthmus explore`` on the command line,
opens a local page in which one walks through what a model has learned, or writes it to a file.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
