"""Look into a learned map, in the browser. Needs ``pip install "isthmus[explore]"``.

:func:`explore`, which is also ``isthmus.explore`` and ``isthmus explore`` on the command line,
opens a local page on which to walk through a learned map, or writes that page to a file.
"""

from isthmus._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
