"""A small piece of work for every kind of compiled loop: what ``isthmus warmup`` runs.

Between them the entries of :data:`FIRST_CALLS` compile every loop of the library for the types that
it meets in practice. Families are imported when an entry runs, so that its cost is its own.
"""

# Each enters its work when it is imported.
from isthmus.cli.first_calls import codes, manifolds, regression, sequences  # noqa: F401
from isthmus.cli.first_calls.registry import FIRST_CALLS as FIRST_CALLS
